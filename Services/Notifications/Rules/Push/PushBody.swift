package import NotificationsContract
package import Vocabulary

/// What ``PushID`` identifies.
package enum PushSubject {}

/// One notification on its way to one device: the same each time it is sent, so that who hands it on can tell.
package typealias PushID = ID<PushSubject>

/// What a push says of a notification: what it says itself, and what follows from its kind, for who doesn't know the
/// kinds.
package struct PushedNotification: Codable, Hashable, Sendable {
    /// The notification's name.
    package let id: NotificationID
    /// What it says.
    package let kind: NotificationKind
    /// How urgent it is.
    package let priority: NotificationPriority
    /// Where it belongs.
    package let category: NotificationCategory
    /// The other account that it is about.
    package let subject: AccountID?
    /// What else it says.
    package let details: NotificationDetails
    /// When it was delivered.
    package let created: Instant

    init(_ notification: Notification) {
        id = notification.id
        kind = notification.kind
        priority = notification.kind.priority
        category = notification.kind.category
        subject = notification.subject
        details = notification.details
        created = notification.created
    }
}

/// What is known of a push when its notification is delivered, and kept until it is sent: all but where to.
package struct PushBody: Codable, Hashable, Sendable {
    /// The same each time it is sent.
    package let id: PushID
    /// What is told.
    package let notification: PushedNotification
    /// How many notifications are unread after it.
    package let unread: Int

    init(_ notification: Notification, to device: PushDeviceID, unread: Int) {
        id = .derived(
            at: notification.created, from: Array("push".utf8), notification.id.bytes, device.bytes)
        self.notification = PushedNotification(notification)
        self.unread = unread
    }
}
