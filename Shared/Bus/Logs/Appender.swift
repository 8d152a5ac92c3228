import Logging
import Postgres
import QuartetVocabulary
import Synchronization

/// Appends commands to one of the sender's own logs: many callers' rows in one transaction.
///
/// A row that finds nothing on its way is appended at once. While there is much to do, flushes keep a distance: a quarter of the
/// time that a command then takes anyway (``FlushPace``).
///
/// A partition that somebody else holds doesn't hold up the others: its rows wait on a connection of their own.
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
    /// Of the connection that waits for held partitions. It is there only while there are any.
    private let asideConfiguration: Configuration
    private let faultPoint: (@Sendable () -> Void)?
    private let logger: Logger
    /// At most 512 rows in a transaction; when 8192 wait, the next is refused.
    private let machine: Mutex<AppenderMachine<Entry>>
    private let pace = Mutex(FlushPace())
    private let bell = Bell()
    private let (asides, asideWaker) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(2), multiplier: 2)

    init(log: Log, configuration: Configuration, faultPoint: (@Sendable () -> Void)?, logger: Logger) {
        self.log = log
        self.faultPoint = faultPoint
        // An append needn't be flushed: nothing is reported because of it. Its effects are flushed with the service's own
        // commit, later in the same WAL, before the outcome is heard. If a crashed server loses both, waiters append again.
        var configuration = configuration.named("appender")
        configuration.settings["synchronous_commit"] = "off"
        // The rows aren't to blame for a partition that somebody else holds. Appends hold it for milliseconds.
        configuration.settings["lock_timeout"] = "250ms"
        self.configuration = configuration
        // Below any statement time-out, and long enough for a silent blocker to be found.
        configuration.settings["lock_timeout"] = "4s"
        asideConfiguration = configuration
        machine = Mutex(AppenderMachine(batchLimit: 512, queueLimit: 8192) { log.partition(of: $0.message.key) })
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
        let loop = ConnectionLoop(configuration: configuration, backoff: backoff, bell: bell, logger: logger)
        await withDiscardingTaskGroup { group in
            group.addTask { await self.flushAside() }
            let isFirst = Mutex(true)
            await loop.run { [self] database in
                let isReconnect = isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return !isFirst
                }
                if isReconnect { reconnected() }
                try flushUntilStopped(database)
            }
            asideWaker.finish()
        }
    }

    private func flushUntilStopped(_ database: Database) throws {
        var nextFlush = ContinuousClock.now
        while true {
            while machine.withLock(\.waitingHere) > 0 {
                if !machine.withLock(\.isFull) { bell.rest(until: nextFlush) }
                nextFlush = .now + pace.withLock(\.distance)
                if let entries = machine.withLock({ $0.nextFlush() }) { try flush(entries, database) }
            }
            if bell.wait(.seconds(10)).stop, machine.withLock(\.waitingHere) == 0 { return }
        }
    }

    private func flush(_ entries: [Entry], _ database: Database) throws {
        do {
            try append(entries, database)
            _ = machine.withLock { $0.flushed() }
        } catch {
            let failure = Failure(error)
            let (refused, hasAside) = machine.withLock { ($0.failed(failure.kind), $0.hasAside) }
            if hasAside { asideWaker.yield() }
            try handle(failure, refused, of: entries, error)
        }
    }

    /// Flushes the rows of partitions that somebody else holds, until the queue is closed and none is left.
    private func flushAside() async {
        for await _ in asides {
            var attempt = 0
            while machine.withLock(\.hasAside), !Task.isCancelled {
                let begun = ContinuousClock.now
                do {
                    try await Connection.with(asideConfiguration, logger: logger) { [self] database in
                        while let entries = machine.withLock({ $0.nextAside() }) { try flushAside(entries, database) }
                    }
                } catch {
                    attempt = backoff.attempt(after: attempt, begun: begun)
                    try? await Task.sleep(for: backoff.delay(attempt: attempt))
                }
            }
        }
    }

    private func flushAside(_ entries: [Entry], _ database: Database) throws {
        do {
            try append(entries, database)
            machine.withLock { $0.flushedAside() }
        } catch {
            let failure = Failure(error)
            let refused = machine.withLock { $0.failedAside(failure.kind) }
            try handle(failure, refused, of: entries, error)
        }
    }

    private func append(_ entries: [Entry], _ database: Database) throws {
        let now = ContinuousClock.now
        let messages = entries.map { $0.message(at: now) }
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
    }

    /// Why a flush failed.
    private enum Failure {
        case refused(Fault)
        case locked
        /// Repeated at once.
        case contention
        case connection

        init(_ error: any Error) {
            switch TransactionFailure(error) {
            case _ where (error as? PostgresError)?.sqlState == "55P03": self = .locked
            case .failed(let reason) where reason.code == .error: self = .refused(reason)
            case .contention: self = .contention
            default: self = .connection
            }
        }

        var kind: AppenderMachine<Entry>.Failure {
            switch self {
            case .refused: .refused
            case .locked: .locked
            case .contention, .connection: .connectionLost
            }
        }
    }

    /// - Throws: What calls for another connection.
    private func handle(_ failure: Failure, _ refused: [Entry], of entries: [Entry], _ error: any Error) throws {
        switch failure {
        case .refused(let reason):
            for entry in refused {
                var metadata: Logger.Metadata = ["type": "\(entry.message.type)", "error": "\(reason)"]
                if let parent = entry.message.traceParent { metadata["trace_parent"] = .string(parent) }
                logger.warning("the database refused a row", metadata: metadata)
                entry.refused(.refused(reason.description))
            }
        case .locked:
            let partitions = Set(entries.map { log.partition(of: $0.message.key).number }).sorted()
            logger.warning(
                "somebody holds partitions of the log; other partitions go on",
                metadata: ["among": "\(partitions)", "error": "\(error)"])
        case .contention: logger.warning("repeating a flush", metadata: ["error": "\(error)"])
        // The rows aren't at fault, so they are sent again.
        case .connection: throw error
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
