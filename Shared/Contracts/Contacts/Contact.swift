public import QuartetVocabulary

/// A relation between two accounts, as one of them sees it.
///
/// Roles are mutual: my responder has me as a dependent. Contacts always have at least one role. A responder sees the
/// dependent's check-ins, alerts and emergency note, so no one becomes a responder without the dependent's consent.
public struct Contact: Codable, Hashable, Sendable, Identifiable {
    public var account: AccountID
    /// What this account calls the other: at most 50 characters, or empty.
    public var nickname: String
    /// What this account wrote about the other: at most 1,000 characters.
    public var notes: String
    /// The other is notified when this account misses a check-in or raises an alert, and may ping it.
    public var isMyResponder: Bool
    /// This account is the other's responder.
    public var iAmResponder: Bool
    /// Whether this account wants to ping the other.
    public var sendPings: Bool
    /// Whether this account accepts the other's pings.
    public var receivePings: Bool
    /// Whether this account, as a responder, wants to be notified of the other's check-ins.
    public var notifyOnCheckIn: Bool
    /// Whether this account, as a responder, wants to be notified of the other's missed check-ins.
    public var notifyOnMissedCheckIn: Bool
    /// When this account sent a ping that is still unanswered.
    public var outgoingPing: Instant?
    /// When the other sent a ping that is still unanswered.
    public var incomingPing: Instant?
    /// When an alert is raised unless the other has answered that ping; nil if none is, or ``isOutgoingPingLater``.
    public var outgoingPingDue: Instant?
    /// True if an alert is raised unless the other has answered that ping, and the other's quiet hours put it off: when is theirs to know.
    public var isOutgoingPingLater: Bool?
    /// True if an alert might have come of that ping, and none does any more.
    public var isOutgoingPingOver: Bool?
    /// When an alert is raised unless this account has answered that ping; nil if none is.
    public var incomingPingDue: Instant?
    /// How long the other's pings may stay unanswered before an alert is raised, zero for ever; nil for as long as everybody's.
    /// It is zero of whoever became the responder by this account's code alone, until this account chooses.
    public var pingEscalation: Interval?
    /// When this account asked to become the other's responder; nil once answered.
    public var outgoingRoleRequest: Instant?
    /// When the other asked to become this account's responder; nil once answered.
    public var incomingRoleRequest: Instant?
    /// When they became contacts.
    public var added: Instant
    /// When `version` last changed.
    public var updated: Instant
    /// Counts the changes to this account's nickname, notes, roles or preferences, from 1. Pings and requests don't
    /// count.
    public var version: Int64

    public init(
        account: AccountID, nickname: String, notes: String, isMyResponder: Bool, iAmResponder: Bool, sendPings: Bool,
        receivePings: Bool, notifyOnCheckIn: Bool, notifyOnMissedCheckIn: Bool, outgoingPing: Instant? = nil,
        incomingPing: Instant? = nil, outgoingPingDue: Instant? = nil, isOutgoingPingLater: Bool? = nil,
        isOutgoingPingOver: Bool? = nil, incomingPingDue: Instant? = nil,
        pingEscalation: Interval? = nil, outgoingRoleRequest: Instant? = nil, incomingRoleRequest: Instant? = nil,
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
        self.outgoingPingDue = outgoingPingDue
        self.isOutgoingPingLater = isOutgoingPingLater
        self.isOutgoingPingOver = isOutgoingPingOver
        self.incomingPingDue = incomingPingDue
        self.pingEscalation = pingEscalation
        self.outgoingRoleRequest = outgoingRoleRequest
        self.incomingRoleRequest = incomingRoleRequest
        self.added = added
        self.updated = updated
        self.version = version
    }

    public var id: AccountID { account }

    /// Whether this account's ping waits and no alert comes of it any more: it may ask again, which takes its place. Not just after the
    /// ping, nor of one of which no alert was to come: asking again does nothing unless the other has chosen alerts since, which isn't said.
    /// - Parameter now: By the server's clock.
    public func canAskAgain(at now: Instant) -> Bool {
        guard iAmResponder, isOutgoingPingOver == true, let outgoingPing else { return false }
        // The server's time may have been far ahead, but not for good.
        return now < outgoingPing - SendPing.pause || outgoingPing + SendPing.pause <= now
    }
}

/// A request to become contacts that waits for an answer, as one of the two accounts sees it.
public struct ContactRequest: Codable, Hashable, Sendable, Identifiable {
    public var account: AccountID
    public var direction: Direction
    /// Whether the other would become this account's responder.
    public var isMyResponder: Bool
    /// Whether the other would become this account's dependent.
    public var iAmResponder: Bool
    public var requested: Instant

    public init(account: AccountID, direction: Direction, isMyResponder: Bool, iAmResponder: Bool, requested: Instant) {
        self.account = account
        self.direction = direction
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.requested = requested
    }

    public var id: AccountID { account }
}
