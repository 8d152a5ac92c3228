import Postgres
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary

// session.avatar_chunk, and the edge's uploads

extension Pipeline {
    /// Reads complete uploads that aren't about to be deleted.
    func uploads(_ keys: Set<UploadKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = Array(keys)
        return query(
            """
            SELECT c.account, c.hash, sum(octet_length(c.bytes)),
                   substring(string_agg(c.bytes, '' ORDER BY c.number) FROM 1 FOR 8)
              FROM unnest(\(keys.map(\.account)), \(keys.map(\.hash))) AS p(account, hash)
              JOIN session_client.upload AS u ON u.account = p.account AND u.hash = p.hash
              JOIN session_client.upload_chunk AS c ON c.account = p.account AND c.hash = p.hash
             WHERE u.renewed_at > clock_timestamp() - interval '50 minutes' AND u.size <= \(ImageHeader.sizes.upperBound)
             GROUP BY c.account, c.hash
            HAVING sha256(string_agg(sha256(c.bytes), '' ORDER BY c.number)) = c.hash
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
              FROM unnest(\(new.map(\.account)), \(new.map(\.hash))) AS n(account, hash)
              JOIN session_client.upload_chunk AS u ON u.account = n.account AND u.hash = n.hash
            """)
    }
}

extension Row {
    func upload() throws -> (UploadKey, Upload) {
        let type = ImageType(signature: try decode(3, as: Bytes.self).bytes)
        return (
            UploadKey(try decode(0, as: AccountID.self), try decode(1, as: ContentHash.self)),
            Upload(size: Int(try decode(2, as: Int64.self)), type: type)
        )
    }
}
