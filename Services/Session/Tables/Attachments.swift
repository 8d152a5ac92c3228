import Postgres
import QuartetSessionContract
package import QuartetSessionRules
import QuartetVocabulary
package import Storage

// The tables of attachments. Their bytes are copied within PostgreSQL.

extension Tables {
    package static let attachment = Table<AttachmentKey, AttachmentRow>(
        "session.attachment", as: "a", key: attachmentKey, blank: .blank,
        columns: [
            Column("content", \.content),
            Column("size", \.size),
            Column("renewed_at", \.renewed),
            Column("completed_at", \.completed),
        ])

    package static let attachmentDescription = Table<AttachmentKey, AttachmentDescription>(
        "session.attachment_description", as: "d", key: attachmentKey,
        blank: AttachmentDescription(name: "", contentType: ""),
        columns: [
            Column("name", \.name),
            Column("content_type", \.contentType),
            Column(json: "metadata", \.metadata),
        ])

    private static let attachmentKey = TableKey(
        KeyColumn("group_id", \AttachmentKey.group), KeyColumn("account", \AttachmentKey.account),
        KeyColumn("hash", \AttachmentKey.hash), make: AttachmentKey.init)
}

extension Pipeline {
    /// The attachments of sessions, and those of accounts in all sessions.
    func attachments(of groups: Set<GroupID>, _ accounts: Set<AccountID>) -> Pending? {
        guard !groups.isEmpty || !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.attachment.selection)
              FROM session.attachment AS a
             WHERE a.group_id = ANY (\(groups.sorted()))
             UNION
            SELECT \(unescaped: Tables.attachment.selection)
              FROM session.attachment AS a
             WHERE a.account = ANY (\(accounts.sorted()))
            """)
    }

    /// Adopted chunks.
    func chunks(_ chunks: Set<SessionRows.Selection.Chunks>) -> Pending? {
        guard !chunks.isEmpty else { return nil }
        let chunks = Array(chunks)
        return query(
            """
            SELECT c.content, c.number, c.hash
              FROM unnest(\(chunks.map(\.attachment.group)), \(chunks.map(\.attachment.account)),
                          \(chunks.map(\.attachment.hash)), \(chunks.map { Int32($0.numbers.lowerBound) }),
                          \(chunks.map { Int32($0.numbers.upperBound) })) AS p(group_id, account, hash, lower, upper)
              JOIN session.attachment AS a ON a.group_id = p.group_id AND a.account = p.account AND a.hash = p.hash
              JOIN session.attachment_chunk AS c
                ON c.content = a.content AND c.number >= p.lower AND c.number < p.upper
            """)
    }

    /// Uploaded chunks that weren't adopted yet. PostgreSQL hashes them; their bytes stay there.
    func uploadedChunks(_ chunks: Set<SessionRows.Selection.Chunks>) -> Pending? {
        let chunks = chunks.filter(\.isAdopting)
        guard !chunks.isEmpty else { return nil }
        return query(
            """
            SELECT u.account, u.hash, u.number, octet_length(u.bytes), sha256(u.bytes)
              FROM unnest(\(chunks.map(\.attachment.group)), \(chunks.map(\.attachment.account)),
                          \(chunks.map(\.attachment.hash)), \(chunks.map { Int32($0.numbers.lowerBound) }),
                          \(chunks.map { Int32($0.numbers.upperBound) })) AS p(group_id, account, hash, lower, upper)
              JOIN session_client.upload_chunk AS u
                ON u.account = p.account AND u.hash = p.hash AND u.number >= p.lower AND u.number < p.upper
             WHERE NOT EXISTS (
                SELECT FROM session.attachment AS a
                  JOIN session.attachment_chunk AS c ON c.content = a.content AND c.number = u.number
                 WHERE a.group_id = p.group_id AND a.account = p.account AND a.hash = p.hash)
            """)
    }

    /// Writes attachments and copies the bytes that they adopt. The bytes of those that are gone are left to retention: there may
    /// be very many.
    func saveAttachments(_ groups: GroupRows) throws {
        let attachments = groups.attachments.changes
        // One that was removed and begun again has other bytes.
        let replaced = attachments.updated.filter { $0.row.content != $0.before.content }
        let gone = attachments.deleted + replaced.map(\.key)
        if !gone.isEmpty {
            query(
                """
                WITH gone AS (
                    DELETE FROM session.attachment AS a
                     USING unnest(\(gone.map(\.group)), \(gone.map(\.account)), \(gone.map(\.hash))) AS p(group_id, account, hash)
                     WHERE a.group_id = p.group_id AND a.account = p.account AND a.hash = p.hash
                    RETURNING a.content)
                INSERT INTO session.deleted_content (content) SELECT g.content FROM gone AS g
                """)
        }
        let kept = attachments.updated.filter { $0.row.content == $0.before.content }
        try update(kept.map { ($0.key, $0.row) }, in: Tables.attachment)
        try insert(attachments.inserted + replaced.map { ($0.key, $0.row) }, into: Tables.attachment)
        try insert(groups.attachmentDescriptions.changes.inserted, into: Tables.attachmentDescription)
        adopt(groups)
    }

    /// Copies chunks. If an upload or an attachment is gone since it was read, a column that can't be NULL is, and the whole batch
    /// is repeated.
    private func adopt(_ groups: GroupRows) {
        let keys = Dictionary(
            groups.attachments.keys.compactMap { key in groups.attachments[key].map { ($0.content, key) } }
        ) { first, _ in first }
        let chunks = groups.chunks.changes.inserted.compactMap { chunk, hash in
            keys[chunk.content].map { (attachment: $0, number: Int32(chunk.number), hash: hash) }
        }
        guard !chunks.isEmpty else { return }
        query(
            """
            INSERT INTO session.attachment_chunk (content, number, hash, bytes)
            SELECT a.content, n.number, n.chunk_hash, u.bytes
              FROM unnest(\(chunks.map(\.attachment.group)), \(chunks.map(\.attachment.account)),
                          \(chunks.map(\.attachment.hash)), \(chunks.map(\.number)), \(chunks.map(\.hash)))
                   AS n(group_id, account, hash, number, chunk_hash)
              LEFT JOIN session.attachment AS a
                ON a.group_id = n.group_id AND a.account = n.account AND a.hash = n.hash
              LEFT JOIN session_client.upload_chunk AS u
                ON u.account = n.account AND u.hash = n.hash AND u.number = n.number
            """)
    }
}

extension Row {
    func chunk() throws -> (ChunkKey, ChunkHash) {
        (
            ChunkKey(try decode(0, as: ContentID.self), Int(try decode(1, as: Int32.self))),
            try decode(2, as: ChunkHash.self)
        )
    }

    func uploadedChunk() throws -> (UploadedChunkKey, UploadedChunk) {
        (
            UploadedChunkKey(
                UploadKey(try decode(0, as: AccountID.self), try decode(1, as: ContentHash.self)),
                Int(try decode(2, as: Int32.self))),
            UploadedChunk(size: Int(try decode(3, as: Int32.self)), hash: try decode(4, as: ChunkHash.self))
        )
    }
}
