import Dispatch
import QuartetClient
import Synchronization
import Vocabulary

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
        /// How much time has passed since a call began or ended.
        var callTime: Duration = .zero
        /// Work that an app has done elsewhere.
        var outside = 0
        var next = 0
        var waiters: [Waiter] = []
    }

    private enum Turn {
        case work(UnownedJob)
        case begin(CheckedContinuation<Void, Never>)
        case passTime([Waiter])
    }

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
            case .work(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .begin(let call): call.resume()
            case .passTime(let waiters): passTime(for: waiters)
            }
        }
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

    /// The calls that apps wait for.
    var calls: Int { state.withLock { $0.calls } }

    func enter() async {
        await withCheckedContinuation { call in
            change { state in
                state.calls += 1
                state.callTime = .zero
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
        state.withLock { $0.callTime += passed }
    }
}

/// What a device keeps, which may take its time.
struct WorldStore: LocalStore {
    let store: any LocalStore
    let executor: WorldExecutor

    func load(_ account: AccountID) async throws -> LocalAccount {
        try await executor.outside { try await store.load(account) }
    }

    func save(_ item: OutboxItem, of account: AccountID) async throws {
        try await executor.outside { try await store.save(item, of: account) }
    }

    func save(_ item: OutboxItem, replacing others: [OutboxItem.ID], of account: AccountID) async throws {
        try await executor.outside { try await store.save(item, replacing: others, of: account) }
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) async throws {
        try await executor.outside { try await store.remove(item, of: account) }
    }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) async throws {
        try await executor.outside { try await store.save(copies, finishing: items, of: account) }
    }

    func forget(_ account: AccountID) async throws {
        try await executor.outside { try await store.forget(account) }
    }

    func forgetOthers(than account: AccountID?) async throws {
        try await executor.outside { try await store.forgetOthers(than: account) }
    }
}
