import API
import Synchronization
import Vocabulary

/// A replica and what readers see of it.
final class ReplicaHolder<State: Sendable, Value: Hashable & Sendable>: Sendable {
    private struct Content: Sendable {
        var replica = Replica<State>()
        var liveness: Liveness?
        /// The newest stream that was about an account that is forgotten.
        var forgotten = 0

        var phase: Phase {
            switch (replica.base != nil, liveness) {
            case (true, .stale(let since)), (true, .unavailable(_, let since)): .stale(since: since)
            case (true, _): .ready
            case (false, .unavailable(let error, _)): .failed(error)
            case (false, _): .loading
            }
        }
    }

    let shared: Shared<Value>
    private let content = Mutex(Content())
    private let show: @Sendable (State?) -> Value

    /// - Parameter show: What readers see of a state; of none while nothing has arrived.
    init(_ show: @escaping @Sendable (State?) -> Value) {
        self.show = show
        shared = Shared(show(nil))
    }

    /// Changes the replica, then what readers see, then calls them.
    /// - Parameter touched: The ids of the elements that may have changed; nil for any.
    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        touched: [AnySendableHashable]? = nil, _ change: (inout Replica<State>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, notify) = try content.withLock { content throws(Failure) in
            let result = try change(&content.replica)
            return (result, shared.replace(show(content.replica.state), content.phase, touched: touched))
        }
        notify()
        return result
    }

    /// Takes in what a stream brought, as ``change(touched:_:)``.
    func receive(
        from opening: Int, touched: [AnySendableHashable]? = nil, _ change: (inout Replica<State>) -> Void
    ) {
        let notify = content.withLock { content -> (@Sendable () -> Void)? in
            guard opening > content.forgotten else { return nil }
            change(&content.replica)
            return shared.replace(show(content.replica.state), content.phase, touched: touched)
        }
        notify?()
    }

    func heartbeat() {
        guard content.withLock({ $0.replica.hasEdits }) else { return }
        change { $0.heartbeat() }
    }

    func liveness(_ liveness: Liveness) {
        let notify = content.withLock { content in
            content.liveness = liveness
            return shared.replace(show(content.replica.state), content.phase, touched: [])
        }
        notify()
    }

    func reset(opening: Int) {
        let notify = content.withLock { content in
            content.forgotten = opening
            content.replica.reset()
            content.liveness = nil
            return shared.replace(show(nil), .loading)
        }
        notify()
    }

    /// What the server has, without edits.
    var base: State? { content.withLock { $0.replica.base } }

    /// Shows an edit at once, sends its command, and takes the edit away when the server's truth has it or refuses it.
    func edit(
        _ change: @escaping Replica<State>.Change, touched: [AnySendableHashable]? = nil,
        _ send: () async throws(QuartetError) -> CommandReply
    ) async throws(QuartetError) {
        let id = self.change(touched: touched) { $0.begin(change) }
        do {
            let reply = try await send()
            self.change(touched: touched) { $0.accept(id, reply) }
        } catch {
            self.change(touched: touched) { $0.drop(id) }
            throw error
        }
    }
}
