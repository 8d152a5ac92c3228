import Synchronization

/// A value behind a lock, and tests that wait until it is as they need it. Waiting costs no polling: each change wakes
/// those whose condition it fulfils.
///
/// ```swift
/// let received = Observed<[Event]>([])
/// // in the code under test's callback:
/// received.update { $0.append(event) }
/// // in the test:
/// let first = try await received.wait("an event") { $0.first }
/// ```
public final class Observed<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        /// Resumes the waiter if its condition holds, and says whether it did.
        var resumeIfFulfilled: @Sendable (Value) -> Bool
        var cancel: @Sendable () -> Void
    }

    private struct State: Sendable {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0
    }

    private let state: Mutex<State>

    /// - Parameter value: The value to begin with.
    public init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    /// The value as it is now.
    public var value: Value {
        state.withLock { $0.value }
    }

    /// Changes the value and wakes those who wait for what it became.
    /// - Parameter change: The change; it runs under the lock, so it must be short.
    @discardableResult
    public func update<Result: Sendable>(_ change: @Sendable (inout Value) -> Result) -> Result {
        state.withLock { state in
            let result = change(&state.value)
            let value = state.value
            state.waiters = state.waiters.filter { !$0.value.resumeIfFulfilled(value) }
            return result
        }
    }

    /// Waits until `condition` returns something for the value.
    /// - Parameters:
    ///   - what: What is waited for; the error says so.
    ///   - deadline: How long to wait.
    ///   - condition: What makes the wait end, and with which result. It runs under the lock, so it must be short.
    /// - Throws: ``TimedOut`` with the value as it was last, or `CancellationError`.
    @discardableResult
    public func wait<Result: Sendable>(
        _ what: String,
        within deadline: Duration = .patience,
        until condition: @Sendable @escaping (Value) -> Result?
    ) async throws -> Result {
        do {
            return try await withDeadline(deadline, what) { try await self.value(fulfilling: condition) }
        } catch let timeout as TimedOut {
            throw TimedOut("\(timeout.description); it is \(value)")
        }
    }

    private func value<Result: Sendable>(
        fulfilling condition: @Sendable @escaping (Value) -> Result?
    ) async throws -> Result {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
                state.withLock { state in
                    if let result = condition(state.value) {
                        continuation.resume(returning: result)
                    } else if Task.isCancelled {
                        continuation.resume(throwing: CancellationError())
                    } else {
                        state.waiters[id] = Waiter(
                            resumeIfFulfilled: { value in
                                guard let result = condition(value) else { return false }
                                continuation.resume(returning: result)
                                return true
                            },
                            cancel: { continuation.resume(throwing: CancellationError()) })
                    }
                }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.cancel()
        }
    }
}
