public import QuartetVocabulary

/// The events of a group session, in its stream `group/<group session>`.
///
/// Events and state have ids alone, and nothing of a person besides: the stream is other people's, too, and stays when an
/// account is closed. Names and pictures come from the profile; ``ParticipantUpdated`` says when to look again.
public enum GroupEvent: MessageSet {
    case groupSessionCreated(GroupSessionCreated)
    case participantsInvited(ParticipantsInvited)
    case invitationWithdrawn(InvitationWithdrawn)
    case participantJoined(ParticipantJoined)
    case participantUpdated(ParticipantUpdated)
    case participantDisconnected(ParticipantDisconnected)
    case participantConnected(ParticipantConnected)
    case participantLeft(ParticipantLeft)
    case hostTransferred(HostTransferred)
    case groupSessionEnded(GroupSessionEnded)

    package static let cases: Cases<Self> = [
        Case(Self.groupSessionCreated), Case(Self.participantsInvited), Case(Self.invitationWithdrawn),
        Case(Self.participantJoined), Case(Self.participantUpdated), Case(Self.participantDisconnected),
        Case(Self.participantConnected), Case(Self.participantLeft), Case(Self.hostTransferred),
        Case(Self.groupSessionEnded),
    ]

    public var body: any EventBody {
        switch self {
        case .groupSessionCreated(let body): body
        case .participantsInvited(let body): body
        case .invitationWithdrawn(let body): body
        case .participantJoined(let body): body
        case .participantUpdated(let body): body
        case .participantDisconnected(let body): body
        case .participantConnected(let body): body
        case .participantLeft(let body): body
        case .hostTransferred(let body): body
        case .groupSessionEnded(let body): body
        }
    }
}

/// An event in a group session's stream.
public protocol GroupEventBody: EventBody {
    /// The session.
    var group: GroupID { get }
}

extension GroupEventBody {
    /// The stream of the session.
    public var stream: Key { .group(group) }
}

/// A session began; its creator is in it and its host.
public struct GroupSessionCreated: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The creator.
    public let account: AccountID
    /// The activity.
    public let activity: GroupSessionActivity
    /// The most participants.
    public let capacity: Int
    /// The number of seats.
    public let seats: Int
    /// Whether contacts of the host may join without an invitation.
    public let isOpenToContacts: Bool
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, activity: GroupSessionActivity, capacity: Int, seats: Int,
        isOpenToContacts: Bool,
        at: Instant
    ) {
        self.group = group
        self.account = account
        self.activity = activity
        self.capacity = capacity
        self.seats = seats
        self.isOpenToContacts = isOpenToContacts
        self.at = at
    }
}

/// New invitations.
public struct ParticipantsInvited: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The host.
    public let account: AccountID
    /// The invited account or accounts.
    public let invited: [AccountID]
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, invited: [AccountID], at: Instant) {
        self.group = group
        self.account = account
        self.invited = invited
        self.at = at
    }
}

/// An invitation ended: the host withdrew it, or the invited person declined.
public struct InvitationWithdrawn: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The invited account or accounts.
    public let account: AccountID
    /// The host or the invited person, whoever ended it.
    public let by: AccountID
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, by: AccountID, at: Instant) {
        self.group = group
        self.account = account
        self.by = by
        self.at = at
    }
}

/// Someone joined. They count as present and have the grace period to connect.
public struct ParticipantJoined: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    /// The place in the order of joining, which succession goes by; a new one for each join.
    public let ordinal: Int
    /// Whether they became host because the session was empty.
    public let isHost: Bool
    /// Whom it concerns that somebody isn't alone in the session any more; nil unless this is the first time.
    public let start: GroupStart?
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, ordinal: Int, isHost: Bool, start: GroupStart? = nil, at: Instant
    ) {
        self.group = group
        self.account = account
        self.ordinal = ordinal
        self.isHost = isHost
        self.start = start
        self.at = at
    }
}

/// Who hears that a session has started, which it does once: when somebody joins the one who is alone in it.
public struct GroupStart: Codable, Hashable, Sendable {
    /// The host, who was alone.
    public let host: AccountID
    /// The accounts that the host had invited and that haven't joined.
    public let invited: [AccountID]

    public init(host: AccountID, invited: [AccountID]) {
        self.host = host
        self.invited = invited
    }
}

/// A participant's name or picture changed.
public struct ParticipantUpdated: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Whose.
    public let account: AccountID
    /// Counts the changes since they joined, from 1.
    public let version: Int64
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, version: Int64, at: Instant) {
        self.group = group
        self.account = account
        self.version = version
        self.at = at
    }
}

/// A participant has lost every connection. They keep seat and role until the grace period is over.
public struct ParticipantDisconnected: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    /// Since when.
    public let since: Instant
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, since: Instant, at: Instant) {
        self.group = group
        self.account = account
        self.since = since
        self.at = at
    }
}

/// A participant is connected again.
public struct ParticipantConnected: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, at: Instant) {
        self.group = group
        self.account = account
        self.at = at
    }
}

/// A participant left. Their seat is free. The event names the host from now on, so there is one at every position.
public struct ParticipantLeft: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The participant.
    public let account: AccountID
    /// Why.
    public let reason: LeaveReason
    /// The host who removed them.
    public let by: AccountID?
    /// The host from now on; nil if nobody is left.
    public let host: AccountID?
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, reason: LeaveReason, by: AccountID? = nil, host: AccountID?, at: Instant
    ) {
        self.group = group
        self.account = account
        self.reason = reason
        self.by = by
        self.host = host
        self.at = at
    }
}

/// The host handed over to another participant.
public struct HostTransferred: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The host from now on.
    public let account: AccountID
    /// The host until now.
    public let from: AccountID
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, from: AccountID, at: Instant) {
        self.group = group
        self.account = account
        self.from = from
        self.at = at
    }
}

/// The session ended for everyone. Nothing follows in its stream.
public struct GroupSessionEnded: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The account that ended it; the creator if it expired.
    public let account: AccountID
    /// Why.
    public let reason: GroupEndReason
    /// The participants at the end.
    public let participants: [AccountID]
    /// The accounts whose invitations end.
    public let invited: [AccountID]
    /// Those of ``invited`` whom ``account`` had invited; nil from servers of 0.1.0.
    public let guests: [AccountID]?
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, reason: GroupEndReason, participants: [AccountID], invited: [AccountID],
        guests: [AccountID]? = nil, at: Instant
    ) {
        self.group = group
        self.account = account
        self.reason = reason
        self.participants = participants
        self.invited = invited
        self.guests = guests
        self.at = at
    }
}
