public import QuartetVocabulary

/// A person is all right.
public struct CheckedIn: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// When the next check-in is due.
    public let due: Instant
    /// The missed deadline that this makes up for.
    public let ended: Instant?
    /// The alarm that this ends.
    public let alarm: AlarmID?
    /// The deadline whose grace had begun. Nobody but the person was told of it, unless ``ended`` says so.
    public let graced: Instant?
    /// From when a check-in counts for ``due``, a daily time; nil where somebody checks in at an interval.
    public let opens: Instant?
    /// Whether it came before that, so that ``due`` is as before.
    public let isEarly: Bool?
    public let at: Instant

    public init(
        account: AccountID, due: Instant, ended: Instant? = nil, alarm: AlarmID? = nil, graced: Instant? = nil,
        opens: Instant? = nil, isEarly: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.due = due
        self.ended = ended
        self.alarm = alarm
        self.graced = graced
        self.opens = opens
        self.isEarly = isEarly
        self.at = at
    }
}

/// The interval between check-ins changed, or takes the place of daily times.
public struct CheckInIntervalSet: EventBody {
    public let account: AccountID
    public let interval: Interval
    /// When the next check-in is due.
    public let due: Instant?
    /// See ``CheckInState/version``. Nil from a server of 0.1.0, which doesn't count.
    public let version: Int64?
    public let at: Instant

    public init(account: AccountID, interval: Interval, due: Instant? = nil, version: Int64? = nil, at: Instant) {
        self.account = account
        self.interval = interval
        self.due = due
        self.version = version
        self.at = at
    }
}

/// Check-ins are due at these times of the day.
public struct DailyCheckInsSet: EventBody {
    public let account: AccountID
    public let daily: DailyTimes
    /// The longest time between two of them by the clock on the wall: what stands for an interval.
    public let interval: Interval
    /// When the next check-in is due, or was if the deadline has passed.
    public let due: Instant
    /// From when a check-in counts for ``due``; nil if that was missed.
    public let opens: Instant?
    /// The last of these times that is past and counts for nothing.
    public let skipped: Instant?
    /// See ``CheckInState/version``.
    public let version: Int64?
    public let at: Instant

    public init(
        account: AccountID, daily: DailyTimes, interval: Interval, due: Instant, opens: Instant? = nil,
        skipped: Instant? = nil, version: Int64? = nil, at: Instant
    ) {
        self.account = account
        self.daily = daily
        self.interval = interval
        self.due = due
        self.opens = opens
        self.skipped = skipped
        self.version = version
        self.at = at
    }
}

/// The next deadline of daily times is another one, though nobody chose that.
public struct DailyCheckInsMoved: EventBody {
    public let account: AccountID
    /// When the next check-in is due.
    public let due: Instant
    /// When it was due before.
    public let former: Instant
    /// From when a check-in counts for ``due``.
    public let opens: Instant
    /// A deadline that would be past, and counts for nothing.
    public let skipped: Instant?
    /// Whether the clocks of the zone turned out to be set otherwise than was known. If not, a process of an earlier release had set
    /// the deadline.
    public let isByZone: Bool?
    public let at: Instant

    public init(
        account: AccountID, due: Instant, former: Instant, opens: Instant, skipped: Instant? = nil,
        isByZone: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.due = due
        self.former = former
        self.opens = opens
        self.skipped = skipped
        self.isByZone = isByZone
        self.at = at
    }
}

/// The chosen reminders changed.
public struct CheckInRemindersSet: EventBody {
    public let account: AccountID
    /// Longest first.
    public let reminders: [ReminderLead]
    public let at: Instant

    public init(account: AccountID, reminders: [ReminderLead], at: Instant) {
        self.account = account
        self.reminders = reminders
        self.at = at
    }
}

/// How long after a deadline others hear of it changed, from the next deadline on.
public struct CheckInGraceSet: EventBody {
    public let account: AccountID
    /// Zero for none.
    public let grace: Interval
    public let at: Instant

    public init(account: AccountID, grace: Interval, at: Instant) {
        self.account = account
        self.grace = grace
        self.at = at
    }
}

/// A deadline has passed, and nobody but the person hears of it before the grace ends. Once per deadline.
public struct CheckInGraceBegan: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let deadline: Instant
    /// When others hear that the check-in was missed, unless there is one before.
    public let ends: Instant
    public let at: Instant

    public init(account: AccountID, deadline: Instant, ends: Instant, at: Instant) {
        self.account = account
        self.deadline = deadline
        self.ends = ends
        self.at = at
    }
}

/// Check-ins are paused, or the pause has another end.
public struct CheckInsPaused: EventBody {
    public let account: AccountID
    public let until: Instant
    /// The first deadline after the pause.
    public let due: Instant
    /// The former end of a pause that goes on.
    public let former: Instant?
    /// From when a check-in counts for ``due``, a daily time.
    public let opens: Instant?
    public let at: Instant

    public init(
        account: AccountID, until: Instant, due: Instant, former: Instant? = nil, opens: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.until = until
        self.due = due
        self.former = former
        self.opens = opens
        self.at = at
    }
}

/// A pause is over.
public struct CheckInsResumed: EventBody {
    public let account: AccountID
    /// When the next check-in is due.
    public let due: Instant
    /// Whether the person ended it before its time.
    public let isEarly: Bool
    /// From when a check-in counts for ``due``, a daily time.
    public let opens: Instant?
    public let at: Instant

    public init(account: AccountID, due: Instant, isEarly: Bool, opens: Instant? = nil, at: Instant) {
        self.account = account
        self.due = due
        self.isEarly = isEarly
        self.opens = opens
        self.at = at
    }
}

/// A pause is over soon.
public struct PauseReminded: EventBody {
    public let account: AccountID
    public let until: Instant
    /// The first deadline after the pause.
    public let due: Instant
    public let at: Instant

    public init(account: AccountID, until: Instant, due: Instant, at: Instant) {
        self.account = account
        self.until = until
        self.due = due
        self.at = at
    }
}

/// A check-in is due soon.
public struct CheckInReminded: EventBody {
    public let account: AccountID
    public let deadline: Instant
    public let lead: ReminderLead
    public let at: Instant

    public init(account: AccountID, deadline: Instant, lead: ReminderLead, at: Instant) {
        self.account = account
        self.deadline = deadline
        self.lead = lead
        self.at = at
    }
}

/// A check-in was missed, which begins an alarm. Once per deadline.
public struct CheckInMissed: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The alarm that this begins.
    public let alarm: AlarmID
    public let deadline: Instant
    /// When the grace after the deadline ended; nil if it had none.
    public let graceEnded: Instant?
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, deadline: Instant, graceEnded: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.alarm = alarm
        self.deadline = deadline
        self.graceEnded = graceEnded
        self.at = at
    }
}
