public import Vocabulary

/// The account pinged a dependent.
public struct PingSent: EventBody {
    /// Who pinged; whose stream this is in.
    public let account: AccountID
    /// The dependent.
    public let contact: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, at: Instant) {
        self.account = account
        self.contact = contact
        self.at = at
    }
}

/// A responder pinged the account.
public struct PingReceived: EventBody {
    /// Who was pinged; whose stream this is in.
    public let account: AccountID
    /// The responder.
    public let contact: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, at: Instant) {
        self.account = account
        self.contact = contact
        self.at = at
    }
}

/// A ping was taken back. Each of the two has this in its stream.
public struct PingCancelled: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The other account.
    public let contact: AccountID
    /// Outgoing: this side had sent it.
    public let direction: Direction
    /// When it was sent.
    public let sent: Instant
    /// When it was cancelled.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, direction: Direction, sent: Instant, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.sent = sent
        self.at = at
    }
}

/// A ping was answered. Each of the two has this in its stream, except where ``ReceivedPingsCleared`` says it.
public struct PingAnswered: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The other account.
    public let contact: AccountID
    /// Outgoing: this side had sent it, and the other answered.
    public let direction: Direction
    /// When it was sent.
    public let sent: Instant
    /// When it was answered.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, direction: Direction, sent: Instant, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.sent = sent
        self.at = at
    }
}

/// All pings to the account were answered at once. Each of those who sent them has a ``PingAnswered`` in its stream.
public struct ReceivedPingsCleared: EventBody {
    /// Who answered; whose stream this is in.
    public let account: AccountID
    /// Who had pinged, in the order of their ids; at least one.
    public let contacts: [AccountID]
    /// True for ``ClearReceivedPings``, false for ``RespondToAllPings``.
    public let isClearing: Bool
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contacts: [AccountID], isClearing: Bool, at: Instant) {
        self.account = account
        self.contacts = contacts
        self.isClearing = isClearing
        self.at = at
    }
}
