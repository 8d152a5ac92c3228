import Postgres
package import QuartetNotificationsContract
package import QuartetNotificationsRules
import QuartetVocabulary
package import Storage

// notifications.held, and the notifications delivered at the same pace

extension Tables {
    package static let held = Table<PaceKey, ScheduledNotification>(
        "notifications.held", as: "h",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("pace", \.pace), make: PaceKey.init),
        blank: laterBlank, columns: later)
}

extension Pipeline {
    /// Reads the newest notifications of each pace, as many as may be delivered at once.
    func newestNotifications(of keys: Set<PaceKey>) -> Pending? {
        guard !keys.isEmpty else { return nil }
        let keys = keys.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(keys.map(\.account)), \(keys.map(\.pace.name))) AS w(account, pace)
             CROSS JOIN LATERAL (SELECT o.*
                                   FROM notifications.notification AS o
                                  WHERE o.account = w.account AND o.pace = w.pace
                                  ORDER BY o.created_at DESC
                                  LIMIT (SELECT l.burst FROM notifications.limits AS l WHERE l.only_row)) AS n
            """)
    }

    /// Reads notifications that are held back but have been delivered already.
    func deliveredOfHeld(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM notifications.held AS h
              JOIN notifications.notification AS n ON n.account = h.account AND n.id = h.id
             WHERE h.account = ANY (\(accounts.sorted()))
            """)
    }

    func held(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.held.selection)
              FROM notifications.held AS h
             WHERE h.account = ANY (\(accounts.sorted()))
            """)
    }
}
