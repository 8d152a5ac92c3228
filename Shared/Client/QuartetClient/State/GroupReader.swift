import Foundation
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary
import Synchronization

/// Folds a group session's events as the server does, and sees by the hash of the state that the result is the same.
final class GroupReader: Sendable {
    private struct State: Sendable {
        var hashed: HashedGroupState?
        /// Whether this release knows everything that is in the state; a newer server's may have more.
        var isComparable = false
    }

    /// The state isn't what the server has.
    struct Diverged: Error {}

    private let state = Mutex(State())

    func begin(_ snapshot: StreamSnapshot) throws -> GroupState {
        let group = try JSONDecoder().decode(GroupState.self, from: Data(snapshot.state))
        let hashed = HashedGroupState(group)
        state.withLock { $0 = State(hashed: hashed, isComparable: snapshot.hash == "\(hashed.hash)") }
        return group
    }

    /// The session is over for this account: what it was like is forgotten.
    func forget() { state.withLock { $0 = State() } }

    /// - Returns: The event; nil for one that isn't for this reader, or that only a newer server knows.
    /// - Throws: ``Diverged``.
    func read(_ event: StreamedEvent) throws -> (event: SessionEvent, state: GroupState)? {
        guard event.type != MessageWithheld.type else { return nil }
        guard let change = try event.decoded(as: SessionEvent.self) else {
            state.withLock { $0.isComparable = false }
            return nil
        }
        return try state.withLock { state in
            guard var hashed = state.hashed else { throw Diverged() }
            // The only reference, so that the state is changed in place.
            state.hashed = nil
            hashed.apply(change)
            state.hashed = hashed
            if state.isComparable, let hash = event.hash, hash != "\(hashed.hash)" { throw Diverged() }
            return (change, hashed.state)
        }
    }
}
