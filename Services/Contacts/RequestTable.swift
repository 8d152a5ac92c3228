import ContactsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on contacts.request and contacts.block. Their rows are kept by the locks on the account that was asked and
// on the one that blocks; a request is also locked itself, since its asker may close the account meanwhile.

extension Pipeline {
    /// Locks and reads the requests that accounts sent or received, in the order of the primary key.
    func requests(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted()
        return query(
            """
            SELECT r.asker, r.asked, r.responder, r.dependent, r.nickname, r.is_stranger, r.requested_at
              FROM contacts.request AS r
             WHERE r.asker = ANY (\(accounts)) OR r.asked = ANY (\(accounts))
             ORDER BY r.asker, r.asked
               FOR NO KEY UPDATE
            """)
    }

    func save(_ changes: WorkingSet<Ends, RequestRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM contacts.request AS r
                 USING unnest(\(changes.deleted.map(\.from)), \(changes.deleted.map(\.to))) AS u(asker, asked)
                 WHERE r.asker = u.asker AND r.asked = u.asked
                """)
        }
        // A request that was withdrawn and made again in one batch is an update.
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO contacts.request (asker, asked, responder, dependent, nickname, is_stranger, requested_at)
            SELECT * FROM unnest(\(rows.map(\.key.from)), \(rows.map(\.key.to)), \(rows.map(\.row.responder)),
                                 \(rows.map(\.row.dependent)), \(rows.map(\.row.nickname)),
                                 \(rows.map(\.row.isStranger)), \(rows.map(\.row.requested)))
            ON CONFLICT (asker, asked) DO UPDATE
               SET responder = excluded.responder, dependent = excluded.dependent, nickname = excluded.nickname,
                   is_stranger = excluded.is_stranger, requested_at = excluded.requested_at
            """)
    }

    /// Reads all blocks by some accounts, and those between pairs in either direction.
    func blocks(by accounts: Set<AccountID>, between pairs: Set<Pair>) -> Pending? {
        guard !accounts.isEmpty || !pairs.isEmpty else { return nil }
        let pairs = pairs.sorted()
        let (lows, highs) = (pairs.map(\.low), pairs.map(\.high))
        return query(
            """
            SELECT b.blocker, b.blocked, b.blocked_at FROM contacts.block AS b WHERE b.blocker = ANY (\(accounts.sorted()))
             UNION
            SELECT b.blocker, b.blocked, b.blocked_at
              FROM contacts.block AS b
              JOIN unnest(\(lows + highs), \(highs + lows)) AS p(blocker, blocked)
                ON p.blocker = b.blocker AND p.blocked = b.blocked
            """)
    }

    func save(_ changes: WorkingSet<Ends, BlockRow>.Changes) {
        if !changes.deleted.isEmpty {
            query(
                """
                DELETE FROM contacts.block AS b
                 USING unnest(\(changes.deleted.map(\.from)), \(changes.deleted.map(\.to))) AS u(blocker, blocked)
                 WHERE b.blocker = u.blocker AND b.blocked = u.blocked
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO contacts.block (blocker, blocked, blocked_at)
            SELECT * FROM unnest(\(rows.map(\.key.from)), \(rows.map(\.key.to)), \(rows.map(\.row.at)))
            ON CONFLICT (blocker, blocked) DO UPDATE SET blocked_at = excluded.blocked_at
            """)
    }
}

extension Row {
    func ends() throws -> Ends {
        let (from, to) = try decode(AccountID.self, AccountID.self)
        return Ends(from: from, to: to)
    }

    func request() throws -> RequestRow {
        let (_, _, responder, dependent, nickname, isStranger, requested) = try decode(
            AccountID.self, AccountID.self, Bool.self, Bool.self, String.self, Bool.self, Instant.self)
        return RequestRow(
            responder: responder, dependent: dependent, nickname: nickname, isStranger: isStranger,
            requested: requested)
    }
}
