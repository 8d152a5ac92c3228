import Hummingbird
import Synchronization

/// How long a request may still wait for the database.
final class RequestTime: Sendable {
    /// Less than the ten seconds that are promised, by as much as an answer may take to make.
    static let limit: Duration = .seconds(9)

    private let end = Mutex(ContinuousClock.now + limit)

    /// How much is left.
    var left: Duration { end.withLock(\.self) - .now }

    /// Starts again after `body`, which waits for the sender of the request and has a limit of its own.
    func whileReceiving<Value>(
        _ limit: Duration, _ body: () async throws -> sending Value
    ) async throws -> sending Value {
        end.withLock { $0 = .now + limit + Self.limit }
        let value = try await body()
        end.withLock { $0 = .now + Self.limit }
        return value
    }
}

/// Answers each request in time, whatever the database does: when the time is up, what the request waits for is cancelled.
/// Everything that waits for the database lets go of a cancelled task at once, also when the server is silent. So a command
/// that was sent is answered 202, and anything else 503 (``Problems``).
struct Patience<Inner: HTTPResponder<EdgeContext>>: HTTPResponder {
    let inner: Inner

    func respond(to request: Request, context: EdgeContext) async throws -> Response {
        try await withThrowingTaskGroup(of: Response?.self) { group in
            group.addTask { try await inner.respond(to: request, context: context) }
            group.addTask {
                // In small steps: the end may come nearer again.
                while context.time.left > .zero, !Task.isCancelled {
                    try? await Task.sleep(for: min(context.time.left, .milliseconds(500)))
                }
                return nil
            }
            while let answer = try await group.next() {
                group.cancelAll()
                if let answer { return answer }
            }
            throw CancellationError()
        }
    }
}
