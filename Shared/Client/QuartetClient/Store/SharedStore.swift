public import Observation
import Synchronization

/// One state that several screens show, changed by actions alone: the player that every tab has, for instance.
///
/// ```swift
/// let player = SharedStore(Player()) { state, action in
///     switch action {
///     case .play: state.isPlaying = true
///     case .stop: state.isPlaying = false
///     }
///     return .none
/// }
/// let mini = player.screen(MiniPlayer(isExpanded: false))    // each tab has one, with a state of its own
/// mini.send(.play)                                           // all of them show it
/// ```
///
/// Reading a member observes this member alone, as with ``SharedState``. Actions are reduced one after the other, in the order in which they
/// were sent; observers and effects run when no lock is held.
@dynamicMemberLookup
public final class SharedStore<State: Hashable & Sendable, Action: Sendable>: Observable, Sendable {
    public typealias Reducer = @Sendable (inout State, Action) -> StoreEffect<Action>

    private struct Sent: Sendable {
        let action: Action
        let isCancelled: @Sendable () -> Bool
    }

    private struct Core: Sendable {
        var state: State
        var waiting: [Sent] = []
        var isReducing = false
    }

    private let core: Mutex<Core>
    private let reducer: Reducer
    private let shared: SharedState<State>
    private let runner = Mutex<EffectRunner<Action>?>(nil)

    public init(_ state: State, reducer: @escaping Reducer) {
        core = Mutex(Core(state: state))
        shared = SharedState(state, .ready)
        self.reducer = reducer
        runner.withLock { runner in
            runner = EffectRunner { [weak self] action, isCancelled in
                self?.send(Sent(action: action, isCancelled: isCancelled))
            }
        }
    }

    public var state: State { shared.value }

    public subscript<Member: Equatable & Sendable>(
        dynamicMember path: any KeyPath<State, Member> & Sendable
    ) -> Member { shared[dynamicMember: path] }

    /// A member now and after each change of it, without repeats.
    public func values<Member: Equatable & Sendable>(
        of path: any KeyPath<State, Member> & Sendable
    ) -> SharedValues<Member> { shared.values(of: path) }

    /// An action that is sent while another one is reduced comes after it.
    public func send(_ action: Action) { send(Sent(action: action, isCancelled: { false })) }

    private func send(_ sent: Sent) {
        let isFirst = core.withLock { core in
            core.waiting.append(sent)
            defer { core.isReducing = true }
            return !core.isReducing
        }
        guard isFirst else { return }
        while let (effect, notify) = reduceNext() {
            notify()
            if let runner = runner.withLock({ $0 }) { runner.perform(effect) }
        }
    }

    /// Nil when nothing waits.
    private func reduceNext() -> (StoreEffect<Action>, @Sendable () -> Void)? {
        let next = core.withLock { core -> (State, Action)? in
            while !core.waiting.isEmpty {
                let sent = core.waiting.removeFirst()
                // The action before it may have cancelled the effect that sent it.
                if !sent.isCancelled() { return (core.state, sent.action) }
            }
            core.isReducing = false
            return nil
        }
        guard case (var state, let action)? = next else { return nil }
        // Without the lock, so that it may send. Nobody else changes the state until the last action is reduced.
        let effect = reducer(&state, action)
        let notify = core.withLock { [state] core in
            core.state = state
            return shared.replace(state, .ready)
        }
        return (effect, notify)
    }

    /// A screen that shows the store, with a state of its own.
    public func screen<Local: Hashable & Sendable>(_ local: Local) -> StoreScreen<State, Local, Action> {
        StoreScreen(store: self, local)
    }
}

/// A screen's view of a ``SharedStore``: the state that it shares, and its own.
@dynamicMemberLookup
public final class StoreScreen<State: Hashable & Sendable, Local: Hashable & Sendable, Action: Sendable>: Observable,
    Sendable
{
    public let store: SharedStore<State, Action>
    private let own: Mutex<Local>
    private let shared: SharedState<Local>

    init(store: SharedStore<State, Action>, _ local: Local) {
        self.store = store
        own = Mutex(local)
        shared = SharedState(local, .ready)
    }

    /// What this screen alone has.
    public var local: Local { shared.value }

    public subscript<Member: Equatable & Sendable>(
        dynamicMember path: any KeyPath<State, Member> & Sendable
    ) -> Member { store[dynamicMember: path] }

    public func send(_ action: Action) { store.send(action) }

    /// Changes what this screen alone has.
    public func update(_ change: (inout Local) -> Void) {
        let notify = own.withLock { local in
            change(&local)
            return shared.replace(local, .ready)
        }
        notify()
    }
}
