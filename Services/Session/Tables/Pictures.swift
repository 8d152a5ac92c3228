import Postgres
import SessionContract
import SessionRules
import Vocabulary

// session.avatar_chunk, and the edge's uploads

extension Pipeline {
    /// Reads complete uploads that aren't about to be deleted.
    func uploads(_ keys: Set<UploadKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = Array(keys)
        return query(
            """
            SELECT u.account, u.hash, sum(octet_length(u.bytes)),
                   substring(string_agg(u.bytes, '' ORDER BY u.number) FROM 1 FOR 8)
              FROM unnest(\(keys.map(\.account)), \(keys.map { Bytes($0.hash.bytes) })) AS p(account, hash)
              JOIN session_client.upload AS u ON u.account = p.account AND u.hash = p.hash
             GROUP BY u.account, u.hash
            HAVING min(u.uploaded_at) > clock_timestamp() - interval '50 minutes'
               AND sha256(string_agg(u.bytes, '' ORDER BY u.number)) = u.hash
            """)
    }

    /// Copies the bytes of new pictures from the uploads, and deletes those of old ones.
    func saveAvatars(of accounts: WorkingSet<AccountID, AccountRow>.Changes) {
        let changed = accounts.updated.filter { $0.row.avatar?.hash != $0.before.avatar?.hash }
        let gone = changed.filter { $0.before.avatar != nil }.map(\.key)
        if !gone.isEmpty { query("DELETE FROM session.avatar_chunk AS c WHERE c.account = ANY (\(gone))") }
        let new = changed.compactMap { change in change.row.avatar.map { (account: change.key, hash: $0.hash) } }
        guard !new.isEmpty else { return }
        query(
            """
            INSERT INTO session.avatar_chunk (account, number, bytes)
            SELECT n.account, u.number, u.bytes
              FROM unnest(\(new.map(\.account)), \(new.map { Bytes($0.hash.bytes) })) AS n(account, hash)
              JOIN session_client.upload AS u ON u.account = n.account AND u.hash = n.hash
            """)
    }
}

extension Row {
    /// Nil if its name isn't a hash.
    func upload() throws -> (UploadKey, Upload)? {
        guard let hash = ContentHash(bytes: try decode(1, as: Bytes.self).bytes) else { return nil }
        let type = ImageType(signature: try decode(3, as: Bytes.self).bytes)
        return (
            UploadKey(try decode(0, as: AccountID.self), hash),
            Upload(size: Int(try decode(2, as: Int64.self)), type: type)
        )
    }
}
