import Foundation
import Postgres
import QuartetAPI
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// Not Foundation's.
/// The notifications' history, in pages; each notification; and what is still to come.
struct History: Sendable {
    let pool: Pool

    private static let columns =
        "n.id, n.kind, n.subject, n.details, n.created_at, n.read_at, n.cleared_at, n.answered_at"

    /// Where a page ends. Opaque to apps.
    private struct Cursor {
        let created: Instant
        let id: NotificationID

        init(after notification: QuartetNotification) {
            (created, id) = (notification.created, notification.id)
        }

        /// - Throws: `invalidCursor` for what this server never gave.
        init(_ text: String) throws(APIError) {
            let parts = text.split(separator: "-", maxSplits: 1)
            guard parts.count == 2, let created = Int64(parts[0]), created > 0, created < 1 << 56,
                let id = NotificationID(String(parts[1]))
            else {
                throw APIError(.invalidCursor, "before must be the `next` of an earlier page.", field: "before")
            }
            (self.created, self.id) = (Instant(microseconds: created), id)
        }

        var text: String { "\(created.microseconds)-\(id)" }
    }

    func get(_ id: NotificationID, by caller: Caller) async throws -> QuartetNotification {
        let account = caller.account
        let found = try await pool.withConnection { database in
            try database.query(
                """
                SELECT \(unescaped: Self.columns)
                  FROM notifications.notification AS n
                 WHERE n.account = \(account) AND n.id = \(id)
                """
            ).only.map { try QuartetNotification($0) }
        }
        guard let found else {
            throw APIError(.notFound, "You have no such notification.", field: "id")
        }
        return found
    }

    /// At most as many as may be open.
    func reminders(of caller: Caller) async throws -> RemindersReply {
        let account = caller.account
        let rows = try await pool.withConnection { database in
            try database.query(
                """
                SELECT r.id, r.kind, r.subject, r.details, r.due_at
                  FROM notifications.reminder AS r
                 WHERE r.account = \(account)
                 ORDER BY r.due_at, r.id
                """
            ).map { try ScheduledNotification($0) }
        }
        return RemindersReply(reminders: rows)
    }

    func list(_ query: NotificationsQuery, by caller: Caller) async throws -> NotificationsPage {
        let account = caller.account
        let (limit, category, isUnread) = (query.limit, query.category, query.isUnread)
        let before = try query.before.map { text throws(APIError) in try Cursor(text) }
        let (unread, rows) = try await pool.withConnection { database in
            try database.transaction(isolation: .repeatableRead, readOnly: true) { database in
                let unread =
                    try database.query("SELECT u.unread FROM notifications.unread AS u WHERE u.account = \(account)")
                    .only?.decode(0, as: Int32.self) ?? 0
                // Without a cursor from after the last one that there can be.
                let rows = try database.query(
                    """
                    SELECT \(unescaped: Self.columns)
                      FROM notifications.notification AS n
                     WHERE n.account = \(account)
                       AND (n.created_at, n.id) < (\(before?.created ?? .distant), \(before?.id ?? .last))
                       AND (\(category?.rawValue)::text IS NULL OR n.category = \(category?.rawValue))
                       AND (NOT \(isUnread) OR (n.read_at IS NULL AND n.cleared_at IS NULL))
                     ORDER BY n.created_at DESC, n.id DESC
                     LIMIT \(Int64(limit + 1))
                    """
                ).map { try QuartetNotification($0) }
                return (Int(unread), rows)
            }
        }
        let notifications = Array(rows.prefix(limit))
        return NotificationsPage(
            unread: unread, notifications: notifications,
            next: rows.count > limit ? notifications.last.map { Cursor(after: $0).text } : nil)
    }
}

extension Instant {
    /// After everything that was ever recorded.
    fileprivate static let distant = Instant(microseconds: 1 << 56)
}

extension ID {
    /// The last one in their order.
    fileprivate static var last: Self { Self(high: .max, low: .max) }
}

extension Row {
    /// - Throws: for a kind that this build doesn't know.
    fileprivate func kind(_ column: Int) throws -> NotificationKind {
        let name = try decode(column, as: String.self)
        guard let kind = NotificationKind(rawValue: name) else {
            throw PostgresError.decoding(column: "kind", reason: "the kind \(name) is unknown")
        }
        return kind
    }

    fileprivate func details(_ column: Int) throws -> NotificationDetails {
        try JSONDecoder().decode(NotificationDetails.self, from: Data(try decode(column, as: JSON.self).bytes))
    }
}

extension ScheduledNotification {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.decode(0, as: NotificationID.self), kind: try row.kind(1),
            subject: try row.decode(2, as: AccountID?.self), details: try row.details(3),
            due: try row.decode(4, as: Instant.self))
    }
}

extension QuartetNotification {
    fileprivate init(_ row: Row) throws {
        self.init(
            id: try row.decode(0, as: NotificationID.self), kind: try row.kind(1),
            subject: try row.decode(2, as: AccountID?.self), details: try row.details(3),
            created: try row.decode(4, as: Instant.self), read: try row.decode(5, as: Instant?.self),
            cleared: try row.decode(6, as: Instant?.self), answered: try row.decode(7, as: Instant?.self))
    }
}
