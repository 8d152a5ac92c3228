import API
import Foundation
import Logging
import Postgres
import SessionClientOrchestration
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
    /// The same for an address, for all accounts together.
    private let uploadsFromAddress = RateLimit<String>(perMinute: 60)
    private let sendingFromAddress = Places<String>(limit: 16)
    /// How many are on their way in altogether: each is in memory, for as long as it takes to arrive.
    private let arriving = Places<Everybody>(limit: 64)
    private enum Everybody { case all }
    private static let patience: Duration = .seconds(60)
    /// How many bytes wait to be claimed at most: of everybody, and of one account.
    private static let waitingLimit: Int64 = 1 << 30
    private static let accountLimit: Int64 = 16 << 20
    private static let chunk = 64 * 1024

    init(pool: Pool, services: ServiceConnections) {
        self.pool = pool
        self.services = services
    }

    // MARK: Uploading

    /// - Parameters:
    ///   - type: What the app says the picture is.
    ///   - receive: Receives so many bytes at most, within a time. Called once there is a place for them.
    func upload(
        _ type: ImageType, by caller: Caller, _ call: Call,
        receive: (_ limit: Int, _ time: Duration) async throws -> [UInt8]
    ) async throws -> Avatar {
        guard uploads.admit(caller.account), uploadsFromAddress.admit(call.address),
            let place = sending.enter(caller.account), let placeOfAddress = sendingFromAddress.enter(call.address)
        else { throw APIError(.tooManyUploads, retryAfter: uploads.pause) }
        defer {
            place.leave()
            placeOfAddress.leave()
        }
        guard let arrival = arriving.enter(.all) else {
            throw APIError(.overloaded, "There are too many uploads at once; try again in a second.", retryAfter: 1)
        }
        defer { arrival.leave() }
        // Received outside the limit of transfers: a slow sender holds up nobody.
        let sent = try await receive(ImageHeader.sizes.upperBound, Self.patience)
        let avatar = try await transfers.use {
            let (avatar, bytes) = try Self.avatar(sent, claimed: type)
            try await store(bytes, as: avatar.hash, for: caller.account)
            return avatar
        }
        do {
            _ = try await services.ask(.session, SetAvatar(avatar: avatar), as: "avatar", by: caller.account, call)
        } catch let rejection as Rejection {
            await discard(avatar.hash, of: caller.account, call.logger)
            throw rejection
        }
        await discard(avatar.hash, of: caller.account, call.logger)
        return avatar
    }

    /// The picture without its metadata, and what it is.
    private static func avatar(_ sent: [UInt8], claimed: ImageType) throws -> (Avatar, [UInt8]) {
        guard let header = ImageHeader(sent), header.type == claimed,
            let bytes = PictureMetadata.removed(from: sent, type: claimed)
        else {
            throw APIError(
                .notAPicture,
                "The body isn't a \(claimed == .png ? "PNG" : "JPEG"); send the picture's bytes with its type.")
        }
        guard header.isSmallEnough else {
            throw APIError(
                .tooManyPixels,
                "The picture has \(header.width) x \(header.height) pixels; send one of at most \(ImageHeader.edges.upperBound) a side and 16 megapixels."
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
                throw APIError(.overloaded, "Too many pictures are waiting; try again later.", retryAfter: 600)
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

    /// Deletes an upload that was claimed or refused. If this fails, it is deleted after an hour.
    private func discard(_ hash: ContentHash, of account: AccountID, _ logger: Logger) async {
        do {
            try await pool.withConnection { database in
                _ = try database.execute(
                    "DELETE FROM session_client.upload AS u WHERE u.account = \(account) AND u.hash = \(Bytes(hash.bytes))"
                )
            }
        } catch {
            logger.notice(
                "can't delete a claimed upload; it will be deleted after an hour", metadata: ["error": "\(error)"])
        }
    }

    func remove(by caller: Caller, _ call: Call) async throws {
        _ = try await services.ask(.session, RemoveAvatar(), as: "remove-avatar", by: caller.account, call)
    }

    // MARK: Downloading

    /// - Parameter isKnown: Whether the app has the picture with this hash already.
    func own(by caller: Caller, unless isKnown: @escaping @Sendable (ContentHash) -> Bool) async throws -> Picture {
        try await download(caller.account, unless: isKnown)
    }

    /// A person's picture is for their contacts, and for those who are in a group session with them.
    func ofContact(
        _ other: AccountID, by caller: Caller, unless isKnown: @escaping @Sendable (ContentHash) -> Bool
    ) async throws -> Picture {
        let isSeen = try await pool.withConnection { database in
            try database.query(
                """
                SELECT true FROM contacts.contact AS c WHERE c.account = \(caller.account) AND c.contact = \(other)
                 UNION ALL
                SELECT true FROM session.group_participant AS o
                  JOIN session.group_participant AS p ON p.group_id = o.group_id
                 WHERE o.account = \(caller.account) AND o.status = 'joined'
                   AND p.account = \(other) AND p.status = 'joined'
                 LIMIT 1
                """
            ).only != nil
        }
        guard isSeen else { throw APIError(.notContact, field: "account") }
        return try await download(other, unless: isKnown)
    }

    private func download(
        _ account: AccountID, unless isKnown: @escaping @Sendable (ContentHash) -> Bool
    ) async throws -> Picture {
        let found = try await transfers.use {
            try await pool.withConnection { database in
                // One snapshot: the bytes are those of the hash.
                try database.transaction(isolation: .repeatableRead, readOnly: true) { database -> Picture? in
                    let avatar = try database.query(
                        "SELECT s.state -> 'avatar' FROM session.account_state AS s WHERE s.account = \(account)"
                    ).only?.decode(0, as: JSON?.self).map {
                        try JSONDecoder().decode(Avatar.self, from: Data($0.bytes))
                    }
                    guard let avatar else { return nil }
                    if isKnown(avatar.hash) { return Picture(avatar: avatar, bytes: nil) }
                    let bytes = try database.query(
                        "SELECT c.bytes FROM session.avatar_chunk AS c WHERE c.account = \(account) ORDER BY c.number"
                    ).flatMap { try $0.decode(0, as: Bytes.self).bytes }
                    return Picture(avatar: avatar, bytes: bytes)
                }
            }
        }
        guard let found else { throw APIError(.notFound, "There is no picture.", field: "avatar") }
        return found
    }
}
