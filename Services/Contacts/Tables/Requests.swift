import ContactsContract
package import ContactsRules
import Postgres
package import Storage
import Vocabulary

// The statements on contacts.request and contacts.block. Their rows are kept by the locks on the account that was asked and
// on the one that blocks; a request is also locked itself, since its asker may close the account meanwhile.

extension Tables {
    package static let request = Table<Ends, RequestRow>(
        "contacts.request", as: "r",
        key: TableKey(KeyColumn("asker", \.from), KeyColumn("asked", \.to), make: Ends.init(from:to:)),
        blank: .blank,
        columns: [
            Column("is_my_responder", \.isMyResponder),
            Column("i_am_responder", \.iAmResponder),
            Column("nickname", \.nickname),
            Column("is_stranger", \.isStranger),
            Column("requested_at", \.requested),
        ])

    package static let block = Table<Ends, BlockRow>(
        "contacts.block", as: "b",
        key: TableKey(KeyColumn("blocker", \.from), KeyColumn("blocked", \.to), make: Ends.init(from:to:)),
        blank: .blank, columns: [Column("blocked_at", \.at)])
}

extension Pipeline {
    /// Locks and reads the requests that accounts sent or received, in the order of the primary key.
    func requests(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.request.selection)
              FROM contacts.request AS r
             WHERE r.asker = ANY (\(accounts)) OR r.asked = ANY (\(accounts))
             ORDER BY r.asker, r.asked
               FOR NO KEY UPDATE
            """)
    }

    /// Reads all blocks by some accounts, and those between pairs in either direction.
    func blocks(by accounts: Set<AccountID>, between pairs: Set<Pair>) -> Pending? {
        guard !accounts.isEmpty || !pairs.isEmpty else { return nil }
        let pairs = pairs.sorted()
        let (lows, highs) = (pairs.map(\.low), pairs.map(\.high))
        return query(
            """
            SELECT \(unescaped: Tables.block.selection)
              FROM contacts.block AS b
             WHERE b.blocker = ANY (\(accounts.sorted()))
             UNION
            SELECT \(unescaped: Tables.block.selection)
              FROM contacts.block AS b
              JOIN unnest(\(lows + highs), \(highs + lows)) AS p(blocker, blocked)
                ON p.blocker = b.blocker AND p.blocked = b.blocked
            """)
    }
}
