public import Vocabulary

/// Responders were notified of something that happened to the account.
public struct AlertRelayed: EventBody {
    /// The dependent.
    public let account: AccountID
    public let kind: AlertKind
    /// Nil for a check-in that ended no alarm.
    public let alarm: AlarmID?
    public let occurred: Instant
    /// The missed deadline.
    public let deadline: Instant?
    /// How often responders had already been alerted to the same alarm.
    public let repetition: Int
    /// How many were notified.
    public let responders: Int
    public let at: Instant

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
    public static let isUrgent = true

    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    /// `alertRaised`, `checkInMissed`, or `checkedIn` if no alarm was on.
    public let kind: AlertKind
    /// Nil for a check-in.
    public let alarm: AlarmID?
    public let occurred: Instant
    /// The missed deadline.
    public let deadline: Instant?
    /// How often responders had already been alerted to the same alarm.
    public let repetition: Int
    public let at: Instant

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

/// The all-clear for one responder. Everyone who was alerted gets exactly one, whatever they now want to know and
/// whatever they now are to the dependent.
public struct AlarmEnded: EventBody {
    public static let isUrgent = true

    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    public let alarm: AlarmID
    public let reason: AlarmEndReason
    public let occurred: Instant
    /// The missed deadline.
    public let deadline: Instant?
    /// When the responder was notified.
    public let at: Instant

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
