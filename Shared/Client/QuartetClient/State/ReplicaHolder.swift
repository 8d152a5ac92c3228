import Foundation
import QuartetAPI
import QuartetVocabulary
import Synchronization

/// A replica and what readers see of it.
final class ReplicaHolder<State: Sendable, Value: Hashable & Sendable>: Sendable {
    private struct Content: Sendable {
        var replica = Replica<State>()
        var liveness: Liveness?
        /// When the server had what was kept on the device; nil once it is live.
        var keptSince: Instant?
        /// The newest stream that was about an account that is forgotten.
        var forgotten = 0

        var phase: Phase {
            switch (replica.base != nil, liveness) {
            case (true, .stale(let since)), (true, .unavailable(_, let since)): .stale(since: keptSince ?? since)
            case (true, nil) where keptSince != nil: .stale(since: keptSince ?? .now)
            case (true, _): .ready
            case (false, .unavailable(let error, _)): .failed(error)
            case (false, _): .loading
            }
        }
    }

    let shared: SharedState<Value>
    private let content = Mutex(Content())
    private let show: @Sendable (State?) -> Value

    /// - Parameter show: What readers see of a state; of none while nothing has arrived.
    init(_ show: @escaping @Sendable (State?) -> Value) {
        self.show = show
        shared = SharedState(show(nil))
    }

    /// Changes the replica, then what readers see, then calls them.
    /// - Parameter touched: The people about whom something may have changed; nil for any.
    @discardableResult
    func change<Result: Sendable, Failure: Error>(
        touched: Set<AccountID>? = nil, _ change: (inout Replica<State>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, notify) = try content.withLock { content throws(Failure) in
            let result = try change(&content.replica)
            return (result, shared.replace(show(content.replica.state), content.phase, touched: touched))
        }
        notify()
        return result
    }

    /// Takes in what a stream brought together, in its order. Readers see what comes of all of it: while they hold what was before,
    /// the first change copies it, and the others are made in place.
    func receive(_ changes: [StreamChange<State>], from opening: Int) {
        let notify = content.withLock { content -> (@Sendable () -> Void)? in
            guard opening > content.forgotten else { return nil }
            // Nil for any.
            var touched: Set<AccountID>? = []
            var hasChanged = false
            for change in changes {
                guard let apply = change.apply else { continue }
                apply(&content.replica)
                hasChanged = true
                if let person = change.person { touched?.insert(person) } else { touched = nil }
            }
            guard hasChanged else { return nil }
            return shared.replace(show(content.replica.state), content.phase, touched: touched)
        }
        notify?()
    }

    /// Shows what the device kept.
    /// - Parameter commands: Those whose events it has.
    func restore(_ state: State, with commands: [CommandID] = [], asOf time: Instant) {
        let notify = content.withLock { content in
            content.replica.restore(state, with: commands)
            if content.liveness != .live { content.keptSince = time }
            return shared.replace(show(content.replica.state), content.phase)
        }
        notify()
    }

    /// - Returns: Whether a snapshot is needed.
    func heartbeat() -> Bool {
        guard !openEdits.isEmpty else { return false }
        return change { $0.heartbeat() }
    }

    func liveness(_ liveness: Liveness) {
        let notify = content.withLock { content in
            content.liveness = liveness
            if liveness == .live { content.keptSince = nil }
            return shared.replace(show(content.replica.state), content.phase, touched: [])
        }
        notify()
    }

    func reset(opening: Int) {
        let notify = content.withLock { content in
            content.forgotten = opening
            content.replica.reset()
            (content.liveness, content.keptSince) = (nil, nil)
            return shared.replace(show(nil), .loading)
        }
        notify()
    }

    /// The edits that show.
    var openEdits: Set<Int64> { content.withLock { $0.replica.openEdits } }

    /// What readers see of: what the server has, and edits.
    var state: State? { content.withLock { $0.replica.state } }

    /// What an edit stands on.
    func state(before id: Int64) -> State? { content.withLock { $0.replica.state(before: id) } }

    /// What the server has, without edits.
    var base: State? { content.withLock { $0.replica.base } }
}

extension ReplicaHolder where State: Codable {
    /// What the server has, to be encoded; nil while nothing has arrived.
    func encodable(as format: Int) -> (@Sendable () throws -> Data)? {
        let (base, seen) = content.withLock { ($0.replica.base, $0.replica.seen) }
        guard let base else { return nil }
        return { try JSONEncoder().encode(KeptState(state: base, commands: seen, format: format)) }
    }

    /// Shows what the device kept.
    /// - Returns: Its format.
    func restore(_ encoded: Data, asOf time: Instant) throws -> Int {
        let decoder = JSONDecoder()
        do {
            let kept = try decoder.decode(KeptState<State>.self, from: encoded)
            restore(kept.state, with: kept.commands, asOf: time)
            return kept.format ?? 0
        } catch {
            // 0.1.0 kept the state alone.
            restore(try decoder.decode(State.self, from: encoded), asOf: time)
            return 0
        }
    }
}

/// What the device keeps of a copy. A reply that comes after a restart finds its command here: the stream, which goes on behind the
/// event, doesn't bring it again.
private struct KeptState<State: Codable>: Codable {
    let state: State
    /// Those whose events the state has, as far as they came lately.
    let commands: [CommandID]
    /// As in ``KeptConsumer/format``; nil before there were any.
    let format: Int?
}
