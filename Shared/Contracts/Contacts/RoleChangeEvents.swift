public import QuartetVocabulary

/// A contact asked to become the other's responder. Each of the two gets this event.
public struct RoleChangeRequested: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// Outgoing: this account asked.
    public let direction: Direction
    public let at: Instant

    public init(account: AccountID, contact: AccountID, direction: Direction, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.at = at
    }
}

/// A request for a role was declined or withdrawn; an accepted one ends with ``ContactUpdated``. Each of the two gets
/// this event.
public struct RoleChangeEnded: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// Outgoing: this account had asked.
    public let direction: Direction
    public let reason: RelationEndReason
    public let at: Instant

    public init(account: AccountID, contact: AccountID, direction: Direction, reason: RelationEndReason, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.reason = reason
        self.at = at
    }
}
