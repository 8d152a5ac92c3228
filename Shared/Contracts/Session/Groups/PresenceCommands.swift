public import Vocabulary

/// Who is here: edge processes say which connections they have, and that they are alive.
public enum PresenceCommand: MessageSet {
    case renewEdge(RenewEdge)
    case expireEdge(ExpireEdge)
    case connectParticipant(ConnectParticipant)
    case disconnectParticipant(DisconnectParticipant)
    case announceDrop(AnnounceDrop)
    case dropParticipant(DropParticipant)

    public static let cases: Cases<Self> = [
        Case(Self.renewEdge), Case(Self.expireEdge), Case(Self.connectParticipant), Case(Self.disconnectParticipant),
        Case(Self.announceDrop), Case(Self.dropParticipant),
    ]

    public var body: any CommandBody {
        switch self {
        case .renewEdge(let body): body
        case .expireEdge(let body): body
        case .connectParticipant(let body): body
        case .disconnectParticipant(let body): body
        case .announceDrop(let body): body
        case .dropParticipant(let body): body
        }
    }
}

/// Says that an edge process is alive, for another `session.limits.edge_lease`. Sent on behalf of nobody, under the edge's key.
///
/// Rejected: `edgeNotFound` when its lease has ended: then all its connections count as lost. It takes a new id, begins, and
/// connects them again; what takes less than `session.limits.drop_notice` is never published.
public struct RenewEdge: CommandBody {
    /// The process; another id at each start.
    public let edge: OwnerID
    /// Whether the lease begins; otherwise there must be one.
    public let begins: Bool

    public init(edge: OwnerID, begins: Bool) {
        self.edge = edge
        self.begins = begins
    }
}

/// Takes the connections of an edge process for lost, a piece at a time. Sent by a timer; dropped if the lease was renewed.
public struct ExpireEdge: CommandBody {
    /// The process.
    public let edge: OwnerID
    /// When its lease ends.
    public let until: Instant

    public init(edge: OwnerID, until: Instant) {
        self.edge = edge
        self.until = until
    }
}

/// Says that a participant, who asks, follows a session by one more connection.
///
/// Rejected: `edgeNotFound`, `notParticipant`, `limitReached`. Result: ``ParticipantConnected`` if others were told that they are
/// away; otherwise nothing.
public struct ConnectParticipant: GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The connection.
    public let connection: ConnectionID
    /// The edge process that has it.
    public let edge: OwnerID

    public init(group: GroupID, connection: ConnectionID, edge: OwnerID) {
        self.group = group
        self.connection = connection
        self.edge = edge
    }
}

/// Says that a connection to a session is lost. When it was a participant's last one, a grace period begins.
///
/// Result: nothing. ``ParticipantDisconnected`` and ``ParticipantLeft`` come when they are due.
public struct DisconnectParticipant: GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The connection.
    public let connection: ConnectionID

    public init(group: GroupID, connection: ConnectionID) {
        self.group = group
        self.connection = connection
    }
}

/// Tells others that a participant is away. Sent by a timer; dropped if they are back.
public struct AnnounceDrop: GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let participant: AccountID
    /// Since when they have no connection.
    public let since: Instant

    public init(group: GroupID, participant: AccountID, since: Instant) {
        self.group = group
        self.participant = participant
        self.since = since
    }
}

/// Ends a participant's grace: they are out, and their seat is free. Sent by a timer; dropped if they are back.
public struct DropParticipant: GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let participant: AccountID
    /// Since when they have no connection.
    public let since: Instant

    public init(group: GroupID, participant: AccountID, since: Instant) {
        self.group = group
        self.participant = participant
        self.since = since
    }
}
