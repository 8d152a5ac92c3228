import ContactsContract
package import ContactsRules
import Postgres
package import Storage
package import Vocabulary

// contacts.account

extension Tables {
    package static let account = Table<AccountID, AccountRow>(
        "contacts.account", as: "a", key: TableKey("account"), blank: AccountRow(code: nil),
        columns: [
            Column("code", \.code),
            Column("is_approval_required", \.isApprovalRequired),
            Column("closed_at", \.closed),
        ])
}

extension Pipeline {
    /// Locks and reads accounts by id or code, in the order of their ids.
    func lockAccounts(_ accounts: Set<AccountID>, codes: Set<ContactCode>) -> Pending? {
        guard !accounts.isEmpty || !codes.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted())) OR a.code = ANY (\(codes.sorted()))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }

    func accounts(_ accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted()))
            """)
    }
}
