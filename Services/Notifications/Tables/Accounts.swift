import Postgres
import QuartetNotificationsContract
package import QuartetNotificationsRules
package import QuartetVocabulary
package import Storage

// notifications.account

extension Tables {
    package static let account = Table<AccountID, AccountRow>(
        "notifications.account", as: "a", key: TableKey("account"), blank: AccountRow(),
        columns: [
            Column("unread", \.unread),
            Column("total", \.total),
            Column("forget_at", \.forgetting),
            Column("closed_at", \.closed),
        ])
}

extension Pipeline {
    /// Reads the accounts after a given one, in the order of their ids.
    func accounts(after account: AccountID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM notifications.account AS a
             WHERE a.account > \(account ?? AccountID(high: 0, low: 0))
             ORDER BY a.account
             LIMIT \(limit)
            """)
    }

    /// Locks and reads accounts, in the order of their ids.
    func lockAccounts(_ accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.account.selection)
              FROM notifications.account AS a
             WHERE a.account = ANY (\(accounts.sorted()))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }
}
