import Synchronization

/// The app doesn't read: a piece wasn't written before its deadline.
struct StreamIsStuck: Error {}

/// Gives each write to an app a deadline of its own.
final class WriteDeadline: Sendable {
    private let deadline: Duration
    /// When the write in progress began.
    private let begun = Mutex<ContinuousClock.Instant?>(nil)

    /// - Parameter deadline: How long a write may take.
    init(_ deadline: Duration) {
        self.deadline = deadline
    }

    /// Writes a piece.
    func write(_ body: () async throws -> Void) async throws {
        begun.withLock { $0 = .now }
        defer { begun.withLock { $0 = nil } }
        try await body()
    }

    /// Waits for a write that takes too long.
    /// - Throws: ``StreamIsStuck``.
    func watch() async throws -> Never {
        while true {
            let begun = begun.withLock { $0 }
            try await Task.sleep(until: (begun ?? .now) + deadline, clock: .continuous)
            if let begun, self.begun.withLock({ $0 }) == begun {
                LimitMetrics.hit(.writeDeadline)
                throw StreamIsStuck()
            }
        }
    }

    /// Runs `body` until it ends or a write takes too long.
    func watching(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask { try await self.watch() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
