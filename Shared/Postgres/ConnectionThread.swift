import CLibpq
import Dispatch
import Foundation
import Synchronization

/// A connection's thread and its jobs. While it works, only the thread keeps this object alive; it ends when the
/// connection is closed or lost.
final class ConnectionThread: Sendable {
    /// Runs on the thread, or gets the reason why it can't. Returns a closure that delivers the result.
    typealias Work = @Sendable (Result<Database, any Error>) -> @Sendable () -> Void

    private struct Job: Sendable {
        let number: UInt64
        let work: Work
    }

    private struct State: Sendable {
        var jobs: [Job] = []
        var last: UInt64 = 0
        /// Jobs that are numbered and not yet enqueued.
        var announced: Set<UInt64> = []
        /// Jobs that were cancelled before they were enqueued.
        var cancelledEarly: Set<UInt64> = []
        var running: UInt64?
        /// A request to cancel the running job's statement is on its way to the server.
        var isCancelling = false
        var isClosing = false
        /// Why it accepts no more jobs.
        var ended: PostgresError?
        var closers: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let wake: Wake
    private let canceller: Canceller
    private let silence: Silence
    /// Signalled when a request to cancel has returned, if the thread waits for that.
    private let cancelled = DispatchSemaphore(value: 0)
    let backendPID: Int32

    private init(_ database: Database, _ wake: Wake) {
        self.wake = wake
        canceller = Canceller(database)
        silence = database.silence
        backendPID = database.backendPID
    }

    static func start(
        _ configuration: Configuration,
        then report: @escaping @Sendable (Result<ConnectionThread, PostgresError>) -> Void
    ) {
        let thread = Thread {
            do throws(PostgresError) {
                let database = try Database.open(configuration)
                let connection = ConnectionThread(database, try Wake())
                report(.success(connection))
                connection.serve(database)
            } catch {
                report(.failure(error))
            }
        }
        thread.name = "postgres"
        thread.stackSize = 1 << 20
        thread.start()
    }

    // MARK: Jobs

    var isLost: Bool { state.withLock { $0.ended != nil } }

    /// Since when the thread has waited for the server's answer; nil if it isn't waiting.
    var waitingSince: ContinuousClock.Instant? { silence.begin }

    /// A number for a job that is about to be enqueued. With it, the job can be cancelled at any time.
    func announce() -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.announced.insert(state.last)
            return state.last
        }
    }

    func enqueue(_ number: UInt64, _ work: @escaping Work) {
        let refusal: PostgresError? = state.withLock { state in
            state.announced.remove(number)
            if state.cancelledEarly.remove(number) != nil { return .cancelled }
            if let ended = state.ended { return ended }
            guard !state.isClosing else { return .closed }
            state.jobs.append(Job(number: number, work: work))
            return nil
        }
        if let refusal { work(.failure(refusal))() } else { wake.signal() }
    }

    /// Finishes its jobs, ends, and calls `action`.
    func close(then action: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            state.isClosing = true
            if state.ended == nil { state.closers.append(action) }
            return state.ended != nil
        }
        if hasEnded { action() } else { wake.signal() }
    }

    // MARK: Cancelling

    func cancel(_ number: UInt64) {
        let (skipped, isRunning): (Job?, Bool) = state.withLock { state in
            if state.announced.contains(number) {
                state.cancelledEarly.insert(number)
                return (nil, false)
            }
            guard let index = state.jobs.firstIndex(where: { $0.number == number }) else {
                return (nil, state.running == number)
            }
            return (state.jobs.remove(at: index), false)
        }
        skipped?.work(.failure(PostgresError.cancelled))()
        if isRunning { cancelRunning(number, repeatAfter: .milliseconds(20)) }
    }

    /// Not on the caller's thread, because the request connects to the server and waits. Meanwhile this connection's
    /// thread doesn't begin its next job, so the request can't hit that one. A request that overtakes its statement
    /// finds an idle server and does nothing, so it is repeated until the job has ended.
    private func cancelRunning(_ number: UInt64, repeatAfter pause: DispatchTimeInterval) {
        DispatchQueue.global().async { [self] in
            let isRunning = state.withLock { state in
                guard state.running == number, !state.isCancelling else { return false }
                state.isCancelling = true
                return true
            }
            guard isRunning else { return }
            canceller.cancel()
            let isStillRunning = state.withLock { state in
                state.isCancelling = false
                return state.running == number
            }
            guard isStillRunning else {
                cancelled.signal()
                return
            }
            DispatchQueue.global().asyncAfter(deadline: .now() + pause) { [self] in
                cancelRunning(number, repeatAfter: .milliseconds(500))
            }
        }
    }

    /// How long to wait for a server that doesn't answer a request to cancel.
    private static var cancelPatience: DispatchTimeInterval { .seconds(5) }

    // MARK: The thread

    private func serve(_ database: Database) {
        while !database.isLost {
            let (job, isClosing) = state.withLock { state in
                let job = state.jobs.isEmpty ? nil : state.jobs.removeFirst()
                state.running = job?.number
                return (job, state.isClosing)
            }
            if let job {
                let tell = job.work(.success(database))
                // Before the result is delivered, so that its receiver sees that the connection is lost.
                let isCancelling = state.withLock { state in
                    state.running = nil
                    if database.isLost { state.ended = database.lost() }
                    return state.isCancelling
                }
                tell()
                guard isCancelling, !database.isLost else { continue }
                if cancelled.wait(timeout: .now() + Self.cancelPatience) == .timedOut {
                    database.abandon("the server doesn't accept requests to cancel")
                }
            } else if isClosing {
                break
            } else {
                wait(database)
            }
        }
        let reason = database.isLost ? database.lost() : .closed
        database.close()
        let (jobs, closers) = state.withLock { state in
            state.ended = reason
            defer { (state.jobs, state.closers) = ([], []) }
            return (state.jobs, state.closers)
        }
        for job in jobs { job.work(.failure(reason))() }
        for closer in closers { closer() }
    }

    /// Sleeps until there is a job. It watches the socket, so it notices at once when the server goes away.
    private func wait(_ database: Database) {
        var descriptors = [
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: database.socket, events: Int16(POLLIN), revents: 0),
        ]
        guard poll(&descriptors, nfds_t(descriptors.count), -1) > 0 else { return }
        if descriptors[0].revents != 0 { wake.reset() }
        if descriptors[1].revents != 0, !database.consumeInput() { database.abandon() }
    }
}

private final class Canceller: @unchecked Sendable {
    // Sendable: libpq allows the use of a PGcancel on any thread (PostgreSQL manual, section 34.7). It never changes,
    // and is freed with the last reference.
    private let pointer: OpaquePointer?

    init(_ database: Database) { pointer = PQgetCancel(database.connection) }

    deinit { PQfreeCancel(pointer) }

    /// Connects to the server and waits until it has taken the request.
    func cancel() {
        var buffer = [CChar](repeating: 0, count: 256)
        _ = PQcancel(pointer, &buffer, Int32(buffer.count))
    }
}
