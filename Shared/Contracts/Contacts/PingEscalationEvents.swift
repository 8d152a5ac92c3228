public import QuartetVocabulary

/// What becomes of pings that raise an alert when they aren't answered. Only who was pinged sees these.
public enum PingEscalationEvent: MessageSet {
    case pingEscalationSet(PingEscalationSet)
    case pingQuietHoursSet(PingQuietHoursSet)
    case pingWarned(PingWarned)
    case pingsUnanswered(PingsUnanswered)
    case pingWarningEnded(PingWarningEnded)
    case unansweredPingsAnswered(UnansweredPingsAnswered)

    package static let cases: Cases<Self> = [
        Case(Self.pingEscalationSet), Case(Self.pingQuietHoursSet), Case(Self.pingWarned),
        Case(Self.pingsUnanswered), Case(Self.pingWarningEnded), Case(Self.unansweredPingsAnswered),
    ]

    public var body: any EventBody {
        switch self {
        case .pingEscalationSet(let body): body
        case .pingQuietHoursSet(let body): body
        case .pingWarned(let body): body
        case .pingsUnanswered(let body): body
        case .pingWarningEnded(let body): body
        case .unansweredPingsAnswered(let body): body
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
    public let at: Instant

    public init(account: AccountID, contact: AccountID, sent: Instant, due: Instant, at: Instant) {
        self.account = account
        self.contact = contact
        self.sent = sent
        self.due = due
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
    public let at: Instant

    public init(account: AccountID, contact: AccountID, sent: Instant, at: Instant) {
        self.account = account
        self.contact = contact
        self.sent = sent
        self.at = at
    }
}

/// The account answered pings that weren't answered in time, or later ones of the same responders.
public struct UnansweredPingsAnswered: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The responders, sorted by id.
    public let contacts: [AccountID]
    public let at: Instant

    public init(account: AccountID, contacts: [AccountID], at: Instant) {
        self.account = account
        self.contacts = contacts
        self.at = at
    }
}
