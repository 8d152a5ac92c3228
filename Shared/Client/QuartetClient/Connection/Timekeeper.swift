/// The clock that a connection waits on. It goes on while the device sleeps, and nobody can set it.
public struct Timekeeper: Sendable {
    /// The time since a moment that never changes.
    public var now: @Sendable () -> Duration
    /// Waits until ``now`` has reached a time.
    /// - Throws: `CancellationError`.
    public var sleep: @Sendable (_ until: Duration) async throws -> Void

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
