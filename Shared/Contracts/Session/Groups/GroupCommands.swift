public import QuartetVocabulary

/// Commands about a group session's participants and host.
package enum GroupCommand: MessageSet {
    case createGroupSession(CreateGroupSession)
    case activateGroupSession(ActivateGroupSession)
    case joinGroupSession(JoinGroupSession)
    case leaveGroupSession(LeaveGroupSession)
    case removeParticipant(RemoveParticipant)
    case transferHost(TransferHost)
    case endGroupSession(EndGroupSession)
    case expireGroupSession(ExpireGroupSession)
    case withdrawInvitations(WithdrawInvitations)

    package static let cases: Cases<Self> = [
        Case(Self.createGroupSession), Case(Self.activateGroupSession), Case(Self.joinGroupSession),
        Case(Self.leaveGroupSession), Case(Self.removeParticipant), Case(Self.transferHost),
        Case(Self.endGroupSession), Case(Self.expireGroupSession),
        Case(Self.withdrawInvitations),
    ]

    package var body: any CommandBody {
        switch self {
        case .createGroupSession(let body): body
        case .activateGroupSession(let body): body
        case .joinGroupSession(let body): body
        case .leaveGroupSession(let body): body
        case .removeParticipant(let body): body
        case .transferHost(let body): body
        case .endGroupSession(let body): body
        case .expireGroupSession(let body): body
        case .withdrawInvitations(let body): body
        }
    }
}

/// A command to a group session, sent under the session's key.
public protocol GroupCommandBody: CommandBody {
    /// The session.
    var group: GroupID { get }
}

/// A group session goes on without a person whose command comes late.
extension GroupCommandBody where Self: PublicCommandBody {
    public static var sending: Sending { .together }
    public var orderSubject: String { "\(group)" }
}

extension Sending {
    /// Commands of a group session.
    public static let together = Sending(.group, for: .seconds(10), mayWait: false)
}

/// Creates a group session. The asker becomes its first participant and its host.
///
/// Rejected: `needsProfile`, `alreadyInSession` with the session to join, `tooManyGroups`, `groupExists`.
/// Result: ``GroupSessionCreated``.
public struct CreateGroupSession: GroupCommandBody {
    /// Its id, which the sender derives from the command's.
    public let group: GroupID
    /// The activity.
    public let activity: GroupSessionActivity
    /// The most participants; see ``GroupRules/capacities``.
    public let capacity: Int?
    /// The number of seats; see ``GroupRules/seats``.
    public let seats: Int?
    /// Whether contacts of the host may join without an invitation.
    public let isOpenToContacts: Bool?

    public init(
        group: GroupID, activity: GroupSessionActivity, capacity: Int? = nil, seats: Int? = nil,
        isOpenToContacts: Bool? = nil
    ) {
        self.group = group
        self.activity = activity
        self.capacity = capacity
        self.seats = seats
        self.isOpenToContacts = isOpenToContacts
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        try activity.validate()
        if let capacity, !GroupRules.capacities.contains(capacity) {
            throw Rejection(.invalidField, "Choose a capacity from 1 to 100.", field: "capacity")
        }
        if capacity == 1, isOpenToContacts == true {
            throw Rejection(
                .invalidField, "Leave this out: a session of one is for your own devices.", field: "isOpenToContacts")
        }
        if let seats, !GroupRules.seats.contains(seats) {
            throw Rejection(.invalidField, "Choose 0 to 32 seats.", field: "seats")
        }
    }
}

/// Invites people, except those who are already invited or in the session. Host only.
///
/// The sender has checked that all of them are contacts of the asker: session doesn't know.
///
/// Rejected: `notHost`, `accountNotFound`, `accountClosed`, `limitReached`, `groupFull` for the asker's own devices,
/// `tooSoon` within a minute of someone being put out or uninvited. Result: ``ParticipantsInvited``; nothing if all were.
public struct ActivateGroupSession: GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The accounts to invite; see ``GroupRules/invitations``.
    public let contacts: [AccountID]

    public init(group: GroupID, contacts: [AccountID]) {
        self.group = group
        self.contacts = contacts
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        guard GroupRules.invitations.contains(contacts.count) else {
            throw Rejection(.invalidField, "Choose 1 to 100 people.", field: "contacts")
        }
        guard Set(contacts).count == contacts.count else {
            throw Rejection(.invalidField, "Name each person once.", field: "contacts")
        }
    }
}

/// Enters a session: one that the asker is invited to, left or was dropped from, or may enter as a contact of its host.
///
/// If the asker is already in it, nothing changes. A declined invitation lets nobody in, and neither does one after
/// ``WithdrawInvitations``.
///
/// Rejected: `groupNotFound` also without an invitation, `groupEnded`, `groupFull`, `removedFromGroup`, `hostChanged`, `limitReached`,
/// `needsProfile`, `alreadyInSession` with the other session, `tooManyGroups`. Result: ``ParticipantJoined``; nothing if they were in.
public struct JoinGroupSession: GroupCommandBody {
    /// The session.
    public let group: GroupID
    /// The account that the asker is a contact of, as the sender has looked up: it counts if this is the host.
    public let contactOf: AccountID?

    public init(group: GroupID, contactOf: AccountID? = nil) {
        self.group = group
        self.contactOf = contactOf
    }
}

/// Leaves a session, or declines the invitation to it.
///
/// Result: ``ParticipantLeft`` or ``InvitationWithdrawn``; nothing if they weren't in and had no invitation.
public struct LeaveGroupSession: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID

    public init(group: GroupID) {
        self.group = group
    }
}

/// Removes a participant, who then needs an invitation to come back, or withdraws an invitation. Host only.
///
/// Rejected: `notHost`, `participantNotFound`, `invalidField` for the host. Result: ``ParticipantLeft`` or ``InvitationWithdrawn``.
public struct RemoveParticipant: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The account to remove.
    public let participant: AccountID

    public init(group: GroupID, participant: AccountID) {
        self.group = group
        self.participant = participant
    }
}

/// Makes another participant the host. Only the host may do this.
///
/// Rejected: `notHost`, `participantNotFound`. Result: ``HostTransferred``; nothing if they are the host.
public struct TransferHost: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The next host.
    public let to: AccountID

    public init(group: GroupID, to: AccountID) {
        self.group = group
        self.to = to
    }
}

/// Ends a session for all. The host may do this, and its creator while in it.
///
/// Rejected: `notHost`. Result: ``GroupSessionEnded``; nothing if it was over.
public struct EndGroupSession: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID

    public init(group: GroupID) {
        self.group = group
    }
}

/// Ends a session that has been empty for too long. Sent by a timer; does nothing if someone has joined meanwhile.
package struct ExpireGroupSession: GroupCommandBody {
    /// The session.
    package let group: GroupID
    /// When the last participant left; nil while someone is in it.
    package let since: Instant

    package init(group: GroupID, since: Instant) {
        self.group = group
        self.since = since
    }
}

/// Withdraws a person's invitations to all sessions whose host the asker is or to which the asker invited them: they aren't contacts
/// any more. Whoever is in one of these stays, but can't come back by the invitation after leaving. A policy sends this.
///
/// Result: ``InvitationWithdrawn`` for each that wasn't used; nothing if there is none.
public struct WithdrawInvitations: CommandBody {
    /// The invited account.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}
