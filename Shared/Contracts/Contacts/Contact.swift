public import Vocabulary

/// A relation between two accounts as one of them sees it.
///
/// Roles are mirrored: who is my responder has me as a dependent. At least one role stays as long as they are contacts.
/// A responder sees the dependent's check-ins, alerts and emergency note, so nobody becomes one without the dependent's
/// consent.
public struct Contact: Codable, Hashable, Sendable, Identifiable {
    /// The other account.
    public var account: AccountID
    /// What this side calls the other; empty for none, at most 50 characters.
    public var nickname: String
    /// What this side wrote about the other; at most 1,000 characters.
    public var notes: String
    /// The other is told when this side misses a check-in or raises an alert, and may ping this side.
    public var isMyResponder: Bool
    /// This side is the other's responder.
    public var iAmResponder: Bool
    /// This side wants to be able to ping the other.
    public var sendPings: Bool
    /// This side lets the other ping it.
    public var receivePings: Bool
    /// This side wants to hear when the other checks in (as the other's responder).
    public var notifyOnCheckIn: Bool
    /// This side wants to hear when the other misses a check-in (as the other's responder).
    public var notifyOnMissedCheckIn: Bool
    /// When this side pinged the other, while no answer came.
    public var outgoingPing: Instant?
    /// When the other pinged this side, while no answer went out.
    public var incomingPing: Instant?
    /// When this side asked to become the other's responder, while no answer came.
    public var outgoingRoleRequest: Instant?
    /// When the other asked to become this side's responder, while no answer went out.
    public var incomingRoleRequest: Instant?
    /// Since when they are contacts.
    public var added: Instant
    /// When nickname, notes, roles or preferences of this side last changed.
    public var updated: Instant
    /// How often nickname, notes, roles or preferences of this side were set, from 1. Pings and requests don't count.
    public var version: Int64

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, nickname: String, notes: String, isMyResponder: Bool, iAmResponder: Bool, sendPings: Bool,
        receivePings: Bool, notifyOnCheckIn: Bool, notifyOnMissedCheckIn: Bool, outgoingPing: Instant? = nil,
        incomingPing: Instant? = nil, outgoingRoleRequest: Instant? = nil, incomingRoleRequest: Instant? = nil,
        added: Instant, updated: Instant, version: Int64
    ) {
        self.account = account
        self.nickname = nickname
        self.notes = notes
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.sendPings = sendPings
        self.receivePings = receivePings
        self.notifyOnCheckIn = notifyOnCheckIn
        self.notifyOnMissedCheckIn = notifyOnMissedCheckIn
        self.outgoingPing = outgoingPing
        self.incomingPing = incomingPing
        self.outgoingRoleRequest = outgoingRoleRequest
        self.incomingRoleRequest = incomingRoleRequest
        self.added = added
        self.updated = updated
        self.version = version
    }

    /// The other account.
    public var id: AccountID { account }
}

/// A request to become contacts that waits for an answer, as one of the two accounts sees it.
public struct ContactRequest: Codable, Hashable, Sendable, Identifiable {
    /// The other account.
    public var account: AccountID
    /// Who asked.
    public var direction: Direction
    /// The other would become this side's responder.
    public var isMyResponder: Bool
    /// The other would become this side's dependent.
    public var iAmResponder: Bool
    /// When it was asked.
    public var requested: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, direction: Direction, isMyResponder: Bool, iAmResponder: Bool, requested: Instant) {
        self.account = account
        self.direction = direction
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.requested = requested
    }

    /// The other account.
    public var id: AccountID { account }
}
