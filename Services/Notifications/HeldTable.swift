import NotificationsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on notifications.held, and on what was told at the same pace.

extension Pipeline {
    /// Reads the newest notifications at each pace, as many as are delivered at once.
    func newestNotifications(of places: Set<PacePlace>) -> Pending? {
        guard !places.isEmpty else { return nil }
        let places = places.sorted()
        return query(
            """
            SELECT n.account, n.id, n.kind, n.subject, n.details, n.created_at, n.read_at, n.cleared_at
              FROM unnest(\(places.map(\.account)), \(places.map(\.pace.name))) AS w(account, pace)
             CROSS JOIN LATERAL (SELECT o.*
                                   FROM notifications.notification AS o
                                  WHERE o.account = w.account AND o.pace = w.pace
                                  ORDER BY o.created_at DESC
                                  LIMIT (SELECT l.told_at_once FROM notifications.limits AS l WHERE l.only_row)) AS n
            """)
    }

    /// Reads what was delivered already of what is held back for accounts.
    func deliveredOfHeld(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT n.account, n.id, n.kind, n.subject, n.details, n.created_at, n.read_at, n.cleared_at
              FROM notifications.held AS h
              JOIN notifications.notification AS n ON n.account = h.account AND n.id = h.id
             WHERE h.account = ANY (\(accounts.sorted()))
            """)
    }

    func held(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT h.account, h.id, h.kind, h.subject, h.details, h.due_at, h.pace
              FROM notifications.held AS h
             WHERE h.account = ANY (\(accounts.sorted()))
            """)
    }

    func save(_ changes: WorkingSet<PacePlace, ScheduledNotification>.Changes) throws {
        let deleted = changes.deleted
        if !deleted.isEmpty {
            query(
                """
                DELETE FROM notifications.held AS h
                 USING unnest(\(deleted.map(\.account)), \(deleted.map(\.pace.name))) AS u(account, pace)
                 WHERE h.account = u.account AND h.pace = u.pace
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.held (account, pace, id, kind, subject, details, due_at)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.pace.name)), \(rows.map(\.row.id)),
                                 \(rows.map(\.row.kind.rawValue)), \(rows.map(\.row.subject)),
                                 \(try rows.map { try $0.row.details.stored }), \(rows.map(\.row.due)))
            ON CONFLICT (account, pace) DO UPDATE
               SET id = excluded.id, kind = excluded.kind, subject = excluded.subject, details = excluded.details,
                   due_at = excluded.due_at
            """)
    }
}

extension Row {
    /// From the first six columns.
    func scheduledNotification() throws -> ScheduledNotification {
        ScheduledNotification(
            id: try decode(1, as: NotificationID.self), kind: try .init(stored: try decode(2, as: String.self)),
            subject: try decode(3, as: AccountID?.self), details: try .init(stored: try decode(4, as: JSON.self)),
            due: try decode(5, as: Instant.self))
    }
}
