public import QuartetVocabulary

/// The account pinged a dependent.
public struct PingSent: EventBody {
    public let account: AccountID
    /// The dependent.
    public let contact: AccountID
    /// When an alert is raised unless it is answered; nil if none is, or it is put off.
    public let due: Instant?
    /// True if the dependent's quiet hours put the alert off.
    public let isLater: Bool?
    public let at: Instant

    public init(
        account: AccountID, contact: AccountID, due: Instant? = nil, isLater: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.contact = contact
        self.due = due
        self.isLater = isLater
        self.at = at
    }
}

/// A responder pinged the account.
public struct PingReceived: EventBody {
    public let account: AccountID
    /// The responder.
    public let contact: AccountID
    /// When an alert is raised unless it is answered; nil if none is.
    public let due: Instant?
    /// When the ping was sent whose place it takes; nil if none waited.
    public let replaced: Instant?
    public let at: Instant

    public init(
        account: AccountID, contact: AccountID, due: Instant? = nil, replaced: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.contact = contact
        self.due = due
        self.replaced = replaced
        self.at = at
    }
}

/// A ping was cancelled. Each of the two gets this event.
public struct PingCancelled: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// Outgoing: this account had sent it.
    public let direction: Direction
    public let sent: Instant
    public let at: Instant

    public init(account: AccountID, contact: AccountID, direction: Direction, sent: Instant, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.sent = sent
        self.at = at
    }
}

/// A ping was answered. Each of the two gets this event, or ``ReceivedPingsCleared`` instead.
public struct PingAnswered: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// Outgoing: this account had sent it, and the other answered.
    public let direction: Direction
    public let sent: Instant
    public let at: Instant

    public init(account: AccountID, contact: AccountID, direction: Direction, sent: Instant, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.sent = sent
        self.at = at
    }
}

/// The account answered all its pings at once. Each of their senders gets a ``PingAnswered``.
public struct ReceivedPingsCleared: EventBody {
    /// How many pings one command answers at most: the event with all their senders has to fit into a message.
    public static let limit = 1500

    public let account: AccountID
    /// The senders, sorted by id; from one to ``limit``.
    public let contacts: [AccountID]
    /// True for ``ClearReceivedPings``, false for ``RespondToAllPings``.
    public let isClearing: Bool
    public let at: Instant

    public init(account: AccountID, contacts: [AccountID], isClearing: Bool, at: Instant) {
        self.account = account
        self.contacts = contacts
        self.isClearing = isClearing
        self.at = at
    }
}
