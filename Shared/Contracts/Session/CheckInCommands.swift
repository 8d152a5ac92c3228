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

/// Says "I'm all right". The timer begins anew; a missed check-in is over.
///
/// Rejected: `tooSoon` within 5 minutes of the last one (a setting of the system), with the time left. Result: ``CheckedIn``.
public struct CheckIn: PublicCommandBody {
    /// It has no parameters.
    public init() {}
}

/// Chooses how often to check in.
///
/// The deadline moves to the last check-in, or the account's beginning, plus the new interval; where that has passed, the interval begins now. A
/// check-in that was missed stays missed. Result: ``CheckInIntervalSet``; nothing if it was so.
public struct SetCheckInInterval: PublicCommandBody {
    /// At most 7 days, in microseconds. The least is a setting of the system: 1 hour unless said.
    public let interval: Interval

    /// Its parameters are the properties of the same names.
    public init(interval: Interval) {
        self.interval = interval
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard CheckInRules.intervals.contains(interval) else {
            throw Rejection(.invalidField, "Choose an interval of at most 7 days.", field: "interval")
        }
    }
}

/// Chooses which reminders come before the deadline.
///
/// Result: ``CheckInRemindersSet``; nothing if it was so.
public struct SetCheckInReminders: PublicCommandBody {
    /// Each at most once; none for no reminders.
    public let reminders: [ReminderLead]

    /// Its parameters are the properties of the same names.
    public init(reminders: [ReminderLead]) {
        self.reminders = reminders
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard Set(reminders).count == reminders.count else {
            throw Rejection(.invalidField, "Name each reminder once.", field: "reminders")
        }
    }
}

/// Says that a deadline has passed. Sent by a timer; when there is another deadline by now, it changes nothing.
///
/// Rejected: `notDue`. Result: ``CheckInMissed``.
public struct MissCheckIn: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// The deadline that the timer was set for.
    public let deadline: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, deadline: Instant) {
        self.account = account
        self.deadline = deadline
    }
}

/// Reminds of a deadline. Sent by a timer; when there is another deadline by now, when it has passed, or when a later
/// reminder is due too, it changes nothing.
///
/// Rejected: `notDue`. Result: ``CheckInReminded``.
public struct RemindCheckIn: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// The deadline that the timer was set for.
    public let deadline: Instant
    /// How long before it.
    public let lead: ReminderLead

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, deadline: Instant, lead: ReminderLead) {
        self.account = account
        self.deadline = deadline
        self.lead = lead
    }
}

/// Notifies again of an alarm that goes on, a bounded number of times. Sent by a timer; when the alarm is over by now, it
/// changes nothing.
///
/// Rejected: `notDue`. Result: ``AlarmRepeated``.
public struct RepeatAlarm: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let alarm: AlarmID
    /// What goes on.
    public let kind: AlarmKind
    /// Which repetition this is, from 1.
    public let repetition: Int

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, alarm: AlarmID, kind: AlarmKind, repetition: Int) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.repetition = repetition
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard repetition >= 1 else {
            throw Rejection(.invalidField, "Count repetitions from 1.", field: "repetition")
        }
    }
}

/// Raises an alert. While one is on, it changes nothing.
///
/// The account's state changes at once. Responders hear of the first three alerts in ten minutes at once; of a later one
/// after a minute, if it is still on.
///
/// Result: ``AlertRaised``.
public struct RaiseAlert: PublicCommandBody {
    /// It has no parameters.
    public init() {}
}

/// Has responders hear of an alert that waited. Sent by a timer; when that alert is over by now, it changes nothing.
///
/// Rejected: `notDue`. Result: ``AlertAnnounced``.
public struct AnnounceAlert: OwnCommandBody {
    /// Whose.
    public let account: AccountID
    /// Which alarm it is.
    public let alarm: AlarmID

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, alarm: AlarmID) {
        self.account = account
        self.alarm = alarm
    }
}

/// Ends the alert. Without one it changes nothing.
///
/// Result: ``AlertCleared``.
public struct ClearAlert: PublicCommandBody {
    /// It has no parameters.
    public init() {}
}

/// The numbers of check-ins that a sender can know beforehand.
public enum CheckInRules {
    /// How often one may choose to check in; the system's own least is longer unless it's made for development.
    public static let intervals: ClosedRange<Interval> = .seconds(1)...(.days(7))
    /// How often one checks in unless one chooses.
    public static let defaultInterval: Interval = .hours(24)
}
