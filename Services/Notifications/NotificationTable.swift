import NotificationsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on notifications.notification.

extension Pipeline {
    private static let columns = "n.account, n.id, n.kind, n.subject, n.details, n.created_at, n.read_at, n.cleared_at"

    /// Reads notifications by name.
    func notifications(_ places: Set<Place>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT \(unescaped: Self.columns)
              FROM unnest(\(places.map(\.account)), \(places.map(\.id))) AS w(account, id)
              JOIN notifications.notification AS n ON n.account = w.account AND n.id = w.id
            """)
    }

    /// Reads everything of accounts that can be read or cleared.
    func unclearedNotifications(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Self.columns)
              FROM notifications.notification AS n
             WHERE n.account = ANY (\(accounts.sorted())) AND n.cleared_at IS NULL
            """)
    }

    /// Reads everything of accounts.
    func allNotifications(of accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Self.columns)
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
            SELECT \(unescaped: Self.columns)
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
            SELECT \(unescaped: Self.columns)
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
        // What went and came back under the same name in one batch is deleted and inserted.
        let back = changes.updated.filter { !$0.row.tellsTheSame(as: $0.before) }
        let deleted = changes.deleted + back.map(\.key)
        if !deleted.isEmpty {
            query(
                """
                DELETE FROM notifications.notification AS n
                 USING unnest(\(deleted.map(\.account)), \(deleted.map(\.id))) AS u(account, id)
                 WHERE n.account = u.account AND n.id = u.id
                """)
        }
        let rows = changes.inserted + back.map { ($0.key, $0.row) }
        if !rows.isEmpty {
            query(
                """
                INSERT INTO notifications.notification
                       (account, id, kind, category, pace, subject, details, created_at, read_at, cleared_at)
                SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.id)), \(rows.map(\.row.kind.rawValue)),
                                     \(rows.map(\.row.kind.category.rawValue)), \(rows.map(\.row.pace?.name)), \(rows.map(\.row.subject)),
                                     \(try rows.map { try $0.row.details.stored }), \(rows.map(\.row.created)),
                                     \(rows.map(\.row.read)), \(rows.map(\.row.cleared)))
                """)
        }
        let marked = changes.updated.filter { $0.row.tellsTheSame(as: $0.before) }
        if !marked.isEmpty {
            query(
                """
                UPDATE notifications.notification AS n
                   SET read_at = u.read_at, cleared_at = u.cleared_at
                  FROM unnest(\(marked.map(\.key.account)), \(marked.map(\.key.id)), \(marked.map(\.row.read)),
                              \(marked.map(\.row.cleared))) AS u(account, id, read_at, cleared_at)
                 WHERE n.account = u.account AND n.id = u.id
                """)
        }
    }
}

extension Row {
    func notification() throws -> NotificationsContract.Notification {
        let (_, id, kind, subject, details, created, read, cleared) = try decode(
            AccountID.self, NotificationID.self, String.self, AccountID?.self, JSON.self, Instant.self, Instant?.self,
            Instant?.self)
        return NotificationsContract.Notification(
            id: id, kind: try .init(stored: kind), subject: subject, details: try .init(stored: details),
            created: created, read: read, cleared: cleared)
    }
}

extension NotificationsContract.Notification {
    /// Whether only what became of it may differ.
    fileprivate func tellsTheSame(as other: Self) -> Bool {
        created == other.created && kind == other.kind && subject == other.subject && details == other.details
    }
}
