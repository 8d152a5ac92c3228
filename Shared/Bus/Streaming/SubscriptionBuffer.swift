import QuartetVocabulary
import Synchronization

/// The events that a subscriber was offered and hasn't taken.
///
/// The tail holds the buffer, not the ``Subscription``: the tail offers under its lock, where releasing a subscription,
/// which leaves the tail, would deadlock.
final class SubscriptionBuffer: Sendable {
    private struct State: Sendable {
        var machine: SubscriptionMachine<RecordedMessage>
        var beginning = Subscription.Beginning.resumed
        var joined: Subscription.State?
        var waiter: CheckedContinuation<Void, Never>?
        /// Somebody wants to know how far the subscriber has come.
        var isAsked = false
    }

    private let state: Mutex<State>

    init(limit: Int) {
        state = Mutex(State(machine: SubscriptionMachine(limit: limit)))
    }

    // MARK: The subscriber's side

    var beginning: Subscription.Beginning { state.withLock(\.beginning) }

    var given: Position { state.withLock { $0.machine.given } }

    var joinedState: Subscription.State? { state.withLock(\.joined) }

    func join(
        _ beginning: Subscription.Beginning, state joined: Subscription.State?, at position: Position,
        between: [RecordedMessage]
    ) {
        state.withLock { state in
            state.beginning = beginning
            state.joined = joined
            state.machine.join(at: position, between: between.map { ($0.position, $0) })
        }
    }

    func next() -> SubscriptionMachine<RecordedMessage>.Next { state.withLock { $0.machine.next() } }

    /// The subscriber has left, or whoever waits for it.
    var isEnded: Bool { state.withLock { $0.machine.isEnded } }

    /// Returns when there may be something to take, or when the task is cancelled.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                // The state may be large, and a subscriber that has come this far doesn't need it any more.
                (state.beginning, state.joined) = (.resumed, nil)
                if state.machine.hasNext || state.isAsked || Task.isCancelled { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    func end() { change { $0.machine.end() } }

    /// Wakes the subscriber to find out how far it has come.
    func ask() { change { $0.isAsked = true } }

    /// Whether somebody has asked since the last time.
    func takeQuestion() -> Bool {
        state.withLock { state in
            defer { state.isAsked = false }
            return state.isAsked
        }
    }

    // MARK: The tail's side

    /// Returns false if that was too much, so that the subscriber fell behind.
    func offer(_ message: RecordedMessage) -> Bool {
        guard message.message.kind == .event else { return true }
        let (waiter, isTaken): (CheckedContinuation<Void, Never>?, Bool) = state.withLock { state in
            let wasBehind = state.machine.isBehind
            let wakes = state.machine.offer(message, at: message.position)
            defer { if wakes { state.waiter = nil } }
            return (wakes ? state.waiter : nil, wasBehind || !state.machine.isBehind)
        }
        waiter?.resume()
        return isTaken
    }

    /// Everything up to `position` was offered. Returns whether the subscriber has come that far.
    func advance(to position: Position) -> Bool { state.withLock { $0.machine.advance(to: position) } }

    /// The log is in another incarnation, and nothing more can be offered.
    func interrupt() { change { $0.machine.interrupt() } }

    private func change(_ change: (inout State) -> Void) {
        let waiter = state.withLock { state in
            change(&state)
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
