public import Vocabulary

/// A person is all right.
public struct CheckedIn: EventBody {
    /// Who.
    public let account: AccountID
    /// By when the next check-in is due.
    public let due: Instant
    /// The missed deadline that this makes good.
    public let ended: Instant?
    /// The alarm that this ends.
    public let alarm: AlarmID?
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, due: Instant, ended: Instant? = nil, alarm: AlarmID? = nil, at: Instant) {
        self.account = account
        self.due = due
        self.ended = ended
        self.alarm = alarm
        self.at = at
    }
}

/// How often to check in was chosen.
public struct CheckInIntervalSet: EventBody {
    /// Whose.
    public let account: AccountID
    /// How often.
    public let interval: Interval
    /// By when the next check-in is due.
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
    public let reminders: [ReminderLead]
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, reminders: [ReminderLead], at: Instant) {
        self.account = account
        self.reminders = reminders
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

/// A check-in was missed, which begins an alarm. Once per deadline.
public struct CheckInMissed: EventBody {
    /// Who.
    public let account: AccountID
    /// The alarm that this begins.
    public let alarm: AlarmID
    /// When it was due.
    public let deadline: Instant
    /// When it was noticed.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, alarm: AlarmID, deadline: Instant, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.deadline = deadline
        self.at = at
    }
}

/// An alarm goes on, and responders are notified again.
public struct AlarmRepeated: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let alarm: AlarmID
    /// What goes on.
    public let kind: AlarmKind
    /// Since when: the missed deadline, or when the alert was raised.
    public let since: Instant
    /// Which repetition this is, from 1.
    public let repetition: Int
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, alarm: AlarmID, kind: AlarmKind, since: Instant, repetition: Int, at: Instant
    ) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.since = since
        self.repetition = repetition
        self.at = at
    }
}

/// A person needs help, which begins an alarm.
public struct AlertRaised: EventBody {
    /// Who.
    public let account: AccountID
    /// The alarm that this begins.
    public let alarm: AlarmID
    /// Until when responders don't hear of it, because alerts were raised so often before; nil when they do at once.
    public let waitsUntil: Instant?
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, alarm: AlarmID, waitsUntil: Instant? = nil, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.waitsUntil = waitsUntil
        self.at = at
    }
}

/// An alert that was raised a while ago is still on, so responders hear of it now.
public struct AlertAnnounced: EventBody {
    /// Who.
    public let account: AccountID
    /// The alarm that it is.
    public let alarm: AlarmID
    /// When it was raised.
    public let raised: Instant
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, alarm: AlarmID, raised: Instant, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.raised = raised
        self.at = at
    }
}

/// An alert is over.
public struct AlertCleared: EventBody {
    /// Whose.
    public let account: AccountID
    /// The alarm that this ends.
    public let alarm: AlarmID
    /// When it was raised.
    public let raised: Instant
    /// Whether responders heard of it: otherwise they needn't hear of its end.
    public let wasAnnounced: Bool
    /// When it ended.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, alarm: AlarmID, raised: Instant, wasAnnounced: Bool, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.raised = raised
        self.wasAnnounced = wasAnnounced
        self.at = at
    }
}
