import Foundation
import HTTPTypes
import Hummingbird
import NotificationsContract
import Postgres
import SessionContract
import Vocabulary

/// Not Foundation's.
private typealias Notification = NotificationsContract.Notification

/// `GET /v1/notifications`: the history, newest first, in pages that stay as they are while new ones arrive; and each one.
struct History: Sendable {
    let pool: Pool

    private static let columns = "n.id, n.kind, n.subject, n.details, n.created_at, n.read_at, n.cleared_at"

    private struct Page: Encodable {
        let unread: Int
        let notifications: [Notification]
        /// What to ask for the next page with, as `before`; none on the last one.
        let next: String?
    }

    /// Where a page ends. Opaque to apps.
    private struct Cursor {
        let created: Instant
        let id: NotificationID

        init(after notification: Notification) {
            (created, id) = (notification.created, notification.id)
        }

        /// - Throws: ``Problem`` for what this server never gave.
        init(_ text: String) throws(Problem) {
            let parts = text.split(separator: "-", maxSplits: 1)
            guard parts.count == 2, let created = Int64(parts[0]), created > 0, created < 1 << 56,
                let id = NotificationID(String(parts[1]))
            else {
                throw Problem(
                    .badRequest, "invalidCursor", "before must be the next of an earlier page", field: "before")
            }
            (self.created, self.id) = (Instant(microseconds: created), id)
        }

        var text: String { "\(created.microseconds)-\(id)" }
    }

    func get(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let account = try context.requireCaller().account
        let id = try context.id("id", as: NotificationSubject.self)
        let found = try await pool.withConnection { database in
            try database.query(
                """
                SELECT \(unescaped: Self.columns)
                  FROM notifications.notification AS n
                 WHERE n.account = \(account) AND n.id = \(id)
                """
            ).only.map { try Notification($0) }
        }
        guard let found else {
            throw Problem(.notFound, "notFound", "there is no such notification of yours", field: "id")
        }
        return try .json(found)
    }

    func list(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let account = try context.requireCaller().account
        let limit = try request.number("limit", in: 1...200) ?? 50
        let category = try request.choice("category", of: NotificationCategory.self)
        let isUnread = try request.choice("unread", of: YesOrNo.self) == .yes
        let before = try request.uri.queryParameters["before"].map { try Cursor(String($0)) }

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
                ).map { try Notification($0) }
                return (Int(unread), rows)
            }
        }
        let page = Array(rows.prefix(limit))
        return try .json(
            Page(
                unread: unread, notifications: page,
                next: rows.count > limit ? page.last.map { Cursor(after: $0).text } : nil))
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

extension Notification {
    fileprivate init(_ row: Row) throws {
        let kind = try row.decode(1, as: String.self)
        guard let kind = NotificationKind(rawValue: kind) else {
            throw PostgresError.decoding(column: "kind", reason: "nobody here knows the kind \(kind)")
        }
        self.init(
            id: try row.decode(0, as: NotificationID.self), kind: kind, subject: try row.decode(2, as: AccountID?.self),
            details: try JSONDecoder().decode(
                NotificationDetails.self, from: Data(try row.decode(3, as: JSON.self).bytes)),
            created: try row.decode(4, as: Instant.self), read: try row.decode(5, as: Instant?.self),
            cleared: try row.decode(6, as: Instant?.self))
    }
}
