import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Attachments of group sessions, downloaded from what session publishes, a chunk at a time.
struct Attachments: Sendable {
    let pool: Pool
    let groups: GroupReads
    /// How many downloads one account may have at a time.
    private let downloads = Places<AccountID>(EdgeLimits.downloads)
    /// How many chunks are read at a time: all downloads together leave most connections to others.
    private let reading = Credit(limit: 4)

    init(pool: Pool, groups: GroupReads) {
        self.pool = pool
        self.groups = groups
    }

    /// An attachment that the caller downloads.
    struct Download: Sendable {
        let attachment: ContentHash
        let size: Int
        let name: String
        let contentType: String
        fileprivate let content: ContentID
        fileprivate let group: GroupID
        fileprivate let account: AccountID
        /// Left when the download is over.
        let place: Places<AccountID>.Place
    }

    enum ContentSubject {}
    typealias ContentID = ID<ContentSubject>

    /// Only those who are in the session may download. For a stranger it doesn't exist.
    func open(_ attachment: ContentHash, of group: GroupID, by caller: Caller) async throws -> Download {
        guard let place = downloads.enter(caller.account) else {
            throw APIError(.tooManyDownloads, retryAfter: 1)
        }
        let account = caller.account
        let standing = try await groups.standing(of: account, in: group)
        if let refusal = standing.refusal { throw refusal }
        guard standing.status == "joined" else { throw APIError(.notParticipant, field: "group") }
        let found = try await pool.withConnection { database in
            try database.query(
                """
                SELECT a.content, a.size, a.name, a.content_type
                  FROM session.group_attachment AS a
                 WHERE a.group_id = \(group) AND a.hash = \(Bytes(attachment.bytes))
                """
            ).only.map { row in
                Download(
                    attachment: attachment, size: Int(try row.decode(1, as: Int32.self)),
                    name: try row.decode(2, as: String.self), contentType: try row.decode(3, as: String.self),
                    content: try row.decode(0, as: ContentID.self), group: group, account: account, place: place)
            }
        }
        guard let found else { throw APIError(.attachmentNotFound, field: "attachment") }
        return found
    }

    /// Reads one chunk, if the caller is still in the session.
    /// - Throws: `notParticipant`; `attachmentNotFound` when it was removed meanwhile.
    func chunk(_ number: Int, of download: Download) async throws -> [UInt8] {
        try await reading.use {
            try await pool.withConnection { database in
                let row = try database.query(
                    """
                    SELECT c.bytes
                      FROM session.group_participant AS p
                      LEFT JOIN session.attachment_chunk AS c
                        ON c.content = \(download.content) AND c.number = \(Int32(number))
                     WHERE p.group_id = \(download.group) AND p.account = \(download.account) AND p.status = 'joined'
                    """
                ).only
                guard let row else { throw APIError(.notParticipant) }
                guard let bytes = try row.decode(0, as: Bytes?.self)?.bytes else { throw APIError(.attachmentNotFound) }
                return bytes
            }
        }
    }
}
