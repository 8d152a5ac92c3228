import Synchronization

/// What a reducer wants done besides: work that may send further actions.
///
/// ```swift
/// case .searchChanged(let text):
///     state.text = text
///     return .run(id: "search") { send in send(.found(await find(text))) }    // replaces the search before it
/// ```
public struct StoreEffect<Action: Sendable>: Sendable {
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
    /// Gets what effects send, and may ask, as late as it likes, whether the effect was cancelled meanwhile.
    package typealias Receiver = @Sendable (Action, _ isCancelled: @escaping @Sendable () -> Bool) -> Void

    private final class Cancellation: Sendable {
        private let isMarked = Mutex(false)

        var value: Bool { isMarked.withLock { $0 } }
        func mark() { isMarked.withLock { $0 = true } }
    }

    private struct Running: Sendable {
        let task: Task<Void, Never>
        let cancellation: Cancellation
    }

    private struct State: Sendable {
        var next = 0
        var running: [Int: Running] = [:]
        var byID: [AnySendableHashable: Int] = [:]
        var waiters: [CheckedContinuation<Void, Never>] = []

        /// From here on, what the effect of an id sends is ignored.
        mutating func remove(_ id: AnySendableHashable) -> Running? {
            let effect = byID.removeValue(forKey: id).flatMap { running.removeValue(forKey: $0) }
            effect?.cancellation.mark()
            return effect
        }

        /// Those who wait for the last effect, once it has ended.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            guard running.isEmpty else { return [] }
            defer { waiters = [] }
            return waiters
        }
    }

    private let state = Mutex(State())
    private let receive: Receiver
    private let onEnd: @Sendable () -> Void

    /// - Parameter onEnd: Is called when an effect has ended by itself.
    package init(_ receive: @escaping Receiver, onEnd: @escaping @Sendable () -> Void = {}) {
        self.receive = receive
        self.onEnd = onEnd
    }

    deinit { for effect in state.withLock({ Array($0.running.values) }) { effect.task.cancel() } }

    package var count: Int { state.withLock { $0.running.count } }

    package func perform(_ effect: StoreEffect<Action>) {
        for step in effect.steps {
            switch step {
            case .cancel(let id): cancel(id)
            case .run(let id, let operation): run(id, operation)
            }
        }
    }

    private func run(
        _ id: AnySendableHashable?, _ operation: @escaping @Sendable (@escaping StoreEffect<Action>.Send) async -> Void
    ) {
        // It begins when it is known by its number, so that it can't end before.
        let (start, go) = AsyncStream<Never>.makeStream()
        let cancellation = Cancellation()
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        let task = Task { [weak self] in
            for await _ in start {}
            await operation { [weak self] action in self?.deliver(action, from: number, cancellation) }
            self?.ended(number, id)
        }
        // At no moment is there neither the old one nor the new one: someone may wait for the last to end.
        let replaced = state.withLock { state in
            let replaced = id.flatMap { state.remove($0) }
            state.running[number] = Running(task: task, cancellation: cancellation)
            if let id { state.byID[id] = number }
            return replaced
        }
        replaced?.task.cancel()
        go.finish()
    }

    private func deliver(_ action: Action, from number: Int, _ cancellation: Cancellation) {
        guard state.withLock({ $0.running[number] != nil }) else { return }
        receive(action) { cancellation.value }
    }

    private func cancel(_ id: AnySendableHashable) {
        let (effect, waiters) = state.withLock { state in
            let effect = state.remove(id)
            return (effect, state.takeWaiters())
        }
        effect?.task.cancel()
        for waiter in waiters { waiter.resume() }
    }

    private func ended(_ number: Int, _ id: AnySendableHashable?) {
        let waiters = state.withLock { state in
            state.running[number] = nil
            if let id, state.byID[id] == number { state.byID[id] = nil }
            return state.takeWaiters()
        }
        for waiter in waiters { waiter.resume() }
        onEnd()
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

/// Any id.
struct AnySendableHashable: Hashable, @unchecked Sendable {
    // Unchecked: AnyHashable isn't Sendable by itself, and what it is made of here is.
    private let base: AnyHashable

    init(_ id: some Hashable & Sendable) {
        base = AnyHashable(id)
    }
}
