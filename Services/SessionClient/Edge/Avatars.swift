import Bus
import ContactsContract
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Postgres
import SessionContract
import Vocabulary

/// People's pictures: uploaded as they are, in chunks that wait for their owner to claim them, and downloaded from what
/// session publishes. No log ever has their bytes.
struct Avatars: Sendable {
    let pool: Pool
    let services: ServiceConnections
    /// How many pictures are taken in or given out at a time: each is in memory once.
    private let transfers = Credit(limit: 16)
    /// How many pictures one account may send in a minute, and how many at a time.
    private let uploads = RateLimit<AccountID>(perMinute: 10)
    private let sending = Places<AccountID>(limit: 4)
    /// How many are on their way in altogether: each is in memory, for as long as it takes to arrive.
    private let arriving = Places<Everybody>(limit: 64)
    private enum Everybody { case all }
    private static let patience: Duration = .seconds(60)
    /// How many bytes wait to be claimed at most, as the table takes them.
    private static let waitingLimit: Int64 = 1 << 30
    private static let chunk = 64 * 1024

    init(pool: Pool, services: ServiceConnections) {
        self.pool = pool
        self.services = services
    }

    // MARK: PUT /v1/account/avatar

    func upload(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let key = try IdempotencyKey(of: request)
        let claimed = request.headers[.contentType].flatMap(ImageType.init(rawValue:))
        guard let claimed else {
            throw Problem(
                .unsupportedMediaType, "notAPicture", "send a PNG or a JPEG: Content-Type: image/png or image/jpeg",
                field: "Content-Type")
        }
        guard uploads.admit(caller.account), let place = sending.enter(caller.account) else {
            throw Problem(
                .tooManyRequests, "tooManyUploads", "too many pictures at once; wait a moment",
                retryAfter: uploads.pause)
        }
        defer { place.leave() }
        guard let arrival = arriving.enter(.all) else {
            throw Problem(.serviceUnavailable, "overloaded", "too many uploads at once; try again", retryAfter: 1)
        }
        defer { arrival.leave() }
        // Collected outside the limit of transfers: who sends slowly holds up nobody.
        let bytes = try await context.time.whileReceiving(Self.patience) { try await Self.bytes(of: request) }
        let avatar = try await transfers.use {
            let avatar = try Self.avatar(bytes, claimed: claimed)
            try await store(bytes, as: avatar.hash)
            return avatar
        }
        _ = try await services.ask(
            .session, SetAvatar(avatar: avatar), id: key.derive("avatar", caller.account.bytes),
            key: .account(caller.account), account: caller.account, sentAs: key, context)
        var response = try Response.json(avatar)
        response.headers[.eTag] = Self.tag(of: avatar.hash)
        return response
    }

    private static func bytes(of request: Request) async throws -> [UInt8] {
        let tooLarge = Problem(.contentTooLarge, "pictureTooLarge", "send a picture of at most 2 MB")
        if let length = request.headers[.contentLength].flatMap(Int.init), length > ImageHeader.sizes.upperBound {
            throw tooLarge
        }
        return try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask {
                var request = request
                do {
                    return Array(try await request.collectBody(upTo: ImageHeader.sizes.upperBound).readableBytesView)
                } catch is NIOTooManyBytesError {
                    throw tooLarge
                } catch let error as CancellationError {
                    throw error
                } catch {
                    throw Problem(.badRequest, "incomplete", "the picture did not arrive whole; send it again")
                }
            }
            group.addTask {
                try await Task.sleep(for: patience)
                throw Problem(.requestTimeout, "tooSlow", "the picture took longer than a minute; send it again")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private static func avatar(_ bytes: [UInt8], claimed: ImageType) throws -> Avatar {
        guard let header = ImageHeader(bytes), header.type == claimed else {
            throw Problem(
                .unprocessableContent, "notAPicture",
                "the bytes are no \(claimed == .png ? "PNG" : "JPEG"); send the picture as it is, and say what it is")
        }
        guard ImageHeader.edges.contains(header.width), ImageHeader.edges.contains(header.height) else {
            throw Problem(
                .unprocessableContent, "pictureTooLarge",
                "the picture has \(header.width) x \(header.height) pixels; send one of at most \(ImageHeader.edges.upperBound) a side"
            )
        }
        return Avatar(
            hash: ContentHash(of: bytes), type: header.type, size: bytes.count, width: header.width,
            height: header.height)
    }

    private func store(_ bytes: [UInt8], as hash: ContentHash) async throws {
        let chunks = stride(from: 0, to: bytes.count, by: Self.chunk).map {
            Bytes(Array(bytes[$0..<min($0 + Self.chunk, bytes.count)]))
        }
        let numbers = chunks.indices.map { Int32($0) }
        _ = try await pool.withConnection { database in
            let size =
                try database.query("SELECT pg_total_relation_size('session_client.upload')").only?.decode(
                    0, as: Int64.self) ?? 0
            guard size < Self.waitingLimit else {
                throw Problem(
                    .serviceUnavailable, "overloaded", "too many pictures wait; try again later", retryAfter: 600)
            }
            return try database.execute(
                """
                INSERT INTO session_client.upload AS o (hash, number, bytes)
                SELECT \(Bytes(hash.bytes)), u.number, u.bytes FROM unnest(\(numbers), \(chunks)) AS u(number, bytes)
                ON CONFLICT ON CONSTRAINT upload_chunk_is_stored_once DO UPDATE SET uploaded_at = clock_timestamp()
                """)
        }
    }

    // MARK: DELETE /v1/account/avatar

    func remove(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let key = try IdempotencyKey(of: request)
        _ = try await services.ask(
            .session, RemoveAvatar(), id: key.derive("remove-avatar", caller.account.bytes),
            key: .account(caller.account), account: caller.account, sentAs: key, context)
        return Response(status: .noContent)
    }

    // MARK: GET /v1/account/avatar, /v1/contacts/{account}/avatar

    func own(_ request: Request, _ context: EdgeContext) async throws -> Response {
        try await download(try context.requireCaller().account, request)
    }

    /// A contact's picture is for their contacts.
    func ofContact(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let other = try context.id("account", as: AccountSubject.self)
        let isContact = try await pool.withConnection { database in
            try database.query(
                "SELECT FROM contacts.contact AS c WHERE c.account = \(caller.account) AND c.contact = \(other)"
            ).only != nil
        }
        guard isContact else {
            throw Problem(.notFound, "notContact", "this is no contact of yours", field: "account")
        }
        return try await download(other, request)
    }

    private func download(_ account: AccountID, _ request: Request) async throws -> Response {
        let known = request.headers[.ifNoneMatch]
        return try await transfers.use {
            let found = try await pool.withConnection { database in
                // One snapshot: the bytes are those of the hash.
                try database.transaction(isolation: .repeatableRead, readOnly: true) { database in
                    let avatar = try database.query(
                        "SELECT s.state -> 'avatar' FROM session.account_state AS s WHERE s.account = \(account)"
                    ).only?.decode(0, as: JSON?.self).map {
                        try JSONDecoder().decode(Avatar.self, from: Data($0.bytes))
                    }
                    guard let avatar else { return (Avatar?.none, [UInt8]()) }
                    if Self.isKnown(avatar.hash, known) { return (avatar, []) }
                    let bytes = try database.query(
                        "SELECT c.bytes FROM session.avatar_chunk AS c WHERE c.account = \(account) ORDER BY c.number"
                    ).flatMap { try $0.decode(0, as: Bytes.self).bytes }
                    return (avatar, bytes)
                }
            }
            guard let avatar = found.0 else {
                throw Problem(.notFound, "notFound", "there is no picture", field: "avatar")
            }
            // For the one who may see it, and asked about each time: a relation may end.
            var headers: HTTPFields = [.eTag: Self.tag(of: avatar.hash), .cacheControl: "private, no-cache"]
            if Self.isKnown(avatar.hash, known) { return Response(status: .notModified, headers: headers) }
            headers[.contentType] = avatar.type.rawValue
            headers[.contentLength] = "\(found.1.count)"
            // A picture is never anything else, whatever is in it.
            headers[.contentTypeOptions] = "nosniff"
            headers[.contentSecurityPolicy] = "default-src 'none'"
            return Response(
                status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: found.1)))
        }
    }

    private static func tag(of hash: ContentHash) -> String { "\"\(hash)\"" }

    /// RFC 9110, section 13.1.2: any of a list, weak ones too.
    private static func isKnown(_ hash: ContentHash, _ header: String?) -> Bool {
        guard let header else { return false }
        return header == "*"
            || header.split(separator: ",").contains {
                $0.trimmingCharacters(in: .whitespaces).replacing("W/", with: "") == tag(of: hash)
            }
    }
}

extension HTTPField.Name {
    fileprivate static let contentTypeOptions = HTTPField.Name("X-Content-Type-Options")!
    fileprivate static let contentSecurityPolicy = HTTPField.Name("Content-Security-Policy")!
}
