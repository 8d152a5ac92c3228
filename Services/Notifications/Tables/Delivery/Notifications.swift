package import NotificationsContract
package import NotificationsRules
import Postgres
package import Storage
import Vocabulary

// The statements on notifications.notification.

extension Tables {
    package static let notification = Table<Place, NotificationsContract.Notification>(
        "notifications.notification", as: "n",
        key: TableKey(KeyColumn("account", \.account), KeyColumn("id", \.id), make: Place.init),
        blank: .init(id: .blank, kind: .system, details: .none, created: .blank),
        columns: [
            Column("id", \.id),
            Column("kind", \.kind),
            Column("category", writing: { $0.kind.category }),
            Column("pace", writing: { $0.pace }),
            Column("subject", \.subject),
            Column(json: "details", \.details),
            Column("created_at", \.created),
            Column("read_at", \.read),
            Column("cleared_at", \.cleared),
        ])

    /// What becomes of a notification after it was delivered.
    static let mark = notification.only(["read_at", "cleared_at"])
}

extension Pipeline {
    /// Reads notifications by name.
    func notifications(_ places: Set<Place>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(places.map(\.account)), \(places.map(\.id))) AS w(account, id)
              JOIN notifications.notification AS n ON n.account = w.account AND n.id = w.id
            """)
    }

    /// Reads everything of accounts that can be read or cleared.
    func unclearedNotifications(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM notifications.notification AS n
             WHERE n.account = ANY (\(accounts.sorted())) AND n.cleared_at IS NULL
            """)
    }

    /// Reads everything of accounts.
    func allNotifications(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM notifications.notification AS n
             WHERE n.account = ANY (\(accounts.sorted()))
            """)
    }

    /// Reads what the rules may find too old and a little more, since their time is given later; and so many of those
    /// that come next, the oldest of which says when to look again.
    func oldNotifications(_ accounts: [AccountID: Int32], age: Interval) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        let accounts = accounts.sorted { $0.key < $1.key }
        // One time for both: with a clock that goes on, a row could fall between them.
        let limit: Query = "statement_timestamp() + interval '1 hour' - \(age.microseconds) * interval '1 microsecond'"
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(accounts.map(\.key)), \(accounts.map(\.value))) AS w(account, count)
             CROSS JOIN LATERAL (
                       (SELECT o.*
                          FROM notifications.notification AS o
                         WHERE o.account = w.account AND o.created_at < \(limit))
                        UNION ALL
                       (SELECT o.*
                          FROM notifications.notification AS o
                         WHERE o.account = w.account AND o.created_at >= \(limit)
                         ORDER BY o.created_at, o.id
                         LIMIT w.count)) AS n
            """)
    }

    /// Reads the oldest ones of accounts whose history would become longer than it may, as many as would be too many.
    func oldestNotifications(_ deliveries: [AccountID: Int32], limit: Int) -> Pending? {
        guard !deliveries.isEmpty else { return nil }
        let deliveries = deliveries.sorted { $0.key < $1.key }
        return query(
            """
            SELECT \(unescaped: Tables.notification.selection)
              FROM unnest(\(deliveries.map(\.key)), \(deliveries.map(\.value))) AS w(account, count)
              JOIN notifications.account AS a ON a.account = w.account
             CROSS JOIN LATERAL (SELECT o.*
                                   FROM notifications.notification AS o
                                  WHERE o.account = w.account
                                  ORDER BY o.created_at, o.id
                                  LIMIT greatest(a.total + w.count - \(Int64(limit)), 0)) AS n
            """)
    }

    func save(_ changes: WorkingSet<Place, NotificationsContract.Notification>.Changes) throws {
        // What went and came back under the same name in one batch is deleted and inserted: with it goes what became of
        // the old one.
        let back = changes.updated.filter { !$0.row.tellsTheSame(as: $0.before) }
        let marked = changes.updated.filter { $0.row.tellsTheSame(as: $0.before) }
        delete(changes.deleted + back.map(\.key), from: Tables.notification)
        try update(marked.map { ($0.key, $0.row) }, in: Tables.mark)
        try insert(changes.inserted + back.map { ($0.key, $0.row) }, into: Tables.notification)
    }
}

extension NotificationsContract.Notification {
    /// Whether only what became of it may differ.
    fileprivate func tellsTheSame(as other: Self) -> Bool {
        created == other.created && kind == other.kind && subject == other.subject && details == other.details
    }
}
