public import Logging

/// A connection with a thread of its own. It runs synchronous closures, so no `await` fits between BEGIN and COMMIT and
/// no two transactions can mix.
///
/// It ends when it is closed, when its last reference goes, or when the server is gone.
///
/// ```swift
/// let connection = try await Connection.connect(configuration, logger: logger)
/// let names = try await connection.run { database in
///     try database.query("SELECT name FROM session.profile").map { try $0.decode(0, as: String.self) }
/// }
/// ```
public final class Connection: Sendable {
    private let thread: ConnectionThread
    private let watch: Task<Void, Never>?

    /// As in `pg_stat_activity.pid`.
    public var backendPID: Int32 { thread.backendPID }

    private init(_ thread: ConnectionThread, watch: BlockerWatch?) {
        self.thread = thread
        self.watch = watch.map { watch in Task { await watch.watch(thread) } }
    }

    // The thread doesn't refer to this object, so dropping an open connection leaks nothing.
    deinit {
        watch?.cancel()
        thread.close(then: {})
    }

    /// Connects, on the connection's own thread.
    /// - Throws: ``PostgresError/connectFailed(_:)`` with libpq's reason, or when the time is up.
    public static func connect(
        _ configuration: Configuration, logger: Logger? = nil
    ) async throws(PostgresError) -> Connection {
        let result = await withCheckedContinuation { continuation in
            ConnectionThread.start(configuration) { continuation.resume(returning: $0) }
        }
        return Connection(
            try result.get(),
            watch: configuration.blockerPatience.map { BlockerWatch(configuration, patience: $0, logger: logger) })
    }

    /// Connects, runs `body`, and closes the connection.
    public static func with<Value: Sendable>(
        _ configuration: Configuration, logger: Logger? = nil, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let connection = try await connect(configuration, logger: logger)
        let result: Result<Value, any Error>
        do { result = .success(try await connection.run(body)) } catch { result = .failure(error) }
        await connection.close()
        return try result.get()
    }

    /// Runs `body` on the connection's thread and returns its result. If the task is cancelled, the statement that the
    /// server runs for this body is cancelled, never another's, and this returns without waiting for the server.
    public func run<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await run(body) {}
    }

    /// - Parameter ended: Called once, on some thread, when the connection is done with `body`. If the task was
    ///   cancelled while the server didn't answer, that is after this has thrown.
    func run<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value, ended: @escaping @Sendable () -> Void
    ) async throws -> Value {
        let number = thread.announce()
        let answer = SingleAnswer<Result<Value, any Error>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                thread.enqueue(number) { database in
                    let result = database.flatMap { database in Result { try body(database) } }
                    return {
                        ended()
                        answer.give(result)
                    }
                }
            }
        } onCancel: {
            thread.cancel(number)
            answer.give(.failure(PostgresError.cancelled))
        }
        return try result.get()
    }

    /// Whether the server is gone, as far as is known. An idle connection watches its socket.
    public var isLost: Bool { thread.isLost }

    /// Finishes the work that it was given, and closes.
    public func close() async {
        await withCheckedContinuation { continuation in thread.close { continuation.resume() } }
    }
}
