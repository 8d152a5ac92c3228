import NotificationsContract
import Postgres
import Vocabulary
import WorkingSet

// The statements on notifications.account and notifications.scheduled.

extension Pipeline {
    /// As ``Row/account()`` reads them.
    private static let columns = "a.account, a.unread, a.total, a.forget_at, a.closed_at"

    /// Reads the accounts that come after one, in the order of their ids.
    func accounts(after account: AccountID?, limit: Int64) -> Pending {
        query(
            """
            SELECT \(unescaped: Self.columns)
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
            SELECT \(unescaped: Self.columns)
              FROM notifications.account AS a
             WHERE a.account = ANY (\(accounts.sorted()))
             ORDER BY a.account
               FOR NO KEY UPDATE
            """)
    }

    func save(_ changes: WorkingSet<AccountID, AccountRow>.Changes) {
        if !changes.inserted.isEmpty {
            let rows = changes.inserted
            query(
                """
                INSERT INTO notifications.account (account, unread, total, forget_at, closed_at)
                SELECT * FROM unnest(\(rows.map(\.key)), \(rows.map { Int32($0.row.unread) }),
                                     \(rows.map { Int32($0.row.total) }), \(rows.map(\.row.forgetting)),
                                     \(rows.map(\.row.closed)))
                """)
        }
        if !changes.updated.isEmpty {
            let rows = changes.updated
            query(
                """
                UPDATE notifications.account AS a
                   SET unread = u.unread, total = u.total, forget_at = u.forget_at, closed_at = u.closed_at
                  FROM unnest(\(rows.map(\.key)), \(rows.map { Int32($0.row.unread) }), \(rows.map { Int32($0.row.total) }),
                              \(rows.map(\.row.forgetting)), \(rows.map(\.row.closed)))
                       AS u(account, unread, total, forget_at, closed_at)
                 WHERE a.account = u.account
                """)
        }
    }

    func scheduled(for accounts: Set<AccountID>) -> Pending? {
        guard !accounts.isEmpty else { return nil }
        return query(
            """
            SELECT s.account, s.id, s.kind, s.subject, s.details, s.due_at
              FROM notifications.scheduled AS s
             WHERE s.account = ANY (\(accounts.sorted()))
            """)
    }

    func save(_ changes: WorkingSet<Place, ScheduledNotification>.Changes) throws {
        // What was cancelled and scheduled anew in one batch is deleted and inserted.
        let deleted = changes.deleted + changes.updated.map(\.key)
        if !deleted.isEmpty {
            query(
                """
                DELETE FROM notifications.scheduled AS s
                 USING unnest(\(deleted.map(\.account)), \(deleted.map(\.id))) AS u(account, id)
                 WHERE s.account = u.account AND s.id = u.id
                """)
        }
        let rows = changes.inserted + changes.updated.map { ($0.key, $0.row) }
        guard !rows.isEmpty else { return }
        query(
            """
            INSERT INTO notifications.scheduled (account, id, kind, subject, details, due_at)
            SELECT * FROM unnest(\(rows.map(\.key.account)), \(rows.map(\.key.id)), \(rows.map(\.row.kind.rawValue)),
                                 \(rows.map(\.row.subject)), \(try rows.map { try $0.row.details.stored }),
                                 \(rows.map(\.row.due)))
            """)
    }
}

extension Row {
    func account() throws -> (AccountID, AccountRow) {
        let (account, unread, total, forgetting, closed) = try decode(
            AccountID.self, Int32.self, Int32.self, Instant?.self, Instant?.self)
        return (account, AccountRow(unread: Int(unread), total: Int(total), forgetting: forgetting, closed: closed))
    }

    func scheduled() throws -> (Place, ScheduledNotification) {
        let (account, id, kind, subject, details, due) = try decode(
            AccountID.self, NotificationID.self, String.self, AccountID?.self, JSON.self, Instant.self)
        return (
            Place(account, id),
            ScheduledNotification(
                id: id, kind: try .init(stored: kind), subject: subject, details: try .init(stored: details), due: due)
        )
    }
}
