import AsyncHTTPClient
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit
import Testing

/// Pictures of people: bulk bytes that go by the logs.
@Suite("End to end: avatars", .timeLimit(.minutes(60)))
struct AvatarTests {
    /// A PNG of one pixel, made longer by so many bytes: a further chunk of pixels, which nobody here decodes.
    static func png(padding: Int = 0) throws -> [UInt8] {
        let one =
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
        let bytes = Array(try #require(Data(base64Encoded: one)))
        guard padding > 0 else { return bytes }
        return bytes.dropLast(12) + chunk("IDAT", (0..<padding - 12).map { UInt8(truncatingIfNeeded: $0 * 31) })
            + bytes.suffix(12)
    }

    /// A part of a PNG.
    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let length = UInt32(data.count)
        return withUnsafeBytes(of: length.bigEndian) { Array($0) } + Array(type.utf8) + data + [0, 0, 0, 0]
    }

    struct Picture: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let bytes: [UInt8]
    }

    private static func get(
        _ path: String, _ device: Device, _ quartet: Quartet, unless tag: String? = nil
    ) async throws -> Picture {
        var request = HTTPClientRequest(url: try quartet.url + path)
        request.headers.add(name: "authorization", value: "Bearer \(device.token)")
        if let tag { request.headers.add(name: "if-none-match", value: tag) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
        let body = try await response.body.collect(upTo: 4 << 20)
        return Picture(
            status: Int(response.status.code), headers: response.headers, bytes: Array(body.readableBytesView))
    }

    /// Sends a picture until there is a final answer.
    static func put(
        _ bytes: [UInt8], as type: String = "image/png", _ device: Device, key: String? = nil
    ) async throws -> EdgeClient.Reply {
        let key = key ?? EdgeClient.newKey()
        return try await EdgeClient.untilFinal { try await putOnce(bytes, as: type, device, key: key) }
    }

    private static func putOnce(
        _ bytes: [UInt8], as type: String = "image/png", _ device: Device, key: String
    ) async throws -> EdgeClient.Reply {
        try await device.edge.send(
            "PUT", "/v1/account/avatar", raw: bytes, token: device.token, key: key, headers: ["content-type": type])
    }

    @Test("a picture whose bytes are deleted before it is the account's is gone (R10)")
    func deletedMeanwhile() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let picture = try Self.png()
            quartet.send(.stop, to: .session)
            let key = EdgeClient.newKey()
            async let first = Self.putOnce(picture, anna, key: key)
            try await quartet.wait(
                for: "the command", "SELECT count(*) FROM session_client.session_commands WHERE type = 'SetAvatar'"
            ) { (Int($0) ?? 0) >= 1 }
            let deleted = try await quartet.edge.send(
                "DELETE", "/v1/uploads/\(File.id(of: picture))", token: anna.token)
            #expect(deleted.status == 204, "\(deleted)")
            quartet.send(.resume, to: .session)
            var refused = try await first
            if refused.status == 202 {
                // Only once it is decided, because the bytes are sent again, too.
                try await quartet.waitUntilQuiet()
                refused = try await Self.put(picture, anna, key: key)
            }
            #expect(refused.status == 404 && refused.body["code"] == "notFound", "\(refused)")
        }
    }

    @Test("a picture is uploaded, shown to contacts only, revalidated by its ETag, replaced and removed (R10, S45)")
    func story() async throws {
        try await Quartet.with { quartet in
            let (anna, bob, eve) = try await quartet.signUp("anna", "bob", "eve")
            try await anna.add(bob)
            let annaSees = try await LiveView.open(anna)
            let none = try await Self.get("/v1/account/avatar", bob, quartet)
            #expect(none.status == 404)

            // Large enough for several chunks.
            let large = try Self.png(padding: 300_000)
            let key = EdgeClient.newKey()
            let stored = try await Self.put(large, bob, key: key)
            #expect(
                stored.status == 200 && stored.body["width"] == 1 && stored.body["type"] == "image/png", "\(stored)")
            let again = try await Self.put(large, bob, key: key)
            #expect(again.status == 200 && again.body == stored.body)
            let tag = try #require(stored.headers["etag"])
            let hash = stored.body["hash"]
            try await annaSees.wait("Bob's picture on his card") {
                $0.name == "person" && $0.data["avatar"]["hash"] == hash
            }
            let card = "/v1/contacts/\(bob.account)/avatar"
            for (path, device) in [("/v1/account/avatar", bob), (card, anna)] {
                try await Self.expectShown(large, tag, at: path, to: device, quartet)
            }
            let stranger = try await Self.get(card, eve, quartet)
            #expect(stranger.status == 404)
            let small = try Self.png()
            let replaced = try await Self.put(small, bob)
            #expect(replaced.status == 200 && replaced.body["hash"] != hash)
            let reused = try await Self.put(small, bob, key: key)
            #expect(reused.status == 422 && reused.body["code"] == "idReused")
            let next = try await Self.get(card, anna, quartet, unless: tag)
            #expect(next.status == 200 && next.bytes == small)
            try await Self.expectNoLeftovers(of: bob, quartet)

            let removed = try await bob.edge.insist(method: "DELETE", "/v1/account/avatar", nil, token: bob.token)
            #expect(removed.status == 204)
            let gone = try await Self.get(card, anna, quartet)
            #expect(gone.status == 404)
            let chunks = try await quartet.psql("SELECT count(*) FROM session.avatar_chunk")
            #expect(chunks == "0")
        }
    }

    /// A picture is sent whole, with headers that keep it a picture, and not again to someone who has it.
    private static func expectShown(
        _ bytes: [UInt8], _ tag: String, at path: String, to device: Device, _ quartet: Quartet
    ) async throws {
        let picture = try await get(path, device, quartet)
        #expect(picture.status == 200 && picture.bytes == bytes)
        #expect(picture.headers.first(name: "content-type") == "image/png")
        #expect(picture.headers.first(name: "etag") == tag)
        #expect(picture.headers.first(name: "x-content-type-options") == "nosniff")
        let same = try await get(path, device, quartet, unless: "\"other\", W/\(tag)")
        #expect(same.status == 304 && same.bytes.isEmpty)
    }

    /// No log contains the bytes, a claimed upload is gone, and one that nobody claims is deleted after an hour.
    private static func expectNoLeftovers(of bob: Device, _ quartet: Quartet) async throws {
        let claimed = try await quartet.psql("SELECT count(*) FROM session_client.upload")
        #expect(claimed == "0")
        let longest = try await quartet.psql(
            "SELECT max(octet_length(body::text)) < 10000 FROM session_client.messages")
        #expect(longest == "t")
        _ = try await quartet.psql(
            """
            INSERT INTO session_client.upload (account, hash, renewed_at)
            VALUES ('\(bob.account)', sha256('left'), clock_timestamp() - interval '61 minutes');
            INSERT INTO session_client.upload_chunk (account, hash, number, bytes)
            SELECT '\(bob.account)', sha256('left'), n, 'left' FROM generate_series(0, 5) AS n
            """)
        // Its chunks, and then itself.
        for expected in ["6", "1", "0"] {
            let deleted = try await quartet.psql("SELECT session_client.delete_old_uploads(1000)")
            #expect(deleted == expected)
        }
    }

    @Test("a picture loses where and when it was taken before anyone can see it (R10)")
    func metadata() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let plain = try Self.png()
            let place = "GPS 52.5200 N 13.4050 E"
            let told =
                plain.dropLast(12) + Self.chunk("tEXt", Array("Comment\0\(place)".utf8))
                + Self.chunk("eXIf", Array(place.utf8)) + plain.suffix(12) + Array(place.utf8)
            let reply = try await Self.put(told, anna)
            #expect(reply.status == 200 && reply.body["size"].int == Int64(plain.count), "\(reply)")
            let seen = try await Self.get("/v1/account/avatar", anna, quartet)
            #expect(seen.bytes == plain)
            let stored = try await quartet.psql(
                """
                SELECT count(*) FROM (SELECT bytes FROM session.avatar_chunk
                                      UNION ALL SELECT bytes FROM session_client.upload_chunk) AS c
                 WHERE position('GPS'::bytea IN c.bytes) > 0
                """)
            #expect(stored == "0")
        }
    }

    @Test(
        "a file that isn't a picture, isn't the type it claims or is too large is refused, and nothing is stored (R10)")
    func bad() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            var huge = try Self.png()
            huge[16...23] = [0, 1, 0, 0, 0, 1, 0, 0]
            let cases: [([UInt8], String, Int, String)] = [
                (Array("<svg onload=alert(1)>".utf8), "image/png", 415, "notAPicture"),
                (Array("<svg/>".utf8), "image/svg+xml", 415, "notAPicture"),
                (try Self.png(), "image/jpeg", 415, "notAPicture"),
                (try Self.png(), "text/html", 415, "notAPicture"),
                ([], "image/png", 415, "notAPicture"),
                (huge, "image/png", 422, "tooManyPixels"),
                (try Self.png(padding: 2 << 20), "image/png", 413, "pictureTooLarge"),
            ]
            for (bytes, type, status, code) in cases {
                let reply = try await Self.put(bytes, as: type, anna)
                #expect(reply.status == status && reply.body["code"].string == code, "\(type) \(bytes.count): \(reply)")
            }
            let stored = try await quartet.psql(
                "SELECT (SELECT count(*) FROM session_client.upload) + (SELECT count(*) FROM session.avatar_chunk)")
            #expect(stored == "0")
            let limit = try Self.png(padding: (2 << 20) - Self.png().count)
            let largest = try await Self.put(limit, anna)
            #expect(largest.status == 200 && largest.body["size"] == 2_097_152)
        }
    }
}
