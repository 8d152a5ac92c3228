import ContractSupport
public import Vocabulary

/// What an account is notified of.
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

/// What an account is notified of at a later time.
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

/// Tells the asker something. Sent by a policy on behalf of whom it tells. The same id again changes nothing, so each
/// cause is told once. After much of the same in a short time it is held back for a moment, and only the newest of what is
/// held back is told.
///
/// Result: ``NotificationDelivered``; nothing if it is held back.
public struct DeliverNotification: CommandBody {
    /// Its name, made from what caused it.
    public let id: NotificationID
    /// What it says.
    public let kind: NotificationKind
    /// The other account that it is about.
    public let subject: AccountID?
    /// What else it says.
    public let details: NotificationDetails

    /// Its parameters are the properties of the same names.
    public init(
        id: NotificationID, kind: NotificationKind, subject: AccountID? = nil, details: NotificationDetails = .none
    ) {
        self.id = id
        self.kind = kind
        self.subject = subject
        self.details = details
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        try details.check()
    }
}

/// Tells the asker something later. The same id again changes nothing.
///
/// Rejected: `invalidField` (a time in the past or too far ahead), `limitReached`. Result: ``NotificationScheduled``.
public struct ScheduleNotification: CommandBody {
    /// Its name, and the notification's.
    public let id: NotificationID
    /// What it will say.
    public let kind: NotificationKind
    /// The other account that it is about.
    public let subject: AccountID?
    /// What else it will say.
    public let details: NotificationDetails
    /// When; at most a year ahead.
    public let due: Instant

    /// Its parameters are the properties of the same names.
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

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        try details.check()
    }
}

/// Takes back what was scheduled and not delivered yet. Without it, it changes nothing.
///
/// Result: ``ScheduledNotificationCancelled``.
public struct CancelNotification: CommandBody {
    /// The name under which it was scheduled.
    public let id: NotificationID

    /// Its parameters are the properties of the same names.
    public init(id: NotificationID) {
        self.id = id
    }
}

/// Delivers what was scheduled, when it is due. Sent by a timer; when it was cancelled meanwhile or is due at another
/// time now, it changes nothing.
///
/// Rejected: `notDue`. Result: ``NotificationDelivered``.
public struct DeliverScheduledNotification: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// The name under which it was scheduled.
    public let id: NotificationID
    /// For when it was scheduled.
    public let due: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, id: NotificationID, due: Instant) {
        self.account = account
        self.id = id
        self.due = due
    }
}

/// Delivers what was held back, when it is due. Sent by a timer; when nothing is held back any more, or until another time,
/// it changes nothing.
///
/// Rejected: `notDue`. Result: ``NotificationDelivered``.
public struct DeliverHeldNotification: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// What it is held back together with.
    public let pace: String
    /// Until when it was held back.
    public let due: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, pace: String, due: Instant) {
        self.account = account
        self.pace = pace
        self.due = due
    }
}

extension NotificationDetails {
    /// - Throws: `invalidField` when a text is too long or misleads, or a number is negative.
    func check() throws(Rejection) {
        if let text { try TextRule(0...200).check(text, field: "details.text") }
        if let count, count < 0 {
            throw Rejection(.invalidField, "Give a count of 0 or more.", field: "details.count")
        }
    }
}
