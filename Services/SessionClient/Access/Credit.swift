import Synchronization

/// How many of something may be under way at a time.
final class Credit: Sendable {
    private struct State: Sendable {
        var left: Int
        /// In the order of their numbers.
        var waiters: [(number: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        var last: UInt64 = 0
        var isClosed = false
    }

    private let state: Mutex<State>

    init(limit: Int) { state = Mutex(State(left: limit)) }

    /// Lets all waiters go: no more room will be given.
    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    /// Waits for room and takes it.
    /// - Throws: `CancellationError`, at once, when the task is cancelled while it waits.
    func take() async throws {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.isClosed { return .success(()) }
                    if state.left > 0 {
                        state.left -= 1
                        return .success(())
                    }
                    if Task.isCancelled { return .failure(CancellationError()) }
                    state.waiters.append((number, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.number == number }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Takes room while `body` runs.
    func use<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        try await take()
        defer { give() }
        return try await body()
    }

    /// Makes room for one, or so many.
    func give(_ count: Int = 1) {
        let waiters = state.withLock { state in
            let waiters = Array(state.waiters.prefix(count))
            state.waiters.removeFirst(waiters.count)
            state.left += count - waiters.count
            return waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }
}
