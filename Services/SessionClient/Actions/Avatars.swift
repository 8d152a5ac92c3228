import Foundation
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// People's pictures: uploaded as they are, claimed by their owner (``Uploads``), and downloaded from what session publishes.
struct Avatars: Sendable {
    let pool: Pool
    let services: ServiceConnections
    let uploads: Uploads
    /// How many pictures are taken in or given out at a time: each is in memory once.
    private let transfers = Credit(limit: 16)
    private let arrivals = Arrivals(
        rate: (EdgeLimits.pictures, EdgeLimits.picturesOfAddress),
        atOnce: (EdgeLimits.picturesAtOnce, EdgeLimits.picturesAtOnceOfAddress))

    init(pool: Pool, services: ServiceConnections, uploads: Uploads) {
        self.pool = pool
        self.uploads = uploads
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
        try await arrivals.admit(caller, call) {
            // Received outside the limit of transfers: a slow sender holds up nobody.
            let sent = try await receive(EdgeLimits.picture.value, .seconds(EdgeLimits.bytesTime.value))
            let avatar = try await transfers.use {
                let (avatar, bytes) = try Self.avatar(sent, claimed: type)
                try await uploads.store(bytes, as: avatar.hash, for: caller.account)
                return avatar
            }
            do {
                _ = try await services.ask(.session, SetAvatar(avatar: avatar), as: "avatar", by: caller.account, call)
            } catch let rejection as Rejection {
                await uploads.discard(avatar.hash, of: caller.account, call.logger)
                throw rejection
            }
            await uploads.discard(avatar.hash, of: caller.account, call.logger)
            return avatar
        }
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
