public import Vocabulary

/// Check-ins, their deadlines and reminders.
public enum CheckInCommand: MessageSet {
    case checkIn(CheckIn)
    case setCheckInInterval(SetCheckInInterval)
    case setCheckInReminders(SetCheckInReminders)
    case setCheckInGrace(SetCheckInGrace)
    case missCheckIn(MissCheckIn)
    case remindCheckIn(RemindCheckIn)

    public static let cases: Cases<Self> = [
        Case(Self.checkIn), Case(Self.setCheckInInterval), Case(Self.setCheckInReminders),
        Case(Self.setCheckInGrace), Case(Self.missCheckIn), Case(Self.remindCheckIn),
    ]

    public var body: any CommandBody {
        switch self {
        case .checkIn(let body): body
        case .setCheckInInterval(let body): body
        case .setCheckInReminders(let body): body
        case .setCheckInGrace(let body): body
        case .missCheckIn(let body): body
        case .remindCheckIn(let body): body
        }
    }
}

/// Says "I'm all right". Restarts the timer and ends a missed check-in's alarm.
///
/// Rejected: `tooSoon`, with the time left, within 5 minutes of the last one (operators can change this). Result:
/// ``CheckedIn``.
public struct CheckIn: PublicCommandBody {
    /// "I'm all right" is about now: later, it would put off an alarm that is due.
    public static let sending = Sending(.checkIn, for: .minutes(5), supersedes: ["CheckIn"])
    public static let urgentFamily = UrgentFamily.checkIn

    public init() {}
}

/// Sets how often to check in.
///
/// The new deadline is one interval after the last check-in, or after the account was opened; if that has passed, one
/// interval from now. A missed check-in stays missed. Result: ``CheckInIntervalSet``; nothing if nothing changes.
public struct SetCheckInInterval: PublicCommandBody {
    public static let sending = Sending(.checkInSettings, supersedes: ["SetCheckInInterval"])

    /// At most 7 days, and at least what operators allow: 1 hour by default.
    public let interval: Interval

    public init(interval: Interval) {
        self.interval = interval
    }

    public func validate() throws(Rejection) {
        guard CheckInRules.intervals.contains(interval) else {
            throw Rejection(.invalidField, "Choose an interval of at most 7 days.", field: "interval")
        }
    }
}

/// Sets which reminders come before the deadline.
///
/// Result: ``CheckInRemindersSet``; nothing if nothing changes.
public struct SetCheckInReminders: PublicCommandBody {
    public static let sending = Sending(.checkInSettings, supersedes: ["SetCheckInReminders"])

    /// Without duplicates. Empty for none.
    public let reminders: [ReminderLead]

    public init(reminders: [ReminderLead]) {
        self.reminders = reminders
    }

    public func validate() throws(Rejection) {
        guard Set(reminders).count == reminders.count else {
            throw Rejection(.invalidField, "Name each reminder once.", field: "reminders")
        }
    }
}

/// Sets how long after a deadline others hear that it was missed. Until then only the person is told, and a check-in ends it
/// without anybody's notice.
///
/// A deadline that has passed keeps the grace that it had. Result: ``CheckInGraceSet``, after ``CheckInGraceBegan`` if a grace
/// should have begun by now; nothing if nothing changes.
public struct SetCheckInGrace: PublicCommandBody {
    public static let sending = Sending(.checkInSettings, supersedes: ["SetCheckInGrace"])

    /// At most an hour; zero for none.
    public let grace: Interval

    public init(grace: Interval) {
        self.grace = grace
    }

    public func validate() throws(Rejection) {
        guard CheckInRules.graces.contains(grace) else {
            throw Rejection(.invalidField, "Choose a grace of at most 60 minutes.", field: "grace")
        }
    }
}

/// Marks a deadline as passed: begins its grace, or if there is none, or it is over, the alarm. A timer sends this; it changes
/// nothing if the deadline has moved.
///
/// Rejected: `notDue`. Result: ``CheckInGraceBegan`` or ``CheckInMissed``.
public struct MissCheckIn: OwnCommandBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The deadline that the timer was set for.
    public let deadline: Instant

    public init(account: AccountID, deadline: Instant) {
        self.account = account
        self.deadline = deadline
    }
}

/// Reminds of a deadline. A timer sends this; it changes nothing if the deadline has moved or passed, or if a shorter
/// reminder is due, too.
///
/// Rejected: `notDue`. Result: ``CheckInReminded``.
public struct RemindCheckIn: OwnCommandBody {
    public let account: AccountID
    /// The deadline that the timer was set for.
    public let deadline: Instant
    public let lead: ReminderLead

    public init(account: AccountID, deadline: Instant, lead: ReminderLead) {
        self.account = account
        self.deadline = deadline
        self.lead = lead
    }
}

/// The limits that a sender can know beforehand.
public enum CheckInRules {
    /// Operators set a higher minimum, except in development.
    public static let intervals: ClosedRange<Interval> = .seconds(1)...(.days(7))
    public static let defaultInterval: Interval = .hours(24)
    public static let graces: ClosedRange<Interval> = .seconds(0)...(.minutes(60))
}
