import Postgres
import QuartetContactsContract
package import QuartetContactsRules
import QuartetVocabulary
package import Storage

// contacts.block. Its rows are protected by the lock on the blocking account.

extension Tables {
    package static let block = Table<Ends, BlockRow>(
        "contacts.block", as: "b",
        key: TableKey(KeyColumn("blocker", \.from), KeyColumn("blocked", \.to), make: Ends.init(from:to:)),
        blank: .blank, columns: [Column("blocked_at", \.at)])
}

extension Pipeline {
    /// Reads all blocks by some accounts, and those within pairs, in either direction.
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
