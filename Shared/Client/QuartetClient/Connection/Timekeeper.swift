/// The clock that a connection waits on. It goes on while the device sleeps, and nobody can set it.
public struct Timekeeper: Sendable {
    /// The time since a moment that never changes.
    public var now: @Sendable () -> Duration
    /// Waits until ``now`` has reached a time.
    /// - Throws: `CancellationError`.
    public var sleep: @Sendable (_ until: Duration) async throws -> Void
    /// Where the connection's work is done; nil for anywhere.
    package var workplace: (any Workplace)?
    /// What the length of pauses is drawn from.
    package var draws = Draws()

    public init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (_ until: Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    public static let live: Self = {
        let start = ContinuousClock.now
        return Self(
            now: { ContinuousClock.now - start },
            sleep: { try await Task.sleep(until: start + $0, clock: .continuous) })
    }()
}

/// Random numbers, or those of a test.
package struct Draws: RandomNumberGenerator, Sendable {
    private let draw: @Sendable () -> UInt64

    package init(
        _ draw: @escaping @Sendable () -> UInt64 = {
            var random = SystemRandomNumberGenerator()
            return random.next()
        }
    ) {
        self.draw = draw
    }

    package mutating func next() -> UInt64 { draw() }
}

/// Where connections do their work, for a test's world: it has to know when none of them can go on without time.
package protocol Workplace: TaskExecutor {
    /// Waits until everything that happened before an app's call has been dealt with.
    func enter() async
    /// The call has ended.
    func leave()
}

extension Timekeeper {
    /// Makes an app's call where the connection's work is done. What the connection does by itself is there already.
    func call<Value, Failure>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        guard let workplace,
            withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor }) != workplace.asUnownedTaskExecutor()
        else { return try await body() }
        return try await withTaskExecutorPreference(workplace) { () async throws(Failure) in
            await workplace.enter()
            defer { workplace.leave() }
            return try await body()
        }
    }
}
