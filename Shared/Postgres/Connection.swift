import CLibpq
import Dispatch
import Foundation
public import Logging
import Synchronization

/// A connection that lives on a thread of its own. Work is given to it as synchronous closures, so no `await` fits
/// between BEGIN and COMMIT and no two transactions are ever mixed.
///
/// ```swift
/// let connection = try await Connection.connect(configuration, logger: logger)
/// let names = try await connection.run { database in
///     try database.query("SELECT name FROM session.profile").map { try $0.decode(0, as: String.self) }
/// }
/// ```
public final class Connection: Sendable {
    private struct Job: Sendable {
        let number: UInt64
        let work: @Sendable (Result<Database, PostgresError>) -> Void
    }

    private struct State: Sendable {
        var jobs: [Job] = []
        var last: UInt64 = 0
        /// Cancelled before they were enqueued.
        var cancelledEarly: Set<UInt64> = []
        /// Numbered and not yet enqueued.
        var announced: Set<UInt64> = []
        var isClosing = false
        var isEnded = false
        var isLost = false
        var ended: [CheckedContinuation<Void, Never>] = []
    }

    /// What a canceller needs. Only touched under `running`'s lock.
    private struct Running: Sendable {
        var job: UInt64?
    }

    private let state = Mutex(State())
    private let running = Mutex(Running())
    private let wake: Wake
    private let cancelHandle: CancelHandle
    /// The server's process for this connection, as in `pg_stat_activity.pid`.
    public let backendPID: Int32

    /// Frees the libpq object that cancels.
    private final class CancelHandle: @unchecked Sendable {
        // Sendable: libpq says that a PGcancel may be used from any thread (PostgreSQL manual, section 34.7); it is
        // never changed after creation and freed when nobody refers to it.
        private let pointer: OpaquePointer?

        init(_ connection: OpaquePointer) { pointer = PQgetCancel(connection) }

        deinit { PQfreeCancel(pointer) }

        func cancel() {
            var buffer = [CChar](repeating: 0, count: 256)
            _ = PQcancel(pointer, &buffer, Int32(buffer.count))
        }
    }

    private init(wake: Wake, cancelHandle: CancelHandle, backendPID: Int32) {
        self.wake = wake
        self.cancelHandle = cancelHandle
        self.backendPID = backendPID
    }

    /// Connects, on the connection's own thread.
    /// - Throws: ``PostgresError/connectFailed(_:)`` with libpq's reason, or when the time is up.
    public static func connect(
        _ configuration: Configuration, logger: Logger? = nil
    ) async throws(PostgresError) -> Connection {
        let result: Result<Connection, PostgresError> = await withCheckedContinuation { continuation in
            let thread = Thread {
                do throws(PostgresError) {
                    let link = try Link.open(configuration)
                    let database = Database(link)
                    let connection = Connection(
                        wake: try Wake(), cancelHandle: CancelHandle(link), backendPID: PQbackendPID(link))
                    continuation.resume(returning: .success(connection))
                    connection.serve(database)
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
            thread.name = "postgres"
            thread.stackSize = 1 << 20
            thread.start()
        }
        return try result.get()
    }

    // MARK: Work

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
        let number = state.withLock { state in
            state.last += 1
            state.announced.insert(state.last)
            return state.last
        }
        let answer = SingleAnswer<Result<Value, any Error>>()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.wait(continuation)
                enqueue(
                    Job(number: number) { [self] work in
                        let result = work.mapError { $0 as any Error }.flatMap { database in
                            Result { try body(database) }
                        }
                        if case .success(let database) = work, database.isLost { state.withLock { $0.isLost = true } }
                        ended()
                        answer.give(result)
                    })
            }
        } onCancel: {
            cancel(number)
            answer.give(.failure(PostgresError.cancelled))
        }
        return try result.get()
    }

    /// Whether the server is gone, as far as is known. An idle connection watches its socket.
    public var isLost: Bool { state.withLock { $0.isLost || $0.isEnded } }

    /// Finishes what was given to it before, and closes.
    public func close() async {
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.ended.append(continuation) }
                state.isClosing = true
                return state.isEnded
            }
            if isEnded { continuation.resume() } else { wake.signal() }
        }
    }

    private func enqueue(_ job: Job) {
        let refusal: PostgresError? = state.withLock { state in
            state.announced.remove(job.number)
            if state.cancelledEarly.remove(job.number) != nil { return .cancelled }
            guard !state.isEnded, !state.isClosing else { return .closed }
            state.jobs.append(job)
            return nil
        }
        if let refusal { job.work(.failure(refusal)) } else { wake.signal() }
    }

    /// Not on the caller's thread: PQcancel connects to the server and waits. While it does, the thread can't begin the
    /// next job, so the cancel can't hit that one. A cancel that overtakes its statement finds an idle server and does
    /// nothing, so it is repeated until the job has ended.
    private func cancel(_ number: UInt64) {
        let (skipped, isRunning): (Job?, Bool) = state.withLock { state in
            if state.announced.contains(number) {
                state.cancelledEarly.insert(number)
                return (nil, false)
            }
            guard let index = state.jobs.firstIndex(where: { $0.number == number }) else { return (nil, true) }
            return (state.jobs.remove(at: index), false)
        }
        skipped?.work(.failure(.cancelled))
        if isRunning { cancelRunning(number, repeatAfter: .milliseconds(20)) }
    }

    private func cancelRunning(_ number: UInt64, repeatAfter pause: DispatchTimeInterval) {
        DispatchQueue.global().async { [self] in
            let isRunning = running.withLock { running in
                if running.job == number { cancelHandle.cancel() }
                return running.job == number
            }
            guard isRunning else { return }
            DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [self] in
                cancelRunning(number, repeatAfter: .milliseconds(500))
            }
        }
    }

    // MARK: The thread

    private func serve(_ database: Database) {
        while true {
            // Within both locks: who cancels finds the job in the queue or running, never in between.
            let (job, isClosing) = running.withLock { running in
                state.withLock { state in
                    let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                    running.job = job?.number
                    return (job, state.isClosing)
                }
            }
            if let job {
                job.work(.success(database))
                running.withLock { $0.job = nil }
            } else if isClosing {
                break
            } else {
                wait(database)
            }
        }
        let (jobs, ended) = state.withLock { state in
            state.isEnded = true
            defer { (state.jobs, state.ended) = ([], []) }
            return (state.jobs, state.ended)
        }
        for job in jobs { job.work(.failure(.closed)) }
        for continuation in ended { continuation.resume() }
    }

    /// Sleeps until there is a job, watching the socket: a server that goes away is noticed at once.
    private func wait(_ database: Database) {
        var descriptors = [pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)]
        if !database.isLost { descriptors.append(pollfd(fd: database.socket, events: Int16(POLLIN), revents: 0)) }
        guard poll(&descriptors, nfds_t(descriptors.count), -1) > 0 else { return }
        if descriptors[0].revents != 0 { wake.reset() }
        if descriptors.count > 1, descriptors[1].revents != 0, !database.consumeInput() {
            state.withLock { $0.isLost = true }
        }
    }
}

/// Opening a libpq connection with a deadline.
enum Link {
    static func open(_ configuration: Configuration) throws(PostgresError) -> OpaquePointer {
        let keywords = configuration.keywords
        var names = keywords.map { strdup($0.0) }
        var values = keywords.map { strdup($0.1) }
        defer { for text in names + values { free(text) } }
        names.append(nil)
        values.append(nil)
        let connection = names.withUnsafeBufferPointer { names in
            values.withUnsafeBufferPointer { values in
                names.withMemoryRebound(to: UnsafePointer<CChar>?.self) { names in
                    values.withMemoryRebound(to: UnsafePointer<CChar>?.self) { values in
                        PQconnectStartParams(names.baseAddress, values.baseAddress, 1)
                    }
                }
            }
        }
        guard let connection else { throw .connectFailed("out of memory") }
        do throws(PostgresError) {
            try finish(connection, until: .now + configuration.connectTimeout)
        } catch {
            PQfinish(connection)
            throw error
        }
        PQsetNoticeProcessor(connection, { _, _ in }, nil)
        return connection
    }

    private static func finish(
        _ connection: OpaquePointer, until deadline: ContinuousClock.Instant
    ) throws(PostgresError) {
        guard PQstatus(connection) != CONNECTION_BAD else { throw failed(connection) }
        var wanted = PGRES_POLLING_WRITING
        while wanted != PGRES_POLLING_OK {
            guard wanted != PGRES_POLLING_FAILED else { throw failed(connection) }
            let left = Int32(
                clamping: (deadline - .now) / .milliseconds(1) > 0 ? Int((deadline - .now) / .milliseconds(1)) : 0)
            var descriptor = pollfd(
                fd: PQsocket(connection), events: Int16(wanted == PGRES_POLLING_READING ? POLLIN : POLLOUT), revents: 0)
            let ready = poll(&descriptor, 1, left)
            guard ready != 0 else { throw .connectFailed("the server did not answer in time") }
            guard ready > 0 || errno == EINTR else { throw .connectFailed("the socket can't be waited for") }
            wanted = PQconnectPoll(connection)
        }
    }

    private static func failed(_ connection: OpaquePointer) -> PostgresError {
        .connectFailed(String(cString: PQerrorMessage(connection)).trimmingSuffix { $0.isNewline })
    }
}
