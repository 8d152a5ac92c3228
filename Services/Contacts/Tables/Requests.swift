import Postgres
import QuartetContactsContract
package import QuartetContactsRules
import QuartetVocabulary
package import Storage

// contacts.request. Its rows are protected by the lock on the receiving account, and locked themselves, too: the sender
// may close its account meanwhile.

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
}
