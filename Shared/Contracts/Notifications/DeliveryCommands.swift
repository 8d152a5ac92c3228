import QuartetContractSupport
package import QuartetVocabulary

/// Notifications that are delivered now.
package enum DeliveryCommand: MessageSet {
    case deliverNotification(DeliverNotification)
    case deliverHeldNotification(DeliverHeldNotification)

    package static let cases: Cases<Self> = [Case(Self.deliverNotification), Case(Self.deliverHeldNotification)]

    package var body: any CommandBody {
        switch self {
        case .deliverNotification(let body): body
        case .deliverHeldNotification(let body): body
        }
    }
}

/// Notifications that are delivered later.
package enum SchedulingCommand: MessageSet {
    case scheduleNotification(ScheduleNotification)
    case cancelNotification(CancelNotification)
    case scheduleReminder(ScheduleReminder)
    case cancelReminder(CancelReminder)
    case deliverScheduledNotification(DeliverScheduledNotification)

    package static let cases: Cases<Self> = [
        Case(Self.scheduleNotification), Case(Self.cancelNotification), Case(Self.scheduleReminder),
        Case(Self.cancelReminder), Case(Self.deliverScheduledNotification),
    ]

    package var body: any CommandBody {
        switch self {
        case .scheduleNotification(let body): body
        case .cancelNotification(let body): body
        case .scheduleReminder(let body): body
        case .cancelReminder(let body): body
        case .deliverScheduledNotification(let body): body
        }
    }
}

/// Notifies the asking account. A policy sends this on its behalf. A second command with the same id changes nothing,
/// so each cause gives one notification. If much the same was delivered shortly before, the notification is held back
/// for a moment, and only the newest one held back is delivered.
///
/// Result: ``NotificationDelivered``; nothing if it is held back.
package struct DeliverNotification: CommandBody, SometimesUrgent {
    /// Derived from the cause.
    package let id: NotificationID
    package let kind: NotificationKind
    /// The other account that it is about.
    package let subject: AccountID?
    package let details: NotificationDetails

    package static var urgentKinds: [String] { NotificationKind.allCases.filter(\.isOfAlarm).map(\.rawValue) }
    package var isUrgent: Bool { kind.isOfAlarm }

    package init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails = .none
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
    }

    package func validate() throws(Rejection) {
        try details.check()
    }
}

/// Notifies the asking account later. A second command with the same id changes nothing.
///
/// Rejected: `invalidField` (a time in the past or too far ahead), `limitReached`. Result: ``NotificationScheduled``.
package struct ScheduleNotification: CommandBody {
    /// The notification's id, too.
    package let id: NotificationID
    package let kind: NotificationKind
    /// The other account that it is about.
    package let subject: AccountID?
    package let details: NotificationDetails
    /// At most a year ahead.
    package let due: Instant

    package init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails = .none,
        due: Instant
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
        self.due = due
    }

    package func validate() throws(Rejection) {
        try details.check()
    }
}

/// Cancels a scheduled notification that hasn't been delivered. Without one it changes nothing.
///
/// Result: ``ScheduledNotificationCancelled``.
package struct CancelNotification: CommandBody {
    package let id: NotificationID

    package init(id: NotificationID) {
        self.id = id
    }
}

/// Delivers a scheduled notification when it is due. A timer sends this; it changes nothing if the notification was
/// cancelled or moved meanwhile.
///
/// Rejected: `notDue`. Result: ``NotificationDelivered``.
package struct DeliverScheduledNotification: OwnCommandBody {
    package let account: AccountID
    package let id: NotificationID
    /// The time that the timer was set for.
    package let due: Instant

    package init(account: AccountID, id: NotificationID, due: Instant) {
        self.account = account
        self.id = id
        self.due = due
    }
}

/// Delivers a held notification when it is due. A timer sends this; it changes nothing if none is held until that time
/// any more.
///
/// Rejected: `notDue`. Result: ``NotificationDelivered``.
package struct DeliverHeldNotification: OwnCommandBody {
    package let account: AccountID
    /// The limit that held it back.
    package let pace: String
    /// The time that the timer was set for.
    package let due: Instant

    package init(account: AccountID, pace: String, due: Instant) {
        self.account = account
        self.pace = pace
        self.due = due
    }
}

extension NotificationDetails {
    /// - Throws: `invalidField` if a text is too long or misleading, or a number is negative.
    func check() throws(Rejection) {
        if let text { try TextRule(0...200).check(text, field: "details.text") }
        if let count, count < 0 {
            throw Rejection(.invalidField, "Give a count of 0 or more.", field: "details.count")
        }
    }
}
