import Bus
import ContactsContract
import Foundation
import HTTPTypes
import Hummingbird
import Logging
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
    /// The same for an address, whoever is signed in there.
    private let uploadsFromAddress = RateLimit<String>(perMinute: 60)
    private let sendingFromAddress = Places<String>(limit: 16)
    /// How many are on their way in altogether: each is in memory, for as long as it takes to arrive.
    private let arriving = Places<Everybody>(limit: 64)
    private enum Everybody { case all }
    private let addresses: ClientAddress
    private static let patience: Duration = .seconds(60)
    /// How many bytes wait to be claimed at most: of everybody, and of one account.
    private static let waitingLimit: Int64 = 1 << 30
    private static let accountLimit: Int64 = 16 << 20
    private static let chunk = 64 * 1024

    init(pool: Pool, services: ServiceConnections, addresses: ClientAddress) {
        self.pool = pool
        self.services = services
        self.addresses = addresses
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
        let address = addresses.address(of: request, context)
        guard uploads.admit(caller.account), uploadsFromAddress.admit(address),
            let place = sending.enter(caller.account), let placeOfAddress = sendingFromAddress.enter(address)
        else {
            throw Problem(
                .tooManyRequests, "tooManyUploads", "too many pictures at once; wait a moment",
                retryAfter: uploads.pause)
        }
        defer {
            place.leave()
            placeOfAddress.leave()
        }
        guard let arrival = arriving.enter(.all) else {
            throw Problem(.serviceUnavailable, "overloaded", "too many uploads at once; try again", retryAfter: 1)
        }
        defer { arrival.leave() }
        // Collected outside the limit of transfers: who sends slowly holds up nobody.
        let sent = try await request.body(
            upTo: ImageHeader.sizes.upperBound, within: Self.patience, context,
            orElse: Problem(.contentTooLarge, "pictureTooLarge", "send a picture of at most 2 MB"))
        let avatar = try await transfers.use {
            let (avatar, bytes) = try Self.avatar(sent, claimed: claimed)
            try await store(bytes, as: avatar.hash, for: caller.account)
            return avatar
        }
        do {
            _ = try await services.ask(
                .session, SetAvatar(avatar: avatar), id: key.derive("avatar", caller.account.bytes),
                key: .account(caller.account), account: caller.account, sentAs: key, context)
        } catch let rejection as Rejection {
            await discard(avatar.hash, of: caller.account, context.logger)
            throw rejection
        }
        await discard(avatar.hash, of: caller.account, context.logger)
        var response = try Response.json(avatar)
        response.headers[.eTag] = Self.tag(of: avatar.hash)
        return response
    }

    /// The picture without its metadata, and what it is.
    private static func avatar(_ sent: [UInt8], claimed: ImageType) throws -> (Avatar, [UInt8]) {
        guard let header = ImageHeader(sent), header.type == claimed,
            let bytes = PictureMetadata.removed(from: sent, type: claimed)
        else {
            throw Problem(
                .unprocessableContent, "notAPicture",
                "the bytes are no \(claimed == .png ? "PNG" : "JPEG"); send the picture as it is, and say what it is")
        }
        guard header.isSmallEnough else {
            throw Problem(
                .unprocessableContent, "pictureTooLarge",
                "the picture has \(header.width) x \(header.height) pixels; send one of at most \(ImageHeader.edges.upperBound) a side and 16 megapixels"
            )
        }
        let avatar = Avatar(
            hash: ContentHash(of: bytes), type: header.type, size: bytes.count, width: header.width,
            height: header.height)
        return (avatar, bytes)
    }

    private func store(_ bytes: [UInt8], as hash: ContentHash, for account: AccountID) async throws {
        let chunks = stride(from: 0, to: bytes.count, by: Self.chunk).map {
            Bytes(Array(bytes[$0..<min($0 + Self.chunk, bytes.count)]))
        }
        let numbers = chunks.indices.map { Int32($0) }
        try await pool.withConnection { database in
            let waiting = try database.query(
                """
                SELECT coalesce(sum(octet_length(u.bytes)), 0)::bigint,
                       coalesce(sum(octet_length(u.bytes)) FILTER (WHERE u.account = \(account)), 0)::bigint
                  FROM session_client.upload AS u
                """
            ).only?.decode(Int64.self, Int64.self)
            if let waiting, waiting.0 > Self.waitingLimit || waiting.1 > Self.accountLimit {
                throw Problem(
                    .serviceUnavailable, "overloaded", "too many pictures wait; try again later", retryAfter: 600)
            }
            try database.execute(
                """
                INSERT INTO session_client.upload AS o (account, hash, number, bytes)
                SELECT \(account), \(Bytes(hash.bytes)), u.number, u.bytes
                  FROM unnest(\(numbers), \(chunks)) AS u(number, bytes)
                ON CONFLICT ON CONSTRAINT upload_chunk_is_stored_once DO UPDATE SET uploaded_at = clock_timestamp()
                """)
        }
    }

    /// What was claimed or refused needs no room any more. If this fails, it goes after an hour.
    private func discard(_ hash: ContentHash, of account: AccountID, _ logger: Logger) async {
        do {
            try await pool.withConnection { database in
                _ = try database.execute(
                    "DELETE FROM session_client.upload AS u WHERE u.account = \(account) AND u.hash = \(Bytes(hash.bytes))"
                )
            }
        } catch {
            logger.notice("a claimed upload waits for its hour to pass", metadata: ["error": "\(error)"])
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
