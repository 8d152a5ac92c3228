package import NotificationsContract
package import NotificationsRules
import Postgres
package import Storage
package import Vocabulary

// The statements on notifications.account and notifications.scheduled.

extension Tables {
    package static let account = Table<AccountID, AccountRow>(
        "notifications.account", as: "a", key: TableKey("account"), blank: AccountRow(),
        columns: [
            Column("unread", \.unread),
            Column("total", \.total),
            Column("forget_at", \.forgetting),
            Column("closed_at", \.closed),
        ])

    package static let scheduled = Table<Place, ScheduledNotification>(
        "notifications.scheduled", as: "s",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("id", \.id), make: Place.init),
        blank: laterBlank, columns: later)

    /// What is to be delivered later, for whichever reason.
    static let later: [Column<ScheduledNotification>] = [
        Column("id", \.id),
        Column("kind", \.kind),
        Column("subject", \.subject),
        Column(json: "details", \.details),
        Column("due_at", \.due),
    ]

    static let laterBlank = ScheduledNotification(id: .blank, kind: .system, details: .none, due: .blank)
}

extension Pipeline {
    /// Reads the accounts that come after one, in the order of their ids.
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

    func scheduled(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.scheduled.selection)
              FROM notifications.scheduled AS s
             WHERE s.account = ANY (\(accounts.sorted()))
            """)
    }
}
