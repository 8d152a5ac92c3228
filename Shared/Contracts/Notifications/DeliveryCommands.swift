import ContractSupport
public import Vocabulary

/// Notifications that are delivered now.
public enum DeliveryCommand: MessageSet {
    case deliverNotification(DeliverNotification)
    case deliverHeldNotification(DeliverHeldNotification)

    public static let cases: Cases<Self> = [Case(Self.deliverNotification), Case(Self.deliverHeldNotification)]

    public var body: any CommandBody {
        switch self {
        case .deliverNotification(let body): body
        case .deliverHeldNotification(let body): body
        }
    }
}

/// Notifications that are delivered later.
public enum SchedulingCommand: MessageSet {
    case scheduleNotification(ScheduleNotification)
    case cancelNotification(CancelNotification)
    case deliverScheduledNotification(DeliverScheduledNotification)

    public static let cases: Cases<Self> = [
        Case(Self.scheduleNotification), Case(Self.cancelNotification), Case(Self.deliverScheduledNotification),
    ]

    public var body: any CommandBody {
        switch self {
        case .scheduleNotification(let body): body
        case .cancelNotification(let body): body
        case .deliverScheduledNotification(let body): body
        }
    }
}

/// Notifies the asking account. A policy sends this on its behalf. A second command with the same id changes nothing,
/// so each cause gives one notification. If much the same was delivered shortly before, the notification is held back
/// for a moment, and only the newest one held back is delivered.
///
/// Result: ``NotificationDelivered``; nothing if it is held back.
public struct DeliverNotification: CommandBody, SometimesUrgent {
    /// Derived from the cause.
    public let id: NotificationID
    public let kind: NotificationKind
    /// The other account that it is about.
    public let subject: AccountID?
    public let details: NotificationDetails

    public static var urgentKinds: [String] { NotificationKind.allCases.filter(\.isOfAlarm).map(\.rawValue) }
    public var isUrgent: Bool { kind.isOfAlarm }

    public init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails = .none
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
    }

    public func validate() throws(Rejection) {
        try details.check()
    }
}

/// Notifies the asking account later. A second command with the same id changes nothing.
///
/// Rejected: `invalidField` (a time in the past or too far ahead), `limitReached`. Result: ``NotificationScheduled``.
public struct ScheduleNotification: CommandBody {
    /// The notification's id, too.
    public let id: NotificationID
    public let kind: NotificationKind
    /// The other account that it is about.
    public let subject: AccountID?
    public let details: NotificationDetails
    /// At most a year ahead.
    public let due: Instant

    public init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails = .none,
        due: Instant
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
        self.due = due
    }

    public func validate() throws(Rejection) {
        try details.check()
    }
}

/// Cancels a scheduled notification that hasn't been delivered. Without one it changes nothing.
///
/// Result: ``ScheduledNotificationCancelled``.
public struct CancelNotification: CommandBody {
    public let id: NotificationID

    public init(id: NotificationID) {
        self.id = id
    }
}

/// Delivers a scheduled notification when it is due. A timer sends this; it changes nothing if the notification was
/// cancelled or moved meanwhile.
///
/// Rejected: `notDue`. Result: ``NotificationDelivered``.
public struct DeliverScheduledNotification: OwnCommandBody {
    public let account: AccountID
    public let id: NotificationID
    /// The time that the timer was set for.
    public let due: Instant

    public init(account: AccountID, id: NotificationID, due: Instant) {
        self.account = account
        self.id = id
        self.due = due
    }
}

/// Delivers a held notification when it is due. A timer sends this; it changes nothing if none is held until that time
/// any more.
///
/// Rejected: `notDue`. Result: ``NotificationDelivered``.
public struct DeliverHeldNotification: OwnCommandBody {
    public let account: AccountID
    /// The limit that held it back.
    public let pace: String
    /// The time that the timer was set for.
    public let due: Instant

    public init(account: AccountID, pace: String, due: Instant) {
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
