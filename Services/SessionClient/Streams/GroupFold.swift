import Bus
import ContractSupport
import SessionContract
import Synchronization
import Vocabulary

/// A group session's state as the connections of this process come through its stream, folded once for all of them: whoever
/// gets to an event first takes it in, and the others find the hash of the state after it.
final class GroupFold: Sendable {
    private struct State: Sendable {
        /// Nil before the first join, and after an event that this process can't read.
        var hashed: HashedGroupState?
        var position = Position.start
        /// The latest events' hashes, in order.
        var hashes: [(position: Position, hash: String)] = []
    }

    /// How many hashes are kept at most for connections that lag behind the first one.
    private static let limit = 1024
    private let state = Mutex(State())

    /// A connection joins the stream with this state.
    /// - Returns: The hash of the state, by itself: whatever was folded before, this connection's copy can be compared with it.
    func join(_ joined: GroupState, at position: Position) -> String {
        state.withLock { state in
            let hashed = HashedGroupState(joined)
            // Who is further has the later state. What lies between here and there has no hash then.
            if state.hashed == nil || position >= state.position {
                (state.hashed, state.position) = (hashed, position)
            }
            return hashed.hash.description
        }
    }

    /// A connection comes to an event.
    /// - Returns: The hash of the state after it; nil where it isn't known.
    func pass(_ recorded: RecordedMessage) -> String? {
        let (message, position) = (recorded.message, recorded.position)
        return state.withLock { state in
            guard position > state.position else {
                // In order, and the one that is asked for is most likely among the last.
                return state.hashes.last { $0.position <= position }.flatMap {
                    $0.position == position ? $0.hash : nil
                }
            }
            state.position = position
            // Nothing follows from a message that was emptied.
            if recorded.isReadable {
                guard state.hashed != nil,
                    // One that only a newer release knows: from here on the state is unknown until the next one joins.
                    let event = try? SessionEvent(type: message.type, version: message.version, body: message.body)
                else {
                    state.hashed = nil
                    return nil
                }
                state.hashed?.apply(event)
            }
            guard let hash = state.hashed?.hash.description else { return nil }
            if state.hashes.count == Self.limit { state.hashes.removeFirst(Self.limit / 2) }
            state.hashes.append((position, hash))
            return hash
        }
    }
}

/// The connections of this process that follow group sessions.
final class GroupFollowers: Sendable {
    /// A connection that follows a session.
    struct Follower: Sendable {
        let account: AccountID
        /// Where events of the session enter the connection. What isn't part of the sequence is put without a place, so that it
        /// has no id.
        let outlet: StreamOutlet
        /// Whether the account is in the session; otherwise it only looks on.
        var isParticipant = false
    }

    private struct Followed: Sendable {
        let fold = GroupFold()
        var followers: [ObjectIdentifier: Follower] = [:]
    }

    private let groups = Mutex<[GroupID: Followed]>([:])

    /// A connection begins to follow a session that it may see.
    /// - Returns: The session's state as it is folded here.
    func add(_ follower: Follower, to group: GroupID) -> GroupFold {
        groups.withLock { groups in
            groups[group, default: Followed()].followers[ObjectIdentifier(follower.outlet)] = follower
            return groups[group, default: Followed()].fold
        }
    }

    /// Undoes ``add(_:to:)``. Again, it changes nothing.
    func remove(_ outlet: StreamOutlet, from group: GroupID) {
        groups.withLock { groups in
            groups[group]?.followers[ObjectIdentifier(outlet)] = nil
            if groups[group]?.followers.isEmpty == true { groups[group] = nil }
        }
        outlet.dropSignals(of: group)
    }

    /// Notes whether the account of a connection takes part in the session that it follows.
    func note(isParticipant: Bool, _ outlet: StreamOutlet, in group: GroupID) {
        groups.withLock { $0[group]?.followers[ObjectIdentifier(outlet)]?.isParticipant = isParticipant }
        if !isParticipant { outlet.dropSignals(of: group) }
    }

    /// The connections that follow a session now: to them goes what isn't kept.
    func followers(of group: GroupID) -> [Follower] {
        groups.withLock { $0[group].map { Array($0.followers.values) } ?? [] }
    }
}
