import Bus
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

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
