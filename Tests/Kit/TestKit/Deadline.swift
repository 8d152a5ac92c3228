/// Something that a test waited for did not happen in time.
public struct TimedOut: Error, CustomStringConvertible {
    /// What was waited for, how long, and what was seen instead.
    public let description: String

    /// - Parameter description: What was waited for, how long, and what was seen instead.
    public init(_ description: String) {
        self.description = description
    }
}

extension Duration {
    /// How long a test waits for what must happen: much longer than it takes on a machine that runs all tests at once.
    public static var patience: Duration { .seconds(120) }
}

/// Runs `operation` and gives up on it after `deadline`.
///
/// A deadline is there for a test that is broken, not to pace one that works: wait on the event itself inside
/// `operation`, which must end soon after its task is cancelled.
///
/// ```swift
/// let event = try await withDeadline(.seconds(10), "the first event") { try await reader.next() }
/// ```
/// - Parameters:
///   - deadline: How long `operation` may take.
///   - what: What is waited for; the error says so.
///   - operation: What may take too long.
/// - Throws: ``TimedOut``, or what `operation` throws.
public func withDeadline<Result: Sendable>(
    _ deadline: Duration,
    _ what: @autoclosure () -> String,
    _ operation: @Sendable @escaping () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await Task.sleep(for: deadline)
            return nil
        }
        defer { group.cancelAll() }
        if case .some(.some(let result)) = try await group.next() { return result }
        throw TimedOut("waited \(deadline) for \(what()), which did not happen")
    }
}
