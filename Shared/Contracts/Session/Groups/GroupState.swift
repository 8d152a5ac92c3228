public import QuartetContractSupport
public import QuartetVocabulary

/// A group session as everybody in it sees it: the state of the stream `group/<group session>`. It has ids alone; names and
/// pictures come from the profiles.
///
/// Folding a stream's events from its beginning gives the same as what the owner publishes, for everybody alike.
public struct GroupState: Codable, Hashable, Sendable {
    /// Its id.
    public var group: GroupID
    /// The creator; nil before the first event.
    public var creator: AccountID?
    /// The activity; nil before the first event.
    public var activity: GroupSessionActivity?
    /// The most participants.
    public var capacity: Int
    /// The number of seats, which are numbered from 0.
    public var seats: Int
    /// Whether contacts of the host may join without an invitation.
    public var isOpenToContacts: Bool
    /// The host: one of the participants; nil while there are none.
    public var host: AccountID?
    /// The participants.
    public var participants: Ordered<GroupParticipant>
    /// The invited accounts that haven't joined.
    public var invited: Ordered<Invitation>
    /// The game that is played, or was played last.
    public var game: Game?
    /// What is played together; nil before anything was.
    public var playback: Playback?
    /// What comes next, in this order.
    public var queue: [PlaybackItem]
    /// The attachments, without their bytes. They stay when their uploaders leave.
    public var attachments: Ordered<GroupAttachment>
    /// When it began.
    public var created: Instant?
    /// How it ended; nothing changes after that.
    public var end: GroupEnd?

    public init(
        group: GroupID, creator: AccountID? = nil, activity: GroupSessionActivity? = nil, capacity: Int = 0,
        seats: Int = 0,
        isOpenToContacts: Bool = false, host: AccountID? = nil, participants: Ordered<GroupParticipant> = [],
        invited: Ordered<Invitation> = [], game: Game? = nil, playback: Playback? = nil, queue: [PlaybackItem] = [],
        attachments: Ordered<GroupAttachment> = [], created: Instant? = nil, end: GroupEnd? = nil
    ) {
        self.group = group
        self.creator = creator
        self.activity = activity
        self.capacity = capacity
        self.seats = seats
        self.isOpenToContacts = isOpenToContacts
        self.host = host
        self.participants = participants
        self.invited = invited
        self.game = game
        self.playback = playback
        self.queue = queue
        self.attachments = attachments
        self.created = created
        self.end = end
    }

    /// The occupant of a seat; nil if it is free.
    public func occupant(of seat: Int) -> AccountID? { participants.first { $0.seat == seat }?.id }
}

/// A participant.
public struct GroupParticipant: Codable, Hashable, Sendable, Identifiable {
    /// The account.
    public var id: AccountID
    /// The place in the order of joining.
    public var ordinal: Int
    /// Since when.
    public var joined: Instant
    /// Since when they have been away, if that was announced.
    public var awaySince: Instant?
    /// Their seat.
    public var seat: Int?
    /// Counts the changes of their name and picture since they joined.
    public var version: Int64
    /// Whether the group waits for them if they ask: they said that they can be ready.
    public var isReady: Bool
    /// Their request that the group wait.
    public var suspension: Suspension?

    public init(
        id: AccountID, ordinal: Int, joined: Instant, awaySince: Instant? = nil, seat: Int? = nil, version: Int64 = 0,
        isReady: Bool = false, suspension: Suspension? = nil
    ) {
        self.id = id
        self.ordinal = ordinal
        self.joined = joined
        self.awaySince = awaySince
        self.seat = seat
        self.version = version
        self.isReady = isReady
        self.suspension = suspension
    }
}

/// An invitation.
public struct Invitation: Codable, Hashable, Sendable, Identifiable {
    /// The account.
    public var id: AccountID
    /// When.
    public var at: Instant

    public init(id: AccountID, at: Instant) {
        self.id = id
        self.at = at
    }
}

/// How a session ended.
public struct GroupEnd: Codable, Hashable, Sendable {
    /// Why.
    public var reason: GroupEndReason
    /// The account that ended it; nil if it expired.
    public var by: AccountID?
    /// When.
    public var at: Instant

    public init(reason: GroupEndReason, by: AccountID? = nil, at: Instant) {
        self.reason = reason
        self.by = by
        self.at = at
    }
}

extension GroupState {
    /// Takes in the next event of the stream. Events of other streams change nothing.
    public mutating func apply(_ event: SessionEvent) {
        guard end == nil, event.body.stream == .group(group) else { return }
        switch event {
        case .group(let event): apply(event)
        case .game(let event): apply(event)
        case .playback(let event): apply(event)
        case .attachment(let event): apply(event)
        default: break
        }
    }

    private mutating func apply(_ event: GroupEvent) {
        switch event {
        case .groupSessionCreated(let event):
            self = GroupState(
                group: group, creator: event.account, activity: event.activity, capacity: event.capacity,
                seats: event.seats, isOpenToContacts: event.isOpenToContacts, host: event.account,
                participants: [GroupParticipant(id: event.account, ordinal: 1, joined: event.at)], created: event.at)
        case .participantsInvited(let event):
            for account in event.invited { invited[account] = Invitation(id: account, at: event.at) }
        case .invitationWithdrawn(let event): invited[event.account] = nil
        case .participantJoined(let event):
            invited[event.account] = nil
            participants[event.account] = GroupParticipant(id: event.account, ordinal: event.ordinal, joined: event.at)
            if event.isHost { host = event.account }
        case .participantUpdated(let event): participants[event.account]?.version = event.version
        case .participantDisconnected(let event): participants[event.account]?.awaySince = event.since
        case .participantConnected(let event): participants[event.account]?.awaySince = nil
        case .participantLeft(let event):
            participants[event.account] = nil
            host = event.host
        case .hostTransferred(let event): host = event.account
        case .groupSessionEnded(let event):
            participants = []
            invited = []
            (host, game, playback, queue) = (nil, nil, nil, [])
            attachments = []
            end = GroupEnd(
                reason: event.reason, by: event.reason == .ended ? event.account : nil, at: event.at)
        }
    }
}
