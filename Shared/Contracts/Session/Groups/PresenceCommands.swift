package import QuartetVocabulary

/// Who is here: edge processes say which connections they have, and that they are alive.
package enum PresenceCommand: MessageSet {
    case renewEdge(RenewEdge)
    case expireEdge(ExpireEdge)
    case connectParticipant(ConnectParticipant)
    case disconnectParticipant(DisconnectParticipant)
    case announceDrop(AnnounceDrop)
    case dropParticipant(DropParticipant)

    package static let cases: Cases<Self> = [
        Case(Self.renewEdge), Case(Self.expireEdge), Case(Self.connectParticipant), Case(Self.disconnectParticipant),
        Case(Self.announceDrop), Case(Self.dropParticipant),
    ]

    package var body: any CommandBody {
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
package struct RenewEdge: CommandBody {
    /// The process; another id at each start.
    package let edge: OwnerID
    /// Whether the lease begins; otherwise there must be one.
    package let begins: Bool

    package init(edge: OwnerID, begins: Bool) {
        self.edge = edge
        self.begins = begins
    }
}

/// Takes the connections of an edge process for lost, a piece at a time. Sent by a timer; dropped if the lease was renewed.
package struct ExpireEdge: CommandBody {
    /// The process.
    package let edge: OwnerID
    /// When its lease ends.
    package let until: Instant

    package init(edge: OwnerID, until: Instant) {
        self.edge = edge
        self.until = until
    }
}

/// Says that a participant, who asks, follows a session by one more connection.
///
/// Rejected: `edgeNotFound`, `notParticipant`, `limitReached`. Result: ``ParticipantConnected`` if others were told that they are
/// away; otherwise nothing.
package struct ConnectParticipant: GroupCommandBody {
    /// The session.
    package let group: GroupID
    /// The connection.
    package let connection: ConnectionID
    /// The edge process that has it.
    package let edge: OwnerID

    package init(group: GroupID, connection: ConnectionID, edge: OwnerID) {
        self.group = group
        self.connection = connection
        self.edge = edge
    }
}

/// Says that a connection to a session is lost. When it was a participant's last one, a grace period begins.
///
/// Result: nothing. ``ParticipantDisconnected`` and ``ParticipantLeft`` come when they are due.
package struct DisconnectParticipant: GroupCommandBody {
    /// The session.
    package let group: GroupID
    /// The connection.
    package let connection: ConnectionID

    package init(group: GroupID, connection: ConnectionID) {
        self.group = group
        self.connection = connection
    }
}

/// Tells others that a participant is away. Sent by a timer; dropped if they are back.
package struct AnnounceDrop: GroupCommandBody {
    /// The session.
    package let group: GroupID
    /// The participant.
    package let participant: AccountID
    /// Since when they have no connection.
    package let since: Instant

    package init(group: GroupID, participant: AccountID, since: Instant) {
        self.group = group
        self.participant = participant
        self.since = since
    }
}

/// Ends a participant's grace: they are out, and their seat is free. Sent by a timer; dropped if they are back.
package struct DropParticipant: GroupCommandBody {
    /// The session.
    package let group: GroupID
    /// The participant.
    package let participant: AccountID
    /// Since when they have no connection.
    package let since: Instant

    package init(group: GroupID, participant: AccountID, since: Instant) {
        self.group = group
        self.participant = participant
        self.since = since
    }
}
