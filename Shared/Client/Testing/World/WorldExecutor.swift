import Dispatch
import QuartetClient
import QuartetVocabulary
import Synchronization
import Testing

/// Does the work of all apps of a world, one piece after the other.
///
/// So it knows when none of them can go on without time, however busy the machine is, and only then lets time pass: for whoever
/// waits for that, and for calls of the apps, which would never return in a world that stands still.
final class WorldExecutor: Workplace {
    private struct Waiter: Sendable {
        let id: Int
        let end: Duration
        let isMet: @Sendable () -> Bool
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var isRunning = false
        /// Calls that begin when everything before them is done.
        var entering: [CheckedContinuation<Void, Never>] = []
        var calls = 0
        /// What was begun and hasn't ended, for which no time passes by itself.
        var begun = 0
        /// How much time has passed since a call began or ended.
        var callTime: Duration = .zero
        /// Work that an app has done elsewhere.
        var outside = 0
        var next = 0
        var waiters: [Waiter] = []
        /// Pieces of work since somebody did something or a second passed, and when that was.
        var turns = 0
        var turnsSince: Duration = .zero
        /// How often time has passed.
        var steps = 0
        /// Some app works without end.
        var isSpinning = false
    }

    private enum Turn {
        case work(UnownedJob)
        case begin(CheckedContinuation<Void, Never>)
        case passTime([Waiter])
    }

    /// No app does so many pieces of work within a second unless one of them goes round and round.
    private static let turnLimit = 50_000
    /// Nobody waits for longer.
    static let limit: Duration = .seconds(7 * 86_400)

    private let edge: WorldEdge
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "QuartetWorld")

    init(_ edge: WorldEdge) {
        self.edge = edge
    }

    // MARK: Working

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        change { $0.jobs.append(job) }
    }

    /// Changes what there is to do, and has it done.
    private func change(_ change: (inout State) -> Void) {
        let isFirst = state.withLock { state in
            change(&state)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { queue.async { self.run() } }
    }

    private func run() {
        while let turn = nextTurn() {
            switch turn {
            case .work(let job):
                job.runSynchronously(on: asUnownedTaskExecutor())
                countTurn()
            case .begin(let call): call.resume()
            case .passTime(let waiters): passTime(for: waiters)
            }
        }
    }

    /// A loop that never waits would keep the world from going on, and its test from failing.
    private func countTurn() {
        let now = edge.clock.now
        let (isNew, waiters) = state.withLock { state -> (Bool, [Waiter]) in
            if now - state.turnsSince >= .seconds(1) { (state.turns, state.turnsSince) = (0, now) }
            state.turns += 1
            guard state.isSpinning || state.turns > Self.turnLimit else { return (false, []) }
            defer { (state.isSpinning, state.waiters) = (true, []) }
            return (!state.isSpinning, state.waiters)
        }
        if isNew {
            Issue.record("An app works without end: \(Self.turnLimit) times within a second")
        }
        for waiter in waiters { waiter.continuation.resume(returning: false) }
    }

    /// Nil ends the work until there is some again.
    private func nextTurn() -> Turn? {
        state.withLock { state in
            if !state.jobs.isEmpty { return .work(state.jobs.removeFirst()) }
            if state.outside == 0 {
                if !state.entering.isEmpty { return .begin(state.entering.removeFirst()) }
                let isCalled = state.calls > 0 && state.callTime < Self.limit
                if isCalled || !state.waiters.isEmpty { return .passTime(state.waiters) }
            }
            state.isRunning = false
            return nil
        }
    }

    /// Has an app do something that may be done elsewhere. Meanwhile no time passes.
    func outside<Value>(_ body: () async throws -> Value) async rethrows -> Value {
        change { $0.outside += 1 }
        defer { change { $0.outside -= 1 } }
        return try await body()
    }

    // MARK: Calls

    /// Whether nobody waits for a call of an app's, and nothing that was begun goes on.
    var isIdle: Bool { state.withLock { $0.calls == 0 && $0.begun == 0 } }

    /// How often time has passed, from one thing that happens to the next.
    var steps: Int { state.withLock { $0.steps } }

    /// Whether some app works without end.
    var isSpinning: Bool { state.withLock { $0.isSpinning } }

    /// Begins what somebody does.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Task<Value, Never> {
        state.withLock { $0.begun += 1 }
        return Task(executorPreference: self) {
            defer { self.state.withLock { $0.begun -= 1 } }
            return await body()
        }
    }

    func enter() async {
        await withCheckedContinuation { call in
            change { state in
                state.calls += 1
                state.callTime = .zero
                (state.turns, state.turnsSince) = (0, edge.clock.now)
                state.entering.append(call)
            }
        }
    }

    func leave() {
        change { state in
            state.calls -= 1
            state.callTime = .zero
        }
    }

    // MARK: Time

    /// Lets time pass.
    /// - Parameter isMet: Ends it earlier. It is asked when no app can go on without time.
    /// - Returns: Whether it was; false if so much time has passed, or if the task was cancelled.
    @discardableResult
    func wait(_ time: Duration, until isMet: @escaping @Sendable () -> Bool) async -> Bool {
        let end = edge.clock.now + time
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(id: id, end: end, isMet: isMet, continuation: continuation)
                var isCancelled = false
                change { state in
                    // Under the lock: whoever cancels it takes the waiter, or is seen here.
                    isCancelled = Task.isCancelled
                    if !isCancelled { state.waiters.append(waiter) }
                    (state.turns, state.turnsSince) = (0, edge.clock.now)
                }
                if isCancelled { continuation.resume(returning: false) }
            }
        } onCancel: {
            take(id)?.continuation.resume(returning: false)
        }
    }

    private func take(_ id: Int) -> Waiter? {
        state.withLock { state in state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) } }
    }

    private func passTime(for waiters: [Waiter]) {
        let now = edge.clock.now
        var isOver = false
        for waiter in waiters {
            let isMet = waiter.isMet()
            guard isMet || now >= waiter.end else { continue }
            isOver = true
            take(waiter.id)?.continuation.resume(returning: isMet)
        }
        // Somebody may have more to do now.
        guard !isOver else { return }
        edge.passTime(until: waiters.map(\.end).min())
        let passed = edge.clock.now - now
        state.withLock { state in
            state.callTime += passed
            state.steps += 1
        }
    }
}
