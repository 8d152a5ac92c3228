package import NotificationsContract
package import NotificationsRules
import Postgres
package import Storage
import Vocabulary

// The statements on notifications.held, and on what was told at the same pace.

extension Tables {
    package static let held = Table<PacePlace, ScheduledNotification>(
        "notifications.held", as: "h",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("pace", \.pace), make: PacePlace.init),
        blank: laterBlank, columns: later)
}

extension Pipeline {
    /// Reads the newest notifications at each pace, as many as are delivered at once.
    func newestNotifications(of places: Set<PacePlace>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(places.map(\.account)), \(places.map(\.pace.name))) AS w(account, pace)
             CROSS JOIN LATERAL (SELECT o.*
                                   FROM notifications.notification AS o
                                  WHERE o.account = w.account AND o.pace = w.pace
                                  ORDER BY o.created_at DESC
                                  LIMIT (SELECT l.burst FROM notifications.limits AS l WHERE l.only_row)) AS n
            """)
    }

    /// Reads what was delivered already of what is held back for accounts.
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
