import Bus
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// The connections of this process that follow group sessions, and which of them get what isn't part of the sequence.
///
/// A connection says that it follows as a participant when it comes to that in the sequence, and may take long to get there. That
/// an account isn't in the session any more is therefore taken from the log itself, ahead of connections that lag behind.
final class GroupFollowers: Sendable {
    /// A connection that follows a session.
    struct Follower: Sendable {
        let account: AccountID
        /// Where events of the session enter the connection. What isn't part of the sequence is put without a place, so that it
        /// has no id.
        let outlet: StreamOutlet
        /// Whether the account is in the session; otherwise it only looks on.
        var isParticipant = false
        /// Where the account left the session last, since the connection began to follow it.
        var leftAt = Position.start
    }

    /// That a connection follows a session, from one join of the sequence to the next.
    struct Following: Sendable {
        /// The session's state as it is folded here.
        let fold: GroupFold
        /// How often the process had missed rows of the log before.
        fileprivate let misses: UInt64
    }

    private struct Followed: Sendable {
        let fold = GroupFold()
        var followers: [ObjectIdentifier: Follower] = [:]
    }

    private struct State: Sendable {
        var groups: [GroupID: Followed] = [:]
        var misses: UInt64 = 0

        /// An account, or everybody, isn't in a session any more. Returns the connections that this concerns.
        mutating func putOut(
            _ account: AccountID?, of group: GroupID, at position: Position
        ) -> [(GroupID, StreamOutlet)] {
            let concerned = (groups[group]?.followers ?? [:]).filter { account == nil || $0.value.account == account }
            for id in concerned.keys {
                groups[group]?.followers[id]?.isParticipant = false
                groups[group]?.followers[id]?.leftAt = position
            }
            return concerned.values.map { (group, $0.outlet) }
        }
    }

    private let state = Mutex(State())

    /// A connection is about to join the sequence of a session: whoever leaves from now on is noticed.
    func add(_ follower: Follower, to group: GroupID) -> Following {
        state.withLock { state in
            state.groups[group, default: Followed()].followers[ObjectIdentifier(follower.outlet)] = follower
            return Following(fold: state.groups[group, default: Followed()].fold, misses: state.misses)
        }
    }

    /// Undoes ``add(_:to:)``. Again, it changes nothing.
    func remove(_ outlet: StreamOutlet, from group: GroupID) {
        state.withLock { state in
            state.groups[group]?.followers[ObjectIdentifier(outlet)] = nil
            if state.groups[group]?.followers.isEmpty == true { state.groups[group] = nil }
        }
        outlet.dropSignals(of: group)
    }

    /// Whether nothing was missed since a connection was about to join. Otherwise it has to join again.
    func isCurrent(_ following: Following) -> Bool { state.withLock { $0.misses == following.misses } }

    /// Notes whether the account of a connection takes part in the session that it follows, as the connection finds at a position of
    /// the sequence. What is known to be over by then counts no more.
    func note(
        isParticipant: Bool, at position: Position, _ outlet: StreamOutlet, in group: GroupID, _ following: Following
    ) {
        let id = ObjectIdentifier(outlet)
        let isIn = state.withLock { state in
            guard let follower = state.groups[group]?.followers[id] else { return false }
            let isIn = isParticipant && position >= follower.leftAt && state.misses == following.misses
            state.groups[group]?.followers[id]?.isParticipant = isIn
            return isIn
        }
        if !isIn { outlet.dropSignals(of: group) }
    }

    /// The connections that follow a session now: to them goes what isn't kept.
    func followers(of group: GroupID) -> [Follower] {
        state.withLock { $0.groups[group].map { Array($0.followers.values) } ?? [] }
    }

    // MARK: Who left

    /// Whether a row of session's log may say that someone isn't in a session any more.
    static func isWanted(_ heading: RowHeading) -> Bool {
        heading.kind == .event && [ParticipantLeft.type, GroupSessionEnded.type].contains(heading.type)
    }

    /// Takes in such a row.
    func observe(_ observation: Tail.Observation) {
        let left = state.withLock { state in
            switch observation {
            case .row(let row):
                guard let group = row.message.key.group else { return [(GroupID, StreamOutlet)]() }
                // An end that this process can't read is one for all.
                let event = try? ParticipantLeft.decoded(from: row.message.body, version: row.message.version)
                let account = row.message.type == ParticipantLeft.type ? event?.account : nil
                return state.putOut(account, of: group, at: row.position)
            case .reconnected(hasMissedRows: true):
                state.misses += 1
                return state.groups.keys.flatMap { state.putOut(nil, of: $0, at: .start) }
            case .reconnected(hasMissedRows: false): return []
            }
        }
        for (group, outlet) in left { outlet.dropSignals(of: group) }
    }
}
