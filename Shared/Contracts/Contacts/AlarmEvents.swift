public import Vocabulary

/// Responders were notified of what happened to the account.
public struct AlertRelayed: EventBody {
    /// Whom it is about; whose stream this is in.
    public let account: AccountID
    /// What happened.
    public let kind: AlertKind
    /// The alarm that it belongs to; nil for a check-in that ended none.
    public let alarm: AlarmID?
    /// When it happened.
    public let occurred: Instant
    /// The deadline that was missed.
    public let deadline: Instant?
    /// How often responders were notified of the same alarm before.
    public let repetition: Int
    /// How many were notified.
    public let responders: Int
    /// When they were.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, kind: AlertKind, alarm: AlarmID? = nil, occurred: Instant, deadline: Instant? = nil,
        repetition: Int, responders: Int, at: Instant
    ) {
        self.account = account
        self.kind = kind
        self.alarm = alarm
        self.occurred = occurred
        self.deadline = deadline
        self.repetition = repetition
        self.responders = responders
        self.at = at
    }
}

/// A responder is to be notified of a dependent's alarm or check-in.
public struct ResponderAlerted: EventBody {
    /// The responder; whose stream this is in.
    public let account: AccountID
    /// Whom it is about.
    public let dependent: AccountID
    /// What happened: `alertRaised`, `checkInMissed`, or `checkedIn` where no alarm was on.
    public let kind: AlertKind
    /// The alarm that it belongs to; nil for a check-in.
    public let alarm: AlarmID?
    /// When it happened.
    public let occurred: Instant
    /// The deadline that was missed.
    public let deadline: Instant?
    /// How often responders were notified of the same alarm before.
    public let repetition: Int
    /// When the responder was.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, dependent: AccountID, kind: AlertKind, alarm: AlarmID? = nil, occurred: Instant,
        deadline: Instant? = nil, repetition: Int, at: Instant
    ) {
        self.account = account
        self.dependent = dependent
        self.kind = kind
        self.alarm = alarm
        self.occurred = occurred
        self.deadline = deadline
        self.repetition = repetition
        self.at = at
    }
}

/// The all-clear: an alarm that a responder heard of is over for them. Once for each responder who heard of it, whatever
/// they want to hear and whoever they are to the dependent by now.
public struct AlarmEnded: EventBody {
    /// The responder; whose stream this is in.
    public let account: AccountID
    /// Whom it is about.
    public let dependent: AccountID
    /// Which alarm.
    public let alarm: AlarmID
    /// How it ended.
    public let reason: AlarmEndReason
    /// When it ended.
    public let occurred: Instant
    /// The deadline that was missed.
    public let deadline: Instant?
    /// When the responder was notified.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, dependent: AccountID, alarm: AlarmID, reason: AlarmEndReason, occurred: Instant,
        deadline: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.dependent = dependent
        self.alarm = alarm
        self.reason = reason
        self.occurred = occurred
        self.deadline = deadline
        self.at = at
    }
}
