public import Vocabulary

/// Check-ins, their deadlines and reminders.
public enum CheckInCommand: MessageSet {
    case checkIn(CheckIn)
    case setCheckInInterval(SetCheckInInterval)
    case setCheckInReminders(SetCheckInReminders)
    case missCheckIn(MissCheckIn)
    case remindCheckIn(RemindCheckIn)

    public static let cases: Cases<Self> = [
        Case(Self.checkIn), Case(Self.setCheckInInterval), Case(Self.setCheckInReminders), Case(Self.missCheckIn),
        Case(Self.remindCheckIn),
    ]

    public var body: any CommandBody {
        switch self {
        case .checkIn(let body): body
        case .setCheckInInterval(let body): body
        case .setCheckInReminders(let body): body
        case .missCheckIn(let body): body
        case .remindCheckIn(let body): body
        }
    }
}

/// Alerts, and the repetition of alarms.
public enum AlertCommand: MessageSet {
    case raiseAlert(RaiseAlert)
    case clearAlert(ClearAlert)
    case announceAlert(AnnounceAlert)
    case repeatAlarm(RepeatAlarm)

    public static let cases: Cases<Self> = [
        Case(Self.raiseAlert), Case(Self.clearAlert), Case(Self.announceAlert), Case(Self.repeatAlarm),
    ]

    public var body: any CommandBody {
        switch self {
        case .raiseAlert(let body): body
        case .clearAlert(let body): body
        case .announceAlert(let body): body
        case .repeatAlarm(let body): body
        }
    }
}

/// Says "I'm all right". Restarts the timer and ends a missed check-in's alarm.
///
/// Rejected: `tooSoon`, with the time left, within 5 minutes of the last one (operators can change this). Result:
/// ``CheckedIn``.
public struct CheckIn: PublicCommandBody {
    public init() {}
}

/// Sets how often to check in.
///
/// The new deadline is one interval after the last check-in, or after the account was opened; if that has passed, one
/// interval from now. A missed check-in stays missed. Result: ``CheckInIntervalSet``; nothing if nothing changes.
public struct SetCheckInInterval: PublicCommandBody {
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

/// Marks a deadline as missed. A timer sends this; it changes nothing if the deadline has moved.
///
/// Rejected: `notDue`. Result: ``CheckInMissed``.
public struct MissCheckIn: OwnCommandBody {
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

/// Repeats an alarm that is still on, a limited number of times. A timer sends this; it changes nothing if the alarm
/// has ended.
///
/// Rejected: `notDue`. Result: ``AlarmRepeated``.
public struct RepeatAlarm: OwnCommandBody {
    public let account: AccountID
    public let alarm: AlarmID
    public let kind: AlarmKind
    /// From 1.
    public let repetition: Int

    public init(account: AccountID, alarm: AlarmID, kind: AlarmKind, repetition: Int) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.repetition = repetition
    }

    public func validate() throws(Rejection) {
        guard repetition >= 1 else {
            throw Rejection(.invalidField, "Count repetitions from 1.", field: "repetition")
        }
    }
}

/// Raises an alert. Does nothing while one is on.
///
/// The account's state changes at once. The first three alerts in ten minutes are announced to responders at once; a
/// later one after a minute, if it is still on.
///
/// Result: ``AlertRaised``.
public struct RaiseAlert: PublicCommandBody {
    public init() {}
}

/// Announces an alert that had to wait. A timer sends this; it changes nothing if the alert has ended.
///
/// Rejected: `notDue`. Result: ``AlertAnnounced``.
public struct AnnounceAlert: OwnCommandBody {
    public let account: AccountID
    public let alarm: AlarmID

    public init(account: AccountID, alarm: AlarmID) {
        self.account = account
        self.alarm = alarm
    }
}

/// Ends the alert. Without one it changes nothing.
///
/// Result: ``AlertCleared``.
public struct ClearAlert: PublicCommandBody {
    public init() {}
}

/// The limits that a sender can know beforehand.
public enum CheckInRules {
    /// Operators set a higher minimum, except in development.
    public static let intervals: ClosedRange<Interval> = .seconds(1)...(.days(7))
    public static let defaultInterval: Interval = .hours(24)
}
