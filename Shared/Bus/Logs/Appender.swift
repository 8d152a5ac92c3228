import Logging
import Postgres
import Synchronization
import Vocabulary

/// Appends commands to one of the sender's own logs: many callers' rows in one transaction.
///
/// A row that finds nothing on its way is appended at once. While there is much to do, flushes keep a distance: a quarter of the
/// time that a command then takes anyway (``FlushPace``).
///
/// Delivers at least once: a row whose commit is unknown is appended again. The command's id makes it one command.
final class Appender: Sendable {
    /// A command on its way into the log.
    struct Entry: Sendable {
        let message: Message
        /// When its time to live ends. The time that it waits here counts, by the monotonic clock.
        let expiry: ContinuousClock.Instant?
        /// Called on the appender's thread if the server refuses this row.
        let refused: @Sendable (AppendError) -> Void
        /// When somebody asked for it.
        let begun = ContinuousClock.now

        init(_ message: Message, refused: @escaping @Sendable (AppendError) -> Void) {
            self.message = message
            expiry = message.timeToLive.map { .now + $0.duration }
            self.refused = refused
        }

        private init(_ entry: Entry, refused: @escaping @Sendable (AppendError) -> Void) {
            (message, expiry) = (entry.message, entry.expiry)
            self.refused = refused
        }

        /// For a row that was appended before. A refusal now says nothing, because the first one may have been taken.
        var again: Entry { Entry(self) { _ in } }

        /// The message with what is left of its time to live.
        func message(at time: ContinuousClock.Instant) -> Message {
            guard let expiry else { return message }
            var message = message
            message.timeToLive = Interval(expiry - time)
            return message
        }
    }

    private let log: Log
    private let configuration: Configuration
    private let faultPoint: (@Sendable () -> Void)?
    private let logger: Logger
    /// At most 512 rows in a transaction; when 8192 wait, the next is refused.
    private let machine = Mutex(AppenderMachine<Entry>(batchLimit: 512, queueLimit: 8192))
    private let pace = Mutex(FlushPace())
    private let bell = Bell()

    init(log: Log, configuration: Configuration, faultPoint: (@Sendable () -> Void)?, logger: Logger) {
        self.log = log
        self.faultPoint = faultPoint
        // An append needn't be flushed: nothing is reported because of it. Its effects are flushed with the service's own
        // commit, later in the same WAL, before the outcome is heard. If a crashed server loses both, waiters append again.
        var configuration = configuration.named("appender")
        configuration.settings["synchronous_commit"] = "off"
        // Below any statement time-out: the rows aren't to blame for a partition that somebody else holds.
        configuration.settings["lock_timeout"] = "4s"
        self.configuration = configuration
        var logger = logger
        logger[metadataKey: "log"] = "\(log.name)"
        self.logger = logger
    }

    /// Queues a row. Never blocks.
    /// - Throws: ``AppendError/overloaded`` when too many rows wait.
    func enqueue(_ entry: Entry) throws(AppendError) {
        guard machine.withLock({ $0.enqueue(entry) }) else { throw .overloaded }
        bell.ring { $0.all = true }
    }

    /// Notes that a command has its outcome.
    func answered(_ entry: Entry) { pace.withLock { $0.answered(after: .now - entry.begun) } }

    /// Queues rows that may have been lost after they were appended, except those that still wait here.
    func enqueueAgain(_ entries: [Entry]) {
        machine.withLock { machine in
            let waiting = Set(machine.queued.map(\.message.id))
            machine.enqueueAgain(entries.filter { !waiting.contains($0.message.id) }.map(\.again))
        }
        bell.ring { $0.all = true }
    }

    /// Appends until cancelled or shut down gracefully.
    /// - Parameter reconnected: Called on each connection but the first: what was appended before may be lost.
    func run(reconnected: @escaping @Sendable () -> Void) async {
        let loop = ConnectionLoop(
            configuration: configuration,
            backoff: Backoff(initial: .milliseconds(20), maximum: .seconds(2), multiplier: 2), bell: bell,
            logger: logger)
        let isFirst = Mutex(true)
        await loop.run { [self] database in
            let isReconnect = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if isReconnect { reconnected() }
            try flushUntilStopped(database)
        }
    }

    private func flushUntilStopped(_ database: Database) throws {
        var nextFlush = ContinuousClock.now
        while true {
            while machine.withLock(\.waiting) > 0 {
                if !machine.withLock(\.isFull) { bell.rest(until: nextFlush) }
                nextFlush = .now + pace.withLock(\.distance)
                if let entries = machine.withLock({ $0.nextFlush() }) { try flush(entries, database) }
            }
            if bell.wait(.seconds(10)).stop, machine.withLock(\.waiting) == 0 { return }
        }
    }

    private func flush(_ entries: [Entry], _ database: Database) throws {
        let now = ContinuousClock.now
        let messages = entries.map { $0.message(at: now) }
        do {
            try database.pipeline { pipeline in
                let append = pipeline.query(log.append(messages))
                if let faultPoint {
                    try pipeline.receive()
                    faultPoint()
                }
                pipeline.sync()
                pipeline.query(log.ring(for: messages))
                pipeline.sync()
                try pipeline.flush()
                _ = try append.rows()
            }
            _ = machine.withLock { $0.flushed() }
        } catch {
            let failure = TransactionFailure(error)
            guard case .failed(let reason) = failure, reason.code == .error else {
                // The rows aren't at fault, so they are sent again: at once after a wait for a lock, else on a new connection.
                _ = machine.withLock { $0.failed(.connectionLost) }
                var isRefusedForNow = (error as? PostgresError)?.sqlState == "55P03"
                if case .contention = failure { isRefusedForNow = true }
                guard isRefusedForNow else { throw error }
                logger.warning("repeating a flush", metadata: ["error": "\(error)"])
                return
            }
            let refused = machine.withLock { $0.failed(.refused) }
            for entry in refused {
                logger.warning(
                    "the database refused a row", metadata: ["type": "\(entry.message.type)", "error": "\(reason)"])
                entry.refused(.refused(reason.description))
            }
        }
    }
}

/// Why a row was not appended.
enum AppendError: Error {
    /// Too many rows wait for the database. Nothing was sent.
    case overloaded
    /// The server refused this row. Nothing was stored.
    case refused(String)
}
