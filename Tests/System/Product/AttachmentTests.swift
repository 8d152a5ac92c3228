import AsyncHTTPClient
import Crypto
import EdgeClient
import Foundation
import NIOCore
import NIOHTTP1
import TestKit
import Testing

/// Files that people share in a group session: bulk bytes that go by the logs.
@Suite("End to end: attachments", .timeLimit(.minutes(60)))
struct AttachmentTests {
    @Test(
        """
        a file of 20 MB that is uploaded out of order, and resumed after kill -9 of the edge and of session, reaches a newcomer \
        whole after its uploader has left; it is gone when the session is over (P30)
        """)
    func story() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            for other in [bob, carl] { try await anna.add(other) }
            let group = try await Group.create(by: anna, isOpenToContacts: true)
            try await group.act(bob, "JoinGroupSession")
            let file = File(seed: 1, size: 20 << 20 | 123)
            try await group.begin(file, by: bob)

            let runs = file.runs(of: 4).shuffled()
            let half = runs.prefix(runs.count / 2)
            for run in half {
                let reply = try await bob.upload(file, run)
                #expect(reply.status == 204, "\(reply)")
            }
            try await quartet.restart(.sessionClient)
            // Nothing that was acknowledged is lost, and what is missing can be asked.
            let progress = try await bob.progress(of: file)
            let present = progress.body["chunks"].array.flatMap { run in
                (run[0].int ?? 0)...(run[1].int ?? 0)
            }
            #expect(present == half.flatMap { $0.map(Int64.init) }.sorted(), "\(progress)")
            #expect(progress.body["size"].int == Int64(half.map { file.chunks($0).count }.reduce(0, +)))
            let early = try await group.ask(
                bob, "AdoptChunks", ["attachment": .string(file.id), "first": 0, "count": 64])
            #expect(early.status == 409 && early.body["code"] == "chunkMissing", "\(early)")
            for run in runs.dropFirst(half.count) {
                let reply = try await bob.upload(file, run)
                #expect(reply.status == 204, "\(reply)")
            }
            let adoptions = file.runs(of: 64).shuffled()
            for run in adoptions.prefix(3) { try await group.adopt(file, run, by: bob) }
            try await quartet.restart(.session)
            // To adopt everything again is safe.
            for run in adoptions { try await group.adopt(file, run, by: bob) }
            let unseen = try await (group.state(by: anna), group.open(file, anna, quartet))
            #expect(unseen.0["attachments"] == [] && unseen.1.status == .notFound)
            let added = try await group.complete(file, by: bob)
            #expect(added["size"].int == Int64(file.bytes.count) && added["account"].string == bob.account, "\(added)")
            let claimed = try await bob.progress(of: file)
            #expect(claimed.status == 404, "\(claimed)")

            try await group.act(bob, "LeaveGroupSession")
            try await group.act(carl, "JoinGroupSession")
            let shown = try await group.state(by: carl)["attachments"][0]
            #expect(shown["id"].string == file.id && shown["name"] == "film.mp4" && shown["metadata"] == ["length": 12])
            let loaded = try await group.download(file, carl, quartet)
            #expect(loaded.status == 200 && File.id(of: loaded.bytes) == file.id)
            let left = try await group.open(file, bob, quartet)
            #expect(left.status == .forbidden)
            try await Self.expectRanges(of: file, group, carl, quartet)
            try await Self.expectNoBytesInLogs(quartet)

            try await group.act(anna, "EndGroupSession")
            let over = try await group.open(file, carl, quartet)
            #expect(over.status == .gone)
            while try await quartet.psql("SELECT session.delete_old_attachments(1000) > 0") == "t" {}
            let chunks = try await quartet.psql(
                """
                SELECT (SELECT count(*) FROM session.attachment_chunk) + (SELECT count(*) FROM session.deleted_content)
                     + (SELECT count(*) FROM session_client.upload_chunk) + (SELECT count(*) FROM session_client.upload)
                """)
            #expect(chunks == "0")
        }
    }

    private static func expectRanges(
        of file: File, _ group: Group, _ device: Device, _ quartet: Quartet
    ) async throws {
        let (size, tag) = (file.bytes.count, "\"\(file.id)\"")
        let parts: [(String, Range<Int>)] = [
            ("bytes=0-0", 0..<1), ("bytes=65530-65540", 65_530..<65_541), ("bytes=131072-196607", 131_072..<196_608),
            ("bytes=-5", size - 5..<size), ("bytes=\(size - 1)-", size - 1..<size),
        ]
        for (range, expected) in parts {
            let part = try await group.download(file, device, quartet, headers: ["range": range, "if-range": tag])
            #expect(part.status == 206 && part.bytes == Array(file.bytes[expected]), "\(range)")
            let named = "bytes \(expected.lowerBound)-\(expected.upperBound - 1)/\(size)"
            #expect(part.headers.first(name: "content-range") == named)
        }
        let beyond = try await group.open(file, device, quartet, headers: ["range": "bytes=\(size)-"])
        #expect(beyond.status == .rangeNotSatisfiable)
        #expect(beyond.headers.first(name: "content-range") == "bytes */\(size)")
        let other = try await group.open(file, device, quartet, method: .HEAD, headers: ["range": "bytes=0-5"])
        #expect(other.status == .ok && other.headers.first(name: "content-length") == "\(size)")
        #expect(other.headers.first(name: "etag") == tag && other.headers.first(name: "accept-ranges") == "bytes")
        #expect(other.headers.first(name: "x-content-type-options") == "nosniff")
        #expect(other.headers.first(name: "content-type") == "video/mp4")
        #expect(
            other.headers.first(name: "content-disposition")?.hasPrefix("attachment; filename=\"film.mp4\"") == true)
        #expect(other.headers.first(name: "content-security-policy") == "default-src 'none'; sandbox")
        let changed = try await group.open(
            file, device, quartet, method: .HEAD, headers: ["range": "bytes=0-5", "if-range": "\"other\""])
        #expect(changed.status == .ok)
        let known = try await group.open(file, device, quartet, headers: ["if-none-match": tag])
        #expect(known.status == .notModified)
    }

    private static func expectNoBytesInLogs(_ quartet: Quartet) async throws {
        let longest = try await quartet.psql(
            "SELECT max(octet_length(body::text)) < 10000 FROM session_client.messages")
        #expect(longest == "t")
    }

    @Test(
        """
        a stranger, somebody invited and somebody who was removed get no attachment and no chunk, and nobody can look at, add to \
        or adopt another account's upload (P30, T22)
        """)
    func strangers() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob, carl) = try await quartet.signUp("anna", "bob", "carl")
            let eve = try await quartet.signUp("eve")
            for other in [bob, carl] { try await anna.add(other) }
            let group = try await Group.create(by: anna)
            try await group.invite(bob, carl, by: anna)
            try await group.act(bob, "JoinGroupSession")
            let (file, other) = (File(seed: 2, size: 30 << 20), File(seed: 3, size: 70_000))
            try await group.attach(file, by: bob)
            try await group.begin(other, by: bob)
            #expect(try await bob.upload(other, 0..<2).status == 204)

            // Somebody else's upload isn't there, to be looked at or adopted.
            for device in [anna, eve] {
                let progress = try await device.progress(of: other)
                #expect(progress.status == 404 && progress.body["code"] == "notFound", "\(progress)")
                let deleted = try await device.edge.send("DELETE", "/v1/uploads/\(other.id)", token: device.token)
                #expect(deleted.status == 204)
            }
            let stolen = try await group.ask(
                anna, "AdoptChunks", ["attachment": .string(other.id), "first": 0, "count": 2])
            #expect(stolen.status == 404 && stolen.body["code"] == "attachmentNotFound", "\(stolen)")
            try await group.begin(other, by: anna)
            let missing = try await group.ask(
                anna, "AdoptChunks", ["attachment": .string(other.id), "first": 0, "count": 2])
            #expect(missing.status == 409 && missing.body["code"] == "chunkMissing", "\(missing)")
            #expect(missing.body["details"]["chunk"] == 0, "\(missing)")
            // What she uploads under its name doesn't become part of it.
            let forged = File(seed: 4, size: 70_000)
            let added = try await anna.edge.send(
                "PUT", "/v1/uploads/\(other.id)/chunks/0", raw: forged.bytes, token: anna.token,
                headers: ["content-type": "application/octet-stream"])
            #expect(added.status == 204)
            try await group.adopt(other, 0..<2, by: bob)
            try await group.adopt(other, 0..<2, by: anna)
            let mismatch = try await group.ask(
                anna, "CompleteAttachment",
                ["attachment": .string(other.id), "chunks": 2, "name": "a", "contentType": "a/b"])
            #expect(mismatch.status == 422 && mismatch.body["code"] == "contentMismatch", "\(mismatch)")
            try await group.complete(other, by: bob)
            let whole = try await group.download(other, anna, quartet)
            #expect(whole.bytes == other.bytes)

            // Who isn't in the session.
            let nowhere = Group(id: EdgeClient.newKey())
            for method in [HTTPMethod.GET, .HEAD] {
                let (stranger, nothing) = try await (
                    group.open(file, eve, quartet, method: method),
                    nowhere.open(file, eve, quartet, method: method)
                )
                #expect(stranger.status == .notFound && nothing.status == .notFound)
                let bodies = try await (stranger.body.collect(upTo: 1 << 16), nothing.body.collect(upTo: 1 << 16))
                #expect(bodies.0 == bodies.1)
            }
            let invited = try await group.open(file, carl, quartet)
            #expect(invited.status == .forbidden)
            for command in ["BeginAttachment", "AdoptChunks", "CompleteAttachment", "RemoveAttachment"] {
                let body: [String: JSON] = [
                    "BeginAttachment": ["attachment": .string(other.id), "size": 1],
                    "AdoptChunks": ["attachment": .string(other.id), "first": 0, "count": 1],
                    "CompleteAttachment": [
                        "attachment": .string(other.id), "chunks": 1, "name": "a", "contentType": "a/b",
                    ],
                    "RemoveAttachment": ["attachment": .string(other.id)],
                ]
                let (one, two) = try await (
                    group.ask(eve, command, body[command] ?? [:]), nowhere.ask(eve, command, body[command] ?? [:])
                )
                #expect(one.status == 404 && one.body["code"] == "groupNotFound" && one.body == two.body, "\(one)")
                let outside = try await group.ask(carl, command, body[command] ?? [:])
                #expect(outside.status == 403 && outside.body["code"] == "notParticipant", "\(outside)")
            }

            // Eight at a time; who is removed while loading gets no more.
            var open: [HTTPClientResponse] = []
            for _ in 0..<8 { open.append(try await group.open(file, bob, quartet)) }
            let ninth = try await group.get(bob, "/attachments/\(file.id)")
            #expect(ninth.status == 429 && ninth.body["code"] == "tooManyDownloads", "\(ninth)")
            try await group.act(anna, "RemoveParticipant", ["participant": .string(bob.account)])
            for response in open {
                var received = 0
                do {
                    for try await buffer in response.body { received += buffer.readableBytes }
                } catch {}
                #expect(received < file.bytes.count)
            }
            let removed = try await group.open(file, bob, quartet)
            #expect(removed.status == .forbidden)
        }
    }

    @Test(
        "what is too large, damaged, misnamed or more than an account, a session or the server takes is refused with its code (P30, T23, R15)"
    )
    func limits() async throws {
        try await Quartet.with { quartet in
            try await quartet.waitLongForPeopleWhoAreAway()
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let group = try await Group.create(by: anna)
            let file = File(seed: 5, size: 300_000)
            func put(_ path: String, _ bytes: [UInt8], _ headers: [String: String] = [:]) async throws
                -> EdgeClient.Reply
            {
                try await anna.edge.send(
                    "PUT", "/v1/uploads/\(path)", raw: bytes, token: anna.token,
                    headers: headers.merging(["content-type": "application/octet-stream"]) { given, _ in given })
            }
            let digest = "sha-256=:\(Data(SHA256.hash(data: [1])).base64EncodedString()):"
            let cases: [(String, [UInt8], [String: String], Int, String)] = [
                ("\(file.id)/chunks/0", file.bytes, [:], 413, "bodyTooLarge"),
                ("\(file.id)/chunks/0", [], [:], 400, "invalidParameter"),
                ("\(file.id)/chunks/1600", [1], [:], 400, "invalidParameter"),
                ("\(file.id)/chunks/1599", Array(file.bytes.prefix(65_537)), [:], 400, "invalidParameter"),
                ("\(file.id)/chunks/-1", [1], [:], 400, "invalidParameter"),
                ("\(file.id)/chunks/x", [1], [:], 400, "invalidParameter"),
                ("\(file.id.uppercased())/chunks/0", [1], [:], 400, "invalidID"),
                ("1/chunks/0", [1], [:], 400, "invalidID"),
                ("\(file.id)/chunks/0", [2], ["content-digest": digest], 422, "digestMismatch"),
                ("\(file.id)/chunks/0", [2], ["content-digest": "sha-256=:x:"], 400, "invalidParameter"),
            ]
            for (path, bytes, headers, status, code) in cases {
                let reply = try await put(path, bytes, headers)
                #expect(reply.status == status && reply.body["code"].string == code, "\(path): \(reply)")
            }
            let stored = try await quartet.psql("SELECT count(*) FROM session_client.upload")
            #expect(stored == "0")
            #expect(try await put("\(file.id)/chunks/0", [1], ["content-digest": digest]).status == 204)
            #expect(try await put("\(file.id)/chunks/0", [2]).status == 204)
            for path in [
                "/v1/uploads/x", "/v1/groups/\(group.id)/attachments/x", "/v1/groups/x/attachments/\(file.id)",
            ] {
                let reply = try await anna.edge.send("GET", path, token: anna.token)
                #expect(reply.status == 400 && reply.body["code"] == "invalidID", "\(reply)")
            }
            let nothing = try await anna.edge.send(
                "GET", "/v1/groups/\(group.id)/attachments/\(file.id)", token: anna.token)
            #expect(nothing.status == 404 && nothing.body["code"] == "attachmentNotFound", "\(nothing)")

            try await Self.expectFull(group, anna, bob, quartet)
            let mb: Int64 = 1 << 20

            // As if much more waited.
            func wait(_ account: String, _ size: Int64) async throws {
                _ = try await quartet.psql(
                    """
                    INSERT INTO session_client.upload (account, hash, size) VALUES ('\(account)', sha256('\(account)'), \(size))
                    """)
            }
            try await wait(anna.account, 200 * mb)
            let own = try await put("\(file.id)/chunks/0", [3])
            #expect(own.status == 409 && own.body["code"] == "uploadsFull", "\(own)")
            let picture = try await AvatarTests.put(try AvatarTests.png(), anna)
            #expect(picture.status == 409 && picture.body["code"] == "uploadsFull", "\(picture)")
            let others = try await bob.upload(file, 0..<4)
            #expect(others.status == 204, "\(others)")
            // There is no room left, but for a little of everybody's.
            try await wait(bob.account, 4096 * mb)
            let carl = try await quartet.signUp("carl")
            #expect(try await carl.upload(file, 0..<4).status == 204)
            try await wait(carl.account, 4 * mb)
            let everybody = try await carl.upload(file, 4..<8)
            #expect(everybody.status == 503 && everybody.body["code"] == "overloaded", "\(everybody)")
            // Nothing of what was refused was kept.
            let kept = try await quartet.psql(
                "SELECT count(*) FROM session_client.upload_chunk WHERE account = '\(anna.account)' AND bytes = '\\x03'"
            )
            #expect(kept == "0")
        }
    }

    /// How many bytes an account may attach, and how many bytes and attachments a session takes.
    private static func expectFull(_ group: Group, _ anna: Device, _ bob: Device, _ quartet: Quartet) async throws {
        let mb: Int64 = 1 << 20
        func begin(_ seed: UInt64, _ size: Int64) -> JSON {
            ["attachment": .string(File(seed: seed, size: 1).id), "size": .int(size)]
        }
        let other = try await Group.create(by: bob)
        // As if others had begun them.
        func fill(_ count: Int, _ size: Int64) async throws {
            _ = try await quartet.psql(
                """
                INSERT INTO session.attachment (group_id, account, hash, content, size, renewed_at)
                SELECT '\(other.id)', gen_random_uuid(), sha256(uuid_send(gen_random_uuid())), gen_random_uuid(), \(size), now()
                  FROM generate_series(1, \(count))
                """)
        }
        /// - Returns: How many bytes are said to be free.
        func expect(_ code: String, of size: Int64, to group: Group, by device: Device) async throws -> [JSON] {
            var free: [JSON] = []
            try await quartet.overEach { carrier in
                free.append(
                    try await carrier.expect(
                        code, of: "BeginAttachment", begin(12, size).adding("group", .string(group.id)),
                        token: device.token
                    ).details["free"])
            }
            return free
        }
        try await group.act(anna, "BeginAttachment", begin(10, 100 * mb))
        try await group.act(anna, "BeginAttachment", begin(11, 90 * mb))
        let freeOfAccount = try await expect("accountStorageFull", of: 11 * mb, to: group, by: anna)
        #expect(freeOfAccount == [.int(10 * mb), .int(10 * mb)])
        try await fill(10, 100 * mb)
        let freeOfGroup = try await expect("groupStorageFull", of: 25 * mb, to: other, by: bob)
        #expect(freeOfGroup == [.int(24 * mb), .int(24 * mb)])
        try await fill(90, 1)
        _ = try await expect("tooManyAttachments", of: 1, to: other, by: bob)
    }

    @Test("an upload is deleted an hour after its last chunk, whole, and a chunk keeps all of it (P30)")
    func expiry() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            let file = File(seed: 6, size: 500_000)
            for device in [anna, bob] { #expect(try await device.upload(file, 0..<4).status == 204) }
            _ = try await quartet.psql(
                "UPDATE session_client.upload SET renewed_at = clock_timestamp() - interval '61 minutes'")
            #expect(try await anna.upload(file, 4..<8).status == 204)
            var deleted = 0
            while let rows = Int(try await quartet.psql("SELECT session_client.delete_old_uploads(3)")), rows > 0 {
                deleted += rows
            }
            #expect(deleted == 5)
            #expect(try await bob.progress(of: file).status == 404)
            let kept = try await anna.progress(of: file)
            #expect(kept.body["chunks"] == [[0, 7]] && kept.body["size"] == 500_000, "\(kept)")
            let hour = try await quartet.psql(
                "SELECT \(kept.body["expires"].int ?? 0) - (extract(epoch FROM clock_timestamp()) * 1000000)::bigint BETWEEN 3000000000 AND 3600000000"
            )
            #expect(hour == "t")
        }
    }
}
