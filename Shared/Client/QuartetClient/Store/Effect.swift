import Synchronization

/// What a reducer wants done besides: work that may send further actions.
///
/// ```swift
/// case .searchChanged(let text):
///     state.text = text
///     return .run(id: "search") { send in send(.found(await find(text))) }    // replaces the search before it
/// ```
public struct Effect<Action: Sendable>: Sendable {
    public typealias Send = @Sendable (Action) -> Void

    enum Step: Sendable {
        case run(id: AnySendableHashable?, @Sendable (@escaping Send) async -> Void)
        case cancel(AnySendableHashable)
    }

    let steps: [Step]

    public static var none: Self { Self(steps: []) }

    public static func run(_ operation: @escaping @Sendable (_ send: @escaping Send) async -> Void) -> Self {
        Self(steps: [.run(id: nil, operation)])
    }

    /// - Parameter id: One effect of an id runs at a time: the one before is cancelled.
    public static func run(
        id: some Hashable & Sendable, _ operation: @escaping @Sendable (_ send: @escaping Send) async -> Void
    ) -> Self {
        Self(steps: [.run(id: AnySendableHashable(id), operation)])
    }

    /// Cancels the effect of an id, if it runs. What it sends afterwards is ignored.
    public static func cancel(id: some Hashable & Sendable) -> Self { Self(steps: [.cancel(AnySendableHashable(id))]) }

    /// All of them, begun in this order.
    public static func merge(_ effects: Self...) -> Self { Self(steps: effects.flatMap(\.steps)) }
}

/// Runs effects, each in a task of its own.
package final class EffectRunner<Action: Sendable>: Sendable {
    private struct State: Sendable {
        var next = 0
        var running: [Int: Task<Void, Never>] = [:]
        var byID: [AnySendableHashable: Int] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// Those who wait for the last effect, once it has ended.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            guard running.isEmpty else { return [] }
            defer { waiters = [] }
            return waiters
        }
    }

    private let state = Mutex(State())
    private let send: @Sendable (Action) -> Void

    package init(_ send: @escaping @Sendable (Action) -> Void) {
        self.send = send
    }

    deinit { for task in state.withLock({ Array($0.running.values) }) { task.cancel() } }

    package var count: Int { state.withLock { $0.running.count } }

    package func perform(_ effect: Effect<Action>) {
        for step in effect.steps {
            switch step {
            case .cancel(let id): cancel(id)
            case .run(let id, let operation): run(id, operation)
            }
        }
    }

    private func run(
        _ id: AnySendableHashable?, _ operation: @escaping @Sendable (@escaping Effect<Action>.Send) async -> Void
    ) {
        if let id { cancel(id) }
        // It begins when it is known by its number, so that it can't end before.
        let (start, go) = AsyncStream<Never>.makeStream()
        let number = state.withLock { state in
            state.next += 1
            if let id { state.byID[id] = state.next }
            return state.next
        }
        let task = Task { [weak self] in
            for await _ in start {}
            await operation { [weak self] action in self?.deliver(action, from: number) }
            self?.ended(number, id)
        }
        state.withLock { $0.running[number] = task }
        go.finish()
    }

    private func deliver(_ action: Action, from number: Int) {
        guard state.withLock({ $0.running[number] != nil }) else { return }
        send(action)
    }

    private func cancel(_ id: AnySendableHashable) {
        let (task, waiters) = state.withLock { state -> (Task<Void, Never>?, [CheckedContinuation<Void, Never>]) in
            guard let number = state.byID.removeValue(forKey: id) else { return (nil, []) }
            let task = state.running.removeValue(forKey: number)
            return (task, state.takeWaiters())
        }
        task?.cancel()
        for waiter in waiters { waiter.resume() }
    }

    private func ended(_ number: Int, _ id: AnySendableHashable?) {
        let waiters = state.withLock { state in
            state.running[number] = nil
            if let id, state.byID[id] == number { state.byID[id] = nil }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until no effect runs.
    package func finish() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard !state.running.isEmpty else { return true }
                state.waiters.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }
}
