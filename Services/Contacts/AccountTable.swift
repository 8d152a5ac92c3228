import ContactsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on contacts.account.

extension Pipeline {
    private static let accountColumns = "a.account, a.code, a.is_approval_required, a.closed_at"

    /// Locks and reads accounts by id and by code, in the order of their ids.
    func lockAccounts(_ accounts: Set<AccountID>, codes: Set<ContactCode>) -> Pending? {
        guard !accounts.isEmpty || !codes.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Self.accountColumns)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted())) OR a.code = ANY (\(codes.sorted()))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }

    /// Reads accounts by id.
    func accounts(_ accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Self.accountColumns)
              FROM contacts.account AS a
             WHERE a.account = ANY (\(accounts.sorted()))
            """)
    }

    func save(_ changes: WorkingSet<AccountID, AccountRow>.Changes) {
        if !changes.updated.isEmpty {
            let rows = changes.updated
            query(
                """
                UPDATE contacts.account AS a
                   SET code = u.code, is_approval_required = u.is_approval_required, closed_at = u.closed_at
                  FROM unnest(\(rows.map(\.key)), \(rows.map(\.row.code)), \(rows.map(\.row.isApprovalRequired)),
                              \(rows.map(\.row.closed))) AS u(account, code, is_approval_required, closed_at)
                 WHERE a.account = u.account
                """)
        }
        if !changes.inserted.isEmpty {
            let rows = changes.inserted
            query(
                """
                INSERT INTO contacts.account (account, code, is_approval_required, closed_at)
                SELECT * FROM unnest(\(rows.map(\.key)), \(rows.map(\.row.code)), \(rows.map(\.row.isApprovalRequired)),
                                     \(rows.map(\.row.closed)))
                """)
        }
    }
}
