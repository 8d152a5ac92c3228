public import QuartetContractSupport
public import QuartetVocabulary

/// Has the account reminded of something at a time, by a notification with this text. A second command with the id of one that is
/// open, or that was delivered, changes nothing.
///
/// Rejected: `invalidField` (a text that is empty, longer than 200 characters or misleading; a time that was past when it was asked for or
/// is more than 366 days ahead; an id that isn't a new one), `limitReached` at 100 open ones, or if more than 30 would come within 24 hours.
/// Result: ``NotificationScheduled``.
public struct ScheduleReminder: PublicCommandBody {
    public static let sending = Sending(.notifications)
    /// Asked for again after an outage, it would be refused for a time that has passed meanwhile. No longer than retention keeps `secrets`: a
    /// command without its text can't be done.
    public static let validity: Interval = .hours(1)

    /// The notification's id, too: a new one (version 7), so that it is never that of a notification of something else.
    public let id: NotificationID
    public let text: String
    public let due: Instant

    public init(id: NotificationID = .new(), text: String, due: Instant) {
        self.id = id
        self.text = text
        self.due = due
    }

    public func validate() throws(Rejection) {
        guard id.version == 7 else {
            throw Rejection(.invalidField, "Give a new id, a UUID of version 7.", field: "id")
        }
        try Self.textRule.check(text, field: "text")
    }

    public static let textRule = TextRule(1...200)

    /// As it is shown until it is due.
    package var scheduled: ScheduledNotification {
        ScheduledNotification(
            id: id, kind: .system, details: NotificationDetails(reminder: text), due: due)
    }
}

/// Takes back a reminder that wasn't delivered yet. Without one it changes nothing.
///
/// Result: ``ScheduledNotificationCancelled``.
public struct CancelReminder: PublicCommandBody {
    public static let sending = Sending(.notifications)
    /// As long as that of what it takes back and may wait behind.
    public static let validity = ScheduleReminder.validity

    public let id: NotificationID

    public init(id: NotificationID) {
        self.id = id
    }
}
