public import QuartetClient
import Synchronization
public import Testing

/// Tests a reducer step by step. Each step says how the state changes, and each action that an effect sends is expected by name:
/// whatever the test leaves out fails it, with what differs.
///
/// ```swift
/// let store = SharedTestStore(Search(), reducer: search)
/// store.send(.textChanged("an")) { $0.text = "an" }
/// await store.receive(.found(["anna"])) { $0.results = ["anna"] }
/// await store.finish()
/// ```
///
/// End each test with ``finish(sourceLocation:)``. Without it, the store still fails for actions that have arrived when
/// it is released, but not for those that its effects would have sent later.
public final class SharedTestStore<State: Hashable & Sendable, Action: Equatable & Sendable>: Sendable {
    private let current: Mutex<State>
    private let reducer: SharedStore<State, Action>.Reducer
    private let runner: EffectRunner<Action>
    private let arrivals: Arrivals
    private let location: SourceLocation

    /// What effects have sent and no test has looked at.
    private final class Arrivals: Sendable {
        private let actions = Mutex<[Action]>([])
        /// Something arrived, or an effect ended.
        let changes: AsyncStream<Void>
        let change: AsyncStream<Void>.Continuation

        init() { (changes, change) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1)) }

        func append(_ action: Action) {
            actions.withLock { $0.append(action) }
            change.yield(())
        }

        func next() -> Action? { actions.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    public init(
        _ state: State, sourceLocation: SourceLocation = #_sourceLocation,
        reducer: @escaping SharedStore<State, Action>.Reducer
    ) {
        current = Mutex(state)
        location = sourceLocation
        self.reducer = reducer
        let arrivals = Arrivals()
        self.arrivals = arrivals
        runner = EffectRunner({ action, _ in arrivals.append(action) }, onEnd: { arrivals.change.yield(()) })
    }

    deinit { Self.fail(for: arrivals, location) }

    public var state: State { current.withLock { $0 } }

    /// - Parameter change: Makes of the state before what is expected after; nothing for an action that changes nothing.
    public func send(
        _ action: Action, sourceLocation: SourceLocation = #_sourceLocation,
        changes change: (inout State) -> Void = { _ in }
    ) {
        reduce(action, sourceLocation, change)
    }

    /// Waits for the next action that an effect sends, and fails when none can come: no effect runs any more.
    public func receive(
        _ expected: Action, sourceLocation: SourceLocation = #_sourceLocation,
        changes change: (inout State) -> Void = { _ in }
    ) async {
        guard let action = await nextArrival() else {
            Issue.record("\(expected) was not received", sourceLocation: sourceLocation)
            return
        }
        if action != expected {
            Issue.record(
                "another action was received:\n\(Difference.text(expected, action))", sourceLocation: sourceLocation)
        }
        reduce(action, sourceLocation, change)
    }

    /// Nil if no effect runs, or the test is cancelled.
    private func nextArrival() async -> Action? {
        var changes = arrivals.changes.makeAsyncIterator()
        while true {
            // In this order: an effect ends after everything that it sends.
            let isIdle = runner.count == 0
            if let action = arrivals.next() { return action }
            guard !isIdle, await changes.next(isolation: #isolation) != nil else { return nil }
        }
    }

    /// Waits until all effects have ended, and fails for actions that weren't expected.
    public func finish(sourceLocation: SourceLocation = #_sourceLocation) async {
        await runner.finish()
        Self.fail(for: arrivals, sourceLocation)
    }

    private static func fail(for arrivals: Arrivals, _ location: SourceLocation) {
        while let action = arrivals.next() {
            Issue.record("an action was received and not expected: \(action)", sourceLocation: location)
        }
    }

    private func reduce(_ action: Action, _ location: SourceLocation, _ change: (inout State) -> Void) {
        var (expected, actual) = (state, state)
        change(&expected)
        // No lock is held: a reducer may look at the store.
        let effect = reducer(&actual, action)
        current.withLock { [actual] in $0 = actual }
        if expected != actual {
            Issue.record(
                "\(action) changed the state to something else:\n\(Difference.text(expected, actual))",
                sourceLocation: location)
        }
        runner.perform(effect)
    }
}

/// Two values side by side.
enum Difference {
    /// The lines of what was expected with `-` and of what there is with `+`, where they differ, and a line before and after.
    static func text<Value>(_ expected: Value, _ actual: Value) -> String {
        let (old, new) = (lines(expected), lines(actual))
        let difference = new.difference(from: old)
        var (removed, inserted) = (Set<Int>(), Set<Int>())
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(offset)
            case .insert(let offset, _, _): inserted.insert(offset)
            }
        }
        var (text, i, j): ([(line: String, isChange: Bool)], Int, Int) = ([], 0, 0)
        while i < old.count || j < new.count {
            if removed.contains(i) {
                text.append(("- \(old[i])", true))
                i += 1
            } else if inserted.contains(j) {
                text.append(("+ \(new[j])", true))
                j += 1
            } else {
                text.append(("  \(old[i])", false))
                (i, j) = (i + 1, j + 1)
            }
        }
        return text.indices.filter { index in
            text[max(0, index - 1)...min(text.count - 1, index + 1)].contains { $0.isChange }
        }.map { text[$0].line }.joined(separator: "\n")
    }

    private static func lines(_ value: some Any) -> [String] {
        var text = ""
        dump(value, to: &text)
        return text.split(separator: "\n").map(String.init)
    }
}
