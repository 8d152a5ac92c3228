package import QuartetNotificationsContract
package import QuartetVocabulary

package enum PushSubject {}

/// A notification on its way to one device. The same for every attempt, so that receivers can drop duplicates.
package typealias PushID = ID<PushSubject>

/// A notification as it is pushed: with what follows from its kind, for receivers that don't know the kinds.
package struct PushedNotification: Codable, Hashable, Sendable {
    package let id: NotificationID
    package let kind: NotificationKind
    package var priority: NotificationPriority
    package let category: NotificationCategory
    /// The other account that it is about.
    package let subject: AccountID?
    package let details: NotificationDetails
    package let created: Instant

    init(_ notification: QuartetNotification) {
        id = notification.id
        kind = notification.kind
        priority = notification.kind.priority
        category = notification.kind.category
        subject = notification.subject
        // What somebody wrote for their own eyes passes no push service, and lies on no locked screen.
        details = notification.details.withoutReminder
        created = notification.created
    }
}

/// What is known about a push when its notification is delivered: everything but the device's token.
package struct PushBody: Codable, Hashable, Sendable {
    /// The same for every attempt.
    package let id: PushID
    package var notification: PushedNotification
    /// How many notifications are unread, including this one. A test says nothing of it.
    package let unread: Int?
    /// True for a test, which an operator's function adds (`notifications.send_test_push`): its notification is in no history.
    package let isTest: Bool?

    init(_ notification: QuartetNotification, to device: PushDeviceID, unread: Int) {
        id = .derived(
            at: notification.created, from: Array("push".utf8), notification.id.bytes, device.bytes)
        self.notification = PushedNotification(notification)
        self.unread = unread
        isTest = nil
    }
}
