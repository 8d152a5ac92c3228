public import Logging

/// A connection that lives on a thread of its own. Work is given to it as synchronous closures, so no `await` fits
/// between BEGIN and COMMIT and no two transactions are ever mixed.
///
/// It ends when it is closed, when nobody refers to it any more, and by itself when the server is gone.
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

    /// The server's process for this connection, as in `pg_stat_activity.pid`.
    public var backendPID: Int32 { thread.backendPID }

    private init(_ thread: ConnectionThread, watch: BlockerWatch?) {
        self.thread = thread
        self.watch = watch.map { watch in Task { await watch.watch(thread) } }
    }

    // The thread doesn't refer to this object, so a connection that is dropped without being closed leaves nothing behind.
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

    /// Runs `body` on the connection's thread and returns what it returns. A cancelled task cancels the statement that
    /// the server runs for this body, never another's, and doesn't wait for the server to do so.
    public func run<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await run(body) {}
    }

    /// - Parameter ended: called once, on some thread, when the connection is done with `body`: after this has thrown, if the
    ///   task was cancelled while the server didn't answer.
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

    /// Finishes what was given to it before, and closes.
    public func close() async {
        await withCheckedContinuation { continuation in thread.close { continuation.resume() } }
    }
}
