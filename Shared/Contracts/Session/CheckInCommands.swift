public import QuartetVocabulary

/// Check-ins, their deadlines and reminders.
package enum CheckInCommand: MessageSet {
    case checkIn(CheckIn)
    case setCheckInInterval(SetCheckInInterval)
    case setCheckInReminders(SetCheckInReminders)
    case setCheckInGrace(SetCheckInGrace)
    case setDailyCheckIns(SetDailyCheckIns)
    case pauseCheckIns(PauseCheckIns)
    case resumeCheckIns(ResumeCheckIns)
    case missCheckIn(MissCheckIn)
    case remindCheckIn(RemindCheckIn)
    case endPause(EndPause)
    case remindPause(RemindPause)
    case reviewDailyCheckIns(ReviewDailyCheckIns)

    package static let cases: Cases<Self> = [
        Case(Self.checkIn), Case(Self.setCheckInInterval), Case(Self.setCheckInReminders),
        Case(Self.setCheckInGrace), Case(Self.setDailyCheckIns), Case(Self.pauseCheckIns), Case(Self.resumeCheckIns),
        Case(Self.missCheckIn), Case(Self.remindCheckIn), Case(Self.endPause), Case(Self.remindPause),
        Case(Self.reviewDailyCheckIns),
    ]

    package var body: any CommandBody {
        switch self {
        case .checkIn(let body): body
        case .setCheckInInterval(let body): body
        case .setCheckInReminders(let body): body
        case .setCheckInGrace(let body): body
        case .setDailyCheckIns(let body): body
        case .pauseCheckIns(let body): body
        case .resumeCheckIns(let body): body
        case .missCheckIn(let body): body
        case .remindCheckIn(let body): body
        case .endPause(let body): body
        case .remindPause(let body): body
        case .reviewDailyCheckIns(let body): body
        }
    }
}

/// Says "I'm all right". Restarts the timer and ends a missed check-in's alarm.
///
/// Where somebody checks in at daily times, it counts for the next one if it is made within the six hours before, or half the way
/// from the one before if that is less. An earlier one is shown and moves nothing: ``CheckedIn/isEarly``.
///
/// Rejected: `tooSoon`, with the time left, within 5 minutes of the last one (operators can change this). Result:
/// ``CheckedIn``.
public struct CheckIn: PublicCommandBody {
    /// "I'm all right" is about now: later, it would put off an alarm that is due.
    public static let sending = Sending(.checkIn, for: .minutes(5), supersedes: ["CheckIn"])
    public static let urgentFamily = UrgentFamily.checkIn

    public init() {}
}

/// Sets how often to check in. Ends daily times; a deadline of theirs that is less than twelve hours away stays, or gives way to an
/// earlier one, unless check-ins are paused.
///
/// The new deadline is one interval after the last check-in, after the account was opened or after a pause ended; if that has
/// passed, one interval from now, though no later than seven days after it. A missed check-in stays missed. Rejected:
/// `staleVersion`. Result: ``CheckInIntervalSet``; nothing if nothing changes.
public struct SetCheckInInterval: PublicCommandBody, GrownBody {
    public static let sending = Sending(.checkInSettings, supersedes: ["SetCheckInInterval", "SetDailyCheckIns"])
    public static let laterFields: Set<String> = ["expectedVersion"]

    /// At most 7 days, and at least what operators allow: 1 hour by default.
    public let interval: Interval
    /// ``CheckInState/version`` of the interval or the daily times that this replaces, or 0 if that is nil. Whatever there is by then is
    /// replaced if this is nil.
    public let expectedVersion: Int64?

    public init(interval: Interval, expectedVersion: Int64? = nil) {
        self.interval = interval
        self.expectedVersion = expectedVersion
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

/// Sets at which times of the day to check in, instead of an interval.
///
/// Deadlines that are less than twelve hours away stay, and no new one is made within two hours of one of these that the new times
/// don't make. The present one stays, too, if the first of these times would be later than seven days and six hours after the last
/// check-in, or after a pause since. A time that is past is skipped, which ``DailyCheckInsSet/skipped`` says. A deadline that has
/// passed, and a missed check-in, stay as they are. Where clocks skip a time, the first instant after it counts; where they show it
/// twice, the first of the two; and of two times that this leaves less than half an hour apart, the first.
///
/// Rejected: `invalidField` for times, days or a zone that can't be; `tooSoon`, with the time left, after ten changes in a day;
/// `staleVersion`. Result: ``DailyCheckInsSet``; nothing if nothing changes.
public struct SetDailyCheckIns: PublicCommandBody {
    public static let sending = Sending(.checkInSettings, supersedes: ["SetDailyCheckIns", "SetCheckInInterval"])

    /// One to four minutes of the day, from 0 to 1439, at least an hour apart, round the clock, or what operators ask for.
    public let times: [Int]
    /// At least one.
    public let weekdays: [Weekday]
    /// The zone's name in IANA's database. That of the device is only a proposal.
    public let zone: String
    /// ``CheckInState/version`` of what these times replace, or 0 if that is nil. Whatever there is by then is replaced if this is nil.
    public let expectedVersion: Int64?

    public init(times: [Int], weekdays: [Weekday], zone: String, expectedVersion: Int64? = nil) {
        self.times = times
        self.weekdays = weekdays
        self.zone = zone
        self.expectedVersion = expectedVersion
    }

    public init(_ daily: DailyTimes, expectedVersion: Int64? = nil) {
        self.init(
            times: daily.times, weekdays: daily.weekdays, zone: daily.zone, expectedVersion: expectedVersion)
    }

    package var daily: DailyTimes { DailyTimes(times: times, weekdays: weekdays, zone: zone) }

    public func validate() throws(Rejection) { try DailyTimes.check(times, weekdays, zone) }
}

/// Looks at the next deadline of daily times once more, because there are newer data of the zones, or because a process of an earlier
/// release made it. A timer sends this; it changes nothing if there is no reason any more.
///
/// Result: ``DailyCheckInsMoved``.
package struct ReviewDailyCheckIns: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Pauses check-ins, or changes until when they are paused. The first deadline is one interval after the end, or the first daily time
/// after it for which no check-in has counted. Pings, alerts and check-ins that somebody makes all the same go on; one of these doesn't
/// end the pause. The account's responders are told.
///
/// Rejected: `checkInDue` from the deadline until the person has checked in; `limitReached` if pauses since the last check-in would
/// add up to more than 30 days, or the last check-in would be longer ago than that and an interval; `tooSoon`, with the time left,
/// after six beginnings and changes in a day; `confirmationRequired` where the account demands a confirmation. Result:
/// ``CheckInsPaused``; nothing if nothing changes.
public struct PauseCheckIns: CommandBody {
    public let until: Instant
    /// The asking device.
    public let by: DeviceID

    public init(until: Instant, by: DeviceID) {
        self.until = until
        self.by = by
    }
}

/// Ends a pause before its time. The next check-in is due one interval from now, or at the next daily time for which none has counted.
///
/// Result: ``CheckInsResumed``; nothing if there is no pause.
public struct ResumeCheckIns: PublicCommandBody {
    public static let sending = Sending(.checkInSettings, supersedes: ["ResumeCheckIns", "PauseCheckIns"])

    public init() {}
}

/// Ends a pause whose time is over. A timer sends this; it changes nothing if the pause has ended or another end.
///
/// Rejected: `notDue`. Result: ``CheckInsResumed``.
package struct EndPause: OwnCommandBody {
    package let account: AccountID
    /// The end that the timer was set for.
    package let until: Instant

    package init(account: AccountID, until: Instant) {
        self.account = account
        self.until = until
    }
}

/// Reminds of the end of a pause, an hour before it. A timer sends this; it changes nothing if the pause has ended or another end.
///
/// Rejected: `notDue`. Result: ``PauseReminded``.
package struct RemindPause: OwnCommandBody {
    package let account: AccountID
    /// The end that the timer was set for.
    package let until: Instant

    package init(account: AccountID, until: Instant) {
        self.account = account
        self.until = until
    }
}

/// Marks a deadline as passed: begins its grace, or if there is none, or it is over, the alarm. A timer sends this; it changes
/// nothing if the deadline has moved.
///
/// Rejected: `notDue`. Result: ``CheckInGraceBegan`` or ``CheckInMissed``.
package struct MissCheckIn: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    /// The deadline that the timer was set for.
    package let deadline: Instant

    package init(account: AccountID, deadline: Instant) {
        self.account = account
        self.deadline = deadline
    }
}

/// Reminds of a deadline. A timer sends this; it changes nothing if the deadline has moved or passed, or if a shorter
/// reminder is due, too.
///
/// Rejected: `notDue`. Result: ``CheckInReminded``.
package struct RemindCheckIn: OwnCommandBody {
    package let account: AccountID
    /// The deadline that the timer was set for.
    package let deadline: Instant
    package let lead: ReminderLead

    package init(account: AccountID, deadline: Instant, lead: ReminderLead) {
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
