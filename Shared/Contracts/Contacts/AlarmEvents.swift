public import QuartetVocabulary

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
    /// The missed deadline; of an alert, the end of the trip that made it, unless the dependent has called for help by hand.
    public let deadline: Instant?
    /// When the ping was sent that made an alert because it wasn't answered, or the first of several; nil once the dependent has called
    /// for help by hand.
    public let pinged: Instant?
    /// When the dependent called for help, if that was a minute or more before it occurred.
    public let pressed: Instant?
    /// How often responders had already been alerted to the same alarm.
    public let repetition: Int
    public let at: Instant

    public init(
        account: AccountID, dependent: AccountID, kind: AlertKind, alarm: AlarmID? = nil, occurred: Instant,
        deadline: Instant? = nil, pinged: Instant? = nil, pressed: Instant? = nil, repetition: Int, at: Instant
    ) {
        self.account = account
        self.dependent = dependent
        self.kind = kind
        self.alarm = alarm
        self.occurred = occurred
        self.deadline = deadline
        self.pinged = pinged
        self.pressed = pressed
        self.repetition = repetition
        self.at = at
    }
}

/// A responder is to be notified of what became of a dependent's pause.
public struct PauseAnnounced: EventBody {
    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    public let change: PauseChange
    /// Until when check-ins are paused; nil if they aren't any more.
    public let until: Instant?
    /// The next deadline.
    public let due: Instant
    public let occurred: Instant
    public let at: Instant

    public init(
        account: AccountID, dependent: AccountID, change: PauseChange, until: Instant? = nil, due: Instant,
        occurred: Instant, at: Instant
    ) {
        self.account = account
        self.dependent = dependent
        self.change = change
        self.until = until
        self.due = due
        self.occurred = occurred
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

/// Somebody who was told of an alarm has answered it, or no longer has. Every responder who was told of it gets one, and the
/// person whom it is about. Whoever is told later gets the answers that stand.
public struct AlarmAcknowledged: EventBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.answer

    /// The one who is to see it: the dependent, or somebody who was told, among them the one who answered.
    public let account: AccountID
    /// The person whom the alarm is about.
    public let dependent: AccountID
    public let alarm: AlarmID
    /// `alertRaised` or `checkInMissed`.
    public let kind: AlertKind
    public let responder: AccountID
    /// Nil if the former answer isn't to be seen any more: the responder left, or who sees it; or, for the dependent, the alarm
    /// ended.
    public let answer: AlarmAnswer?
    /// Until when the responder is on it.
    public let until: Instant?
    /// When the answer was taken.
    public let answered: Instant
    /// Whether the account is notified of it, too.
    public let isNews: Bool?
    public let at: Instant

    public init(
        account: AccountID, dependent: AccountID, alarm: AlarmID, kind: AlertKind, responder: AccountID,
        answer: AlarmAnswer?, until: Instant? = nil, answered: Instant, isNews: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.dependent = dependent
        self.alarm = alarm
        self.kind = kind
        self.responder = responder
        self.answer = answer
        self.until = until
        self.answered = answered
        self.isNews = isNews
        self.at = at
    }
}

/// What responders answer holds the repetitions of an alarm back, or no longer does.
public struct AlarmHoldChanged: EventBody {
    public static let isUrgent = true

    /// The dependent.
    public let account: AccountID
    public let alarm: AlarmID
    /// `alertRaised` or `checkInMissed`.
    public let kind: AlertKind
    public let hold: AnswerHold
    /// Counts these of one alarm, from 1: one that comes late changes nothing.
    public let version: Int
    public let at: Instant

    public init(account: AccountID, alarm: AlarmID, kind: AlertKind, hold: AnswerHold, version: Int, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.hold = hold
        self.version = version
        self.at = at
    }
}

/// Somebody said a day ago that the dependent is safe, nobody denies it, and from now on nobody can: the alarm is closed.
public struct AlarmClosingDecided: EventBody {
    public static let isUrgent = true

    /// The dependent.
    public let account: AccountID
    public let alarm: AlarmID
    /// `alertRaised` or `checkInMissed`.
    public let kind: AlertKind
    /// Of what held the alarm back.
    public let version: Int
    public let at: Instant

    public init(account: AccountID, alarm: AlarmID, kind: AlertKind, version: Int, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.version = version
        self.at = at
    }
}

/// Nobody who was told of an alarm is on it or has reached the dependent.
public struct AlarmUnanswered: EventBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.answer

    /// The dependent.
    public let account: AccountID
    public let alarm: AlarmID
    /// `alertRaised` or `checkInMissed`.
    public let kind: AlertKind
    public let reason: UnansweredReason
    /// How many were told.
    public let responders: Int
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, kind: AlertKind, reason: UnansweredReason, responders: Int, at: Instant
    ) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.reason = reason
        self.responders = responders
        self.at = at
    }
}

/// A responder's time on an alarm ends soon: they are to be asked whether they are still on it.
public struct RenewalAsked: EventBody {
    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    public let alarm: AlarmID
    /// When their time ends.
    public let until: Instant
    public let at: Instant

    public init(account: AccountID, dependent: AccountID, alarm: AlarmID, until: Instant, at: Instant) {
        self.account = account
        self.dependent = dependent
        self.alarm = alarm
        self.until = until
        self.at = at
    }
}

/// What a responder was asked doesn't matter any more: they answered, their time is over, the alarm is, or renewing it would hold
/// nothing back.
public struct RenewalSettled: EventBody {
    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    public let alarm: AlarmID
    /// The time of ``RenewalAsked``.
    public let asked: Instant
    public let at: Instant

    public init(account: AccountID, dependent: AccountID, alarm: AlarmID, asked: Instant, at: Instant) {
        self.account = account
        self.dependent = dependent
        self.alarm = alarm
        self.asked = asked
        self.at = at
    }
}
