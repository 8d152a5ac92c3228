import Synchronization

/// One exchange of a refresh token, and everybody who waits for it.
final class TokenExchange: Sendable {
    /// It was ended; another one may do better.
    struct Ended: Error {}

    private struct State: Sendable {
        var task: Task<Void, Never>?
        var result: Result<AccessTokens.Access, any Error>?
        var next = 0
        var waiting: [Int: CheckedContinuation<AccessTokens.Access, any Error>] = [:]
    }

    private let state = Mutex(State())

    /// Begins it, in a task of its own: a caller that gives up mustn't end it for the others.
    func run(on workplace: (any Workplace)?, _ body: @escaping @Sendable () async throws -> AccessTokens.Access) {
        let task = Task(executorPreference: workplace) {
            let result: Result<AccessTokens.Access, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            self.finish(result)
        }
        state.withLock { $0.task = task }
    }

    /// Waits for the token.
    /// - Throws: `CancellationError` at once if the caller is cancelled, ``Ended``, or why there is none.
    func access() async throws -> AccessTokens.Access {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<AccessTokens.Access, any Error>? in
                    // Under the lock: whoever cancels it takes the continuation, or is seen here.
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if state.result == nil { state.waiting[id] = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { $0.waiting.removeValue(forKey: id) }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Ends it without an answer.
    func end() {
        state.withLock { $0.task }?.cancel()
        finish(.failure(Ended()))
    }

    private func finish(_ result: Result<AccessTokens.Access, any Error>) {
        let waiting = state.withLock { state in
            // One that was ended stays so, whatever still comes of it.
            guard state.result == nil else { return [CheckedContinuation<AccessTokens.Access, any Error>]() }
            state.result = result
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}
