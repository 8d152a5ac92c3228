public import Vocabulary

/// One of two contacts asked to become the other's responder. Each of the two has this in its stream.
public struct RoleChangeRequested: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The other account.
    public let contact: AccountID
    /// Outgoing: this side asked.
    public let direction: Direction
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, direction: Direction, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.at = at
    }
}

/// A request for a role was declined or withdrawn; an accepted one ends with ``ContactUpdated``. Each of the two has this
/// in its stream.
public struct RoleChangeEnded: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The other account.
    public let contact: AccountID
    /// Outgoing: this side had asked.
    public let direction: Direction
    /// Why.
    public let reason: EndReason
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, direction: Direction, reason: EndReason, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.reason = reason
        self.at = at
    }
}
