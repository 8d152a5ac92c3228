public import QuartetVocabulary

/// What becomes of pings that raise an alert when they aren't answered. Only ``PingDueSet`` is seen by others than who was pinged.
public enum PingEscalationEvent: MessageSet {
    case pingEscalationSet(PingEscalationSet)
    case pingQuietHoursSet(PingQuietHoursSet)
    case pingWarned(PingWarned)
    case pingsUnanswered(PingsUnanswered)
    case pingWarningEnded(PingWarningEnded)
    case unansweredPingsEnded(UnansweredPingsEnded)
    case pingDueSet(PingDueSet)

    package static let cases: Cases<Self> = [
        Case(Self.pingEscalationSet), Case(Self.pingQuietHoursSet), Case(Self.pingWarned),
        Case(Self.pingsUnanswered), Case(Self.pingWarningEnded), Case(Self.unansweredPingsEnded),
        Case(Self.pingDueSet),
    ]

    public var body: any EventBody {
        switch self {
        case .pingEscalationSet(let body): body
        case .pingQuietHoursSet(let body): body
        case .pingWarned(let body): body
        case .pingsUnanswered(let body): body
        case .pingWarningEnded(let body): body
        case .unansweredPingsEnded(let body): body
        case .pingDueSet(let body): body
        }
    }
}

/// It was set how long pings may stay unanswered.
public struct PingEscalationSet: EventBody {
    public let account: AccountID
    /// The responder; nil for all for whom nothing else is chosen.
    public let contact: AccountID?
    /// Zero for never; nil for a responder for whom nothing is chosen any more.
    public let after: Interval?
    public let at: Instant

    public init(account: AccountID, contact: AccountID? = nil, after: Interval? = nil, at: Instant) {
        self.account = account
        self.contact = contact
        self.after = after
        self.at = at
    }
}

/// It was set when unanswered pings raise no alert.
public struct PingQuietHoursSet: EventBody {
    public let account: AccountID
    /// Nil for none.
    public let quietHours: QuietHours?
    public let at: Instant

    public init(account: AccountID, quietHours: QuietHours? = nil, at: Instant) {
        self.account = account
        self.quietHours = quietHours
        self.at = at
    }
}

/// An alert is soon raised unless a ping is answered.
public struct PingWarned: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The responder who asked.
    public let contact: AccountID
    public let sent: Instant
    /// When the alert is raised.
    public let due: Instant
    /// True if it isn't loud, as the day had such a warning of a ping that was then taken back.
    public let isRepeated: Bool?
    public let at: Instant

    public init(
        account: AccountID, contact: AccountID, sent: Instant, due: Instant, isRepeated: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.contact = contact
        self.sent = sent
        self.due = due
        self.isRepeated = isRepeated
        self.at = at
    }
}

/// Pings weren't answered in time, of which the account was warned. Session raises an alert.
public struct PingsUnanswered: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// Sorted by sender; from one to ``UnansweredPing/limit``.
    public let pings: [UnansweredPing]
    /// By the database's clock.
    public let at: Instant

    public init(account: AccountID, pings: [UnansweredPing], at: Instant) {
        self.account = account
        self.pings = pings
        self.at = at
    }
}

/// A ping of which the account was warned raises no alert, or has raised it: the warning isn't true any more.
public struct PingWarningEnded: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let contact: AccountID
    public let sent: Instant
    /// Of when it warned: a ping that is put off has another warning. Nil if that wasn't kept.
    public let due: Instant?
    public let at: Instant

    public init(account: AccountID, contact: AccountID, sent: Instant, due: Instant? = nil, at: Instant) {
        self.account = account
        self.contact = contact
        self.sent = sent
        self.due = due
        self.at = at
    }
}

/// Pings that weren't answered in time were answered, or taken back: by their sender, or because that isn't a responder any more.
public struct UnansweredPingsEnded: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// Sorted by sender.
    public let pings: [UnansweredPing]
    /// When the account answered, by the database's clock; nil if they were taken back.
    public let answered: Instant?
    public let at: Instant

    public init(account: AccountID, pings: [UnansweredPing], answered: Instant? = nil, at: Instant) {
        self.account = account
        self.pings = pings
        self.answered = answered
        self.at = at
    }
}

/// A ping that waits for an answer raises an alert at another time than was said, or none any more. Both sides have one.
public struct PingDueSet: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// Which side sent the ping.
    public let direction: Direction
    public let sent: Instant
    /// Nil if it raises none any more, or is put off.
    public let due: Instant?
    /// True if the other's quiet hours put the alert off.
    public let isLater: Bool?
    public let at: Instant

    public init(
        account: AccountID, contact: AccountID, direction: Direction, sent: Instant, due: Instant? = nil,
        isLater: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.sent = sent
        self.due = due
        self.isLater = isLater
        self.at = at
    }
}
