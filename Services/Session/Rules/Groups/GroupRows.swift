package import QuartetSessionContract
package import QuartetVocabulary

/// A group session.
package struct GroupSessionRow: Equatable, Sendable {
    /// The creator.
    package var creator: AccountID
    /// The activity's identifier. An account is in at most one session per identifier.
    package var identifier: String
    /// The most participants.
    package var capacity: Int
    /// The number of seats.
    package var seats: Int
    /// Whether contacts of the host may join without an invitation.
    package var isOpenToContacts: Bool
    /// The host; nil while nobody is in it.
    package var host: AccountID?
    /// The number of joins so far.
    package var joins: Int
    /// When the last participant left; nil while someone is in it.
    package var emptySince: Instant?
    /// When it began.
    package var created: Instant
    /// When somebody joined the one who was alone in it, for the first time.
    package var started: Instant?
    /// When it ended.
    package var ended: Instant?
    /// Why.
    package var endReason: GroupEndReason?
    /// Who ended it.
    package var endedBy: AccountID?

    /// Whether it is for one person's own devices. It lasts while none of them is connected, until they leave it.
    package var isSolo: Bool { capacity == 1 }

    /// To read a row into.
    package static let blank = Self(
        creator: .blank, identifier: "", capacity: 0, seats: 0, isOpenToContacts: false, joins: 0, created: .blank)
}

/// A participant's key: an account has one row per session, however often it joins.
package struct ParticipantKey: Hashable, Comparable, Sendable {
    package let group: GroupID
    package let account: AccountID

    package init(_ group: GroupID, _ account: AccountID) {
        self.group = group
        self.account = account
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.group, left.account) < (right.group, right.account)
    }
}

/// An account's relation to a session.
package enum ParticipantStatus: String, Codable, Hashable, Sendable {
    /// Invited and not in it.
    case waiting
    /// In it.
    case joined
    /// Not in it any more, or not invited any more.
    case invalidated
}

/// An account that is in a session, was in it, or is invited to it.
package struct ParticipantRow: Equatable, Sendable {
    /// The identifier of the session's activity.
    package var identifier: String
    package var status: ParticipantStatus
    /// Since when.
    package var since: Instant
    /// Why not any more.
    package var reason: LeaveReason?
    /// By whose invitation they may enter, now or again: the host who invited or let them in, or for the creator themselves. Nil
    /// for those who would need another invitation.
    package var invitedBy: AccountID?
    /// The place in the order of joining, from 1; 0 before joining.
    package var ordinal = 0
    /// Their seat.
    package var seat: Int?
    /// When the last connection was lost; nil while connected.
    package var droppedAt: Instant?
    /// Whether the loss was announced to the others.
    package var isDropAnnounced = false
    /// Not before then is it decided again that they are away: by now they may have said that they are back.
    package var reconsideredAt: Instant?
    /// Counts the changes of their name and picture since they joined.
    package var version: Int64 = 0
    /// Whether they said that they can be ready.
    package var isReady = false
    /// Their request that the group wait.
    package var suspension: Suspension?

    /// To read a row into.
    package static let blank = Self(identifier: "", status: .waiting, since: .blank)

    /// Puts them out, or takes their invitation back. Only those who were in and weren't put out by anybody may come back.
    mutating func invalidate(_ reason: LeaveReason, at time: Instant) {
        if status != .joined || !reason.allowsReturn { invitedBy = nil }
        status = .invalidated
        since = time
        self.reason = reason
        (seat, suspension, isReady) = (nil, nil, false)
        comeBack()
    }

    /// They have a connection, or none matters any more.
    mutating func comeBack() {
        droppedAt = nil
        isDropAnnounced = false
        reconsideredAt = nil
    }
}

extension LeaveReason {
    /// Whether those who left for this reason may join again as they did before.
    fileprivate var allowsReturn: Bool {
        switch self {
        case .left, .dropped: true
        case .removed, .ended, .accountClosed: false
        }
    }
}

/// Where a connection to a session is kept.
package struct ConnectionKey: Hashable, Comparable, Sendable {
    package let group: GroupID
    package let connection: ConnectionID

    package init(_ group: GroupID, _ connection: ConnectionID) {
        self.group = group
        self.connection = connection
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.group, left.connection) < (right.group, right.connection)
    }
}

/// A connection by which a participant follows a session.
package struct ConnectionRow: Equatable, Sendable {
    /// The participant.
    package var account: AccountID
    /// The edge process that has the connection.
    package var edge: OwnerID

    package init(account: AccountID, edge: OwnerID) {
        self.account = account
        self.edge = edge
    }
}

/// An edge process.
package struct EdgeRow: Equatable, Sendable {
    /// When its lease ends, unless it is renewed.
    package var leaseUntil: Instant
    /// When the lease ended; the row goes with the last connection.
    package var ended: Instant?
    /// Not before then is it decided again that the lease ended: by now it may have been renewed.
    package var reconsideredAt: Instant?

    package init(leaseUntil: Instant, ended: Instant? = nil, reconsideredAt: Instant? = nil) {
        self.leaseUntil = leaseUntil
        self.ended = ended
        self.reconsideredAt = reconsideredAt
    }
}

package struct WithdrawalKey: Hashable, Comparable, Sendable {
    package let inviter: AccountID
    package let invited: AccountID

    package init(_ inviter: AccountID, _ invited: AccountID) {
        self.inviter = inviter
        self.invited = invited
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.inviter, left.invited) < (right.inviter, right.invited)
    }
}

/// An account's invitations to another were withdrawn.
package struct WithdrawalRow: Equatable, Sendable {
    package var at: Instant

    package static let blank = Self(at: .blank)

    package init(at: Instant) {
        self.at = at
    }
}

/// What session keeps of group sessions, as far as a batch of commands touches it: of a session that is here, all
/// participants and invited accounts, and of those who are out the ones that commands name; its connections, its game, its playback, its queue and its attachments where these matter.
package struct GroupRows: Equatable, Sendable {
    /// Sessions, also such as are over.
    package var sessions = WorkingSet<GroupID, GroupSessionRow>()
    /// The activity of each session: written once, read by no rule.
    package var activities = WorkingSet<GroupID, GroupSessionActivity>()
    /// Connections to sessions.
    package var connections = WorkingSet<ConnectionKey, ConnectionRow>()
    /// Edge processes.
    package var edges = WorkingSet<OwnerID, EdgeRow>()
    /// Edge processes that have connections besides those here.
    package var edgesWithMore: Set<OwnerID> = []
    /// The times of the oldest commands that are to be handled yet, for sessions and edge processes about which timers decide: among
    /// them may be some for these.
    package var waitingCommands: [Key: Instant] = [:]
    /// How many accounts that are out of a session aren't here, where commands bring new ones.
    package var others: [GroupID: Int] = [:]
    /// Whose invitations to whom were withdrawn lately, because they are no contacts any more.
    package var withdrawals = WorkingSet<WithdrawalKey, WithdrawalRow>()
    /// The games of sessions.
    package var games = WorkingSet<GroupID, Game>()
    /// What was sent in sessions so far.
    package var messageHistories = WorkingSet<GroupID, MessageHistoryRow>()
    /// Messages of sessions: the oldest ones, which new ones may displace.
    package var messages = WorkingSet<MessageKey, MessageRow>()
    /// What sessions play. The rows of those that somebody waits in are here whenever a suspension may end.
    package var playbacks = WorkingSet<GroupID, Playback>()
    /// What sessions play next.
    package var queueItems = WorkingSet<QueueKey, QueueRow>()
    /// Attachments, those that are being uploaded too.
    package var attachments = WorkingSet<AttachmentKey, AttachmentRow>()
    /// The descriptions of complete attachments: written once, read by no rule. They go with the attachment.
    package var attachmentDescriptions = WorkingSet<AttachmentKey, AttachmentDescription>()
    /// Adopted chunks. They go with the attachment, a little later.
    package var chunks = WorkingSet<ChunkKey, ChunkHash>()
    private var participants = WorkingSet<ParticipantKey, ParticipantRow>()
    private var accounts: [GroupID: Set<AccountID>] = [:]
    private var groups: [AccountID: Set<GroupID>] = [:]

    package init() {}

    /// Takes a participant as the database has it.
    package mutating func load(_ row: ParticipantRow, at key: ParticipantKey) {
        participants.load(row, at: key)
        index(key)
    }

    /// The changes to participants.
    package var participantChanges: WorkingSet<ParticipantKey, ParticipantRow>.Changes { participants.changes }

    /// How an account stands to a session; nil where it has nothing to do with it.
    package subscript(group: GroupID, account: AccountID) -> ParticipantRow? {
        get { participants[ParticipantKey(group, account)] }
        set {
            participants[ParticipantKey(group, account)] = newValue
            if newValue != nil { index(ParticipantKey(group, account)) }
        }
    }

    private mutating func index(_ key: ParticipantKey) {
        accounts[key.group, default: []].insert(key.account)
        groups[key.account, default: []].insert(key.group)
    }

    /// The accounts of a session that have a status there, in the order of their ids.
    package func accounts(of group: GroupID, _ status: ParticipantStatus) -> [AccountID] {
        accounts[group, default: []].filter { self[group, $0]?.status == status }.sorted()
    }

    /// The accounts that somebody invited to a session and that haven't joined, in the order of their ids.
    func accounts(of group: GroupID, invitedBy inviter: AccountID) -> [AccountID] {
        accounts(of: group, .waiting).filter { self[group, $0]?.invitedBy == inviter }
    }

    /// The number of accounts that are in a session, were in it or invited to it.
    func known(of group: GroupID) -> Int { accounts[group, default: []].count + others[group, default: 0] }

    /// The sessions where an account may enter by somebody's invitation, or is by one, in the order of their ids.
    func groups(inviting account: AccountID) -> [GroupID] {
        groups[account, default: []].filter { self[$0, account]?.invitedBy != nil }.sorted()
    }

    /// The sessions that an account is in, in the order of their ids.
    package func groups(of account: AccountID) -> [GroupID] {
        groups[account, default: []].filter { self[$0, account]?.status == .joined }.sorted()
    }

    /// The connections of a session, or of one account to it.
    func connections(of group: GroupID, _ account: AccountID? = nil) -> [ConnectionKey] {
        connections.keys.filter { key in
            key.group == group && (account == nil || connections[key]?.account == account)
        }
    }

    /// The next host: of the participants whose absence wasn't announced, the one who joined first.
    func succession(of group: GroupID) -> AccountID? {
        let joined = accounts(of: group, .joined).compactMap { account in
            self[group, account].map { (account: account, row: $0) }
        }
        return joined.min {
            ($0.row.isDropAnnounced ? 1 : 0, $0.row.ordinal) < ($1.row.isDropAnnounced ? 1 : 0, $1.row.ordinal)
        }?.account
    }

    /// Compares the rows only, not how they were found.
    package static func == (left: Self, right: Self) -> Bool {
        left.sessions == right.sessions && left.activities == right.activities
            && left.participants == right.participants && left.connections == right.connections
            && left.edges == right.edges && left.withdrawals == right.withdrawals && left.games == right.games
            && left.messageHistories == right.messageHistories && left.messages == right.messages
            && left.playbacks == right.playbacks && left.queueItems == right.queueItems
            && left.attachments == right.attachments
            && left.attachmentDescriptions == right.attachmentDescriptions && left.chunks == right.chunks
    }
}
