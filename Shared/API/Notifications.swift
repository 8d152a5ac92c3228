public import QuartetNotificationsContract

/// `GET /v1/notifications`.
public struct NotificationsQuery: Hashable, Sendable {
    public static let limits = 1...200

    public let limit: Int
    public let category: NotificationCategory?
    public let isUnread: Bool
    /// An earlier page's ``NotificationsPage/next``.
    public let before: String?

    public init(
        limit: Int? = nil, category: NotificationCategory? = nil, isUnread: Bool = false, before: String? = nil
    ) {
        self.limit = limit ?? 50
        self.category = category
        self.isUnread = isUnread
        self.before = before
    }
}

/// Notifications, newest first. A page stays what it is while new ones arrive.
public struct NotificationsPage: Codable, Hashable, Sendable {
    public let unread: Int
    public let notifications: [QuartetNotification]
    /// What to ask for the next page with, as `before`; none on the last one.
    public let next: String?

    package init(unread: Int, notifications: [QuartetNotification], next: String?) {
        self.unread = unread
        self.notifications = notifications
        self.next = next
    }
}
