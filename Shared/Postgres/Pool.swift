public import Logging
import Metrics
import Synchronization

/// A few connections for short reads. Bounded: at most `size` are open, and at most `waiters` callers wait for one.
///
/// Reports both numbers as the gauges `quartet_pool_connections` and `quartet_pool_waiting`, labelled with its name.
public final class Pool: Sendable {
    private struct State: Sendable {
        var idle: [Connection] = []
        var open = 0
        var waiters: [(id: UInt64, CheckedContinuation<Result<Connection?, PostgresError>, Never>)] = []
        var last: UInt64 = 0
        var isClosed = false
    }

    private let configuration: Configuration
    private let size: Int
    private let waiterLimit: Int
    private let logger: Logger?
    private let connections: Gauge
    private let waiting: Gauge
    private let state = Mutex(State())

    /// - Parameter name: The gauges' label, and the connections' purpose in `application_name`.
    public init(
        _ name: String, configuration: Configuration, size: Int = 4, waiters: Int = 1000, logger: Logger? = nil
    ) {
        self.configuration = configuration.named(name)
        self.size = size
        waiterLimit = waiters
        self.logger = logger
        connections = Gauge(label: "quartet_pool_connections", dimensions: [("pool", name)])
        waiting = Gauge(label: "quartet_pool_waiting", dimensions: [("pool", name)])
        connections.record(0)
        waiting.record(0)
    }

    /// How many connections are open, and how many callers wait.
    package var load: (open: Int, waiting: Int) { state.withLock { ($0.open, $0.waiters.count) } }

    /// Runs `body` on a connection of the pool. A lost connection is replaced; `body` isn't repeated.
    /// - Throws: ``PostgresError/poolExhausted`` if too many callers wait, ``PostgresError/connectFailed(_:)``, or what
    ///   `body` throws.
    public func withConnection<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        let connection = try await take()
        // Given back when the connection is done, which is later than this call if a cancelled task left it with a
        // stuck server.
        return try await connection.run { database in
            // So that the next user finds no open transaction.
            defer { database.settle() }
            return try body(database)
        } ended: { [self] in
            give(connection)
        }
    }

    /// Closes every connection. Callers that wait for one get ``PostgresError/closed``.
    public func close() async {
        let (idle, waiters) = change { state in
            state.isClosed = true
            defer { (state.idle, state.waiters) = ([], []) }
            return (state.idle, state.waiters)
        }
        for (_, waiter) in waiters { waiter.resume(returning: .failure(.closed)) }
        for connection in idle { await connection.close() }
    }

    private func take() async throws -> Connection {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let given: Result<Connection?, PostgresError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let now: Result<Connection?, PostgresError>? = change { state in
                    if state.isClosed { return .failure(.closed) }
                    if Task.isCancelled { return .failure(.cancelled) }
                    while let connection = state.idle.popLast() {
                        if !connection.isLost { return .success(connection) }
                        state.open -= 1
                    }
                    if state.open < size {
                        state.open += 1
                        return .success(nil)
                    }
                    guard state.waiters.count < waiterLimit else { return .failure(.poolExhausted) }
                    state.waiters.append((id, continuation))
                    return nil
                }
                if let now { continuation.resume(returning: now) }
            }
        } onCancel: {
            let waiter = change { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).1 }
            }
            waiter?.resume(returning: .failure(.cancelled))
        }
        if let connection = try given.get() { return connection }
        return try await connect()
    }

    /// A cancelled task doesn't wait for the connection. The pool keeps it.
    private func connect() async throws -> Connection {
        let answer = SingleAnswer<Result<Connection, any Error>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                Task {
                    do {
                        let connection = try await Connection.connect(configuration, logger: logger)
                        if !answer.give(.success(connection)) { give(connection) }
                    } catch {
                        release()
                        answer.give(.failure(error))
                    }
                }
            }
        } onCancel: {
            answer.give(.failure(PostgresError.cancelled))
        }
        return try result.get()
    }

    private func give(_ connection: Connection) {
        if connection.isLost { return release() }
        let (waiter, isClosed) = change { state in
            if state.isClosed { return (nil as CheckedContinuation<Result<Connection?, PostgresError>, Never>?, true) }
            if !state.waiters.isEmpty { return (state.waiters.removeFirst().1, false) }
            state.idle.append(connection)
            return (nil, false)
        }
        if let waiter { waiter.resume(returning: .success(connection)) }
        if isClosed { Task { await connection.close() } }
    }

    /// A connection is gone, so the first caller that waits may open another.
    private func release() {
        let waiter = change { state in
            if !state.waiters.isEmpty {
                return state.waiters.removeFirst().1 as CheckedContinuation<Result<Connection?, PostgresError>, Never>?
            }
            state.open -= 1
            return nil
        }
        waiter?.resume(returning: .success(nil))
    }

    private func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            let (open, waiters) = (state.open, state.waiters.count)
            defer {
                if state.open != open { connections.record(state.open) }
                if state.waiters.count != waiters { waiting.record(state.waiters.count) }
            }
            return body(&state)
        }
    }
}
