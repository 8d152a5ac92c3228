public import Vocabulary

/// A person is all right.
public struct CheckedIn: EventBody {
    /// Who.
    public let account: AccountID
    /// By when the next check-in is due.
    public let due: Instant
    /// The missed deadline that this makes good.
    public let ended: Instant?
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, due: Instant, ended: Instant? = nil, at: Instant) {
        self.account = account
        self.due = due
        self.ended = ended
        self.at = at
    }
}

/// How often to check in was chosen.
public struct CheckInIntervalSet: EventBody {
    /// Whose.
    public let account: AccountID
    /// How often.
    public let interval: Interval
    /// By when the next check-in is due; nil before the first one.
    public let due: Instant?
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, interval: Interval, due: Instant? = nil, at: Instant) {
        self.account = account
        self.interval = interval
        self.due = due
        self.at = at
    }
}

/// Which reminders come was chosen.
public struct CheckInRemindersSet: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which ones, the longest first.
    public let leads: [ReminderLead]
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, leads: [ReminderLead], at: Instant) {
        self.account = account
        self.leads = leads
        self.at = at
    }
}

/// A check-in is due soon.
public struct CheckInReminded: EventBody {
    /// Whose.
    public let account: AccountID
    /// When it is due.
    public let deadline: Instant
    /// How long before that.
    public let lead: ReminderLead
    /// When it was told.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, deadline: Instant, lead: ReminderLead, at: Instant) {
        self.account = account
        self.deadline = deadline
        self.lead = lead
        self.at = at
    }
}

/// A check-in was missed. Once per deadline.
public struct CheckInMissed: EventBody {
    /// Who.
    public let account: AccountID
    /// When it was due.
    public let deadline: Instant
    /// When it was noticed.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, deadline: Instant, at: Instant) {
        self.account = account
        self.deadline = deadline
        self.at = at
    }
}

/// Something goes on and was told again.
public struct AlarmRepeated: EventBody {
    /// Whose.
    public let account: AccountID
    /// What goes on.
    public let kind: AlarmKind
    /// Since when: the missed deadline, or when the alert was raised.
    public let since: Instant
    /// The how manieth time, from 1.
    public let repetition: Int
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, kind: AlarmKind, since: Instant, repetition: Int, at: Instant) {
        self.account = account
        self.kind = kind
        self.since = since
        self.repetition = repetition
        self.at = at
    }
}

/// A person needs help.
public struct AlertRaised: EventBody {
    /// Who.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// An alert is over.
public struct AlertCleared: EventBody {
    /// Whose.
    public let account: AccountID
    /// When it was raised.
    public let raised: Instant
    /// When it ended.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, raised: Instant, at: Instant) {
        self.account = account
        self.raised = raised
        self.at = at
    }
}
