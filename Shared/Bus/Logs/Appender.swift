public import Logging
public import Postgres
public import ServiceLifecycle
import Synchronization
import Vocabulary

/// Appends commands to one of the sender's own logs, many callers' rows in one transaction, without anybody waiting
/// for a timer.
///
/// Delivers at least once: a row whose commit is unknown is appended again. The command's id makes it one command.
public final class Appender: Service, Sendable {
    /// How it works. All have sane defaults.
    public struct Settings: Sendable {
        /// Rows in one transaction, at most.
        public var batchLimit = 512
        /// Rows that wait, at most; more are refused as ``AppendError/overloaded``.
        public var queueLimit = 8192
        /// Pauses between attempts to reconnect.
        public var backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(2), multiplier: 2)

        /// Called when the server has done a flush and its transaction is still open, so that a test can hold or end the process
        /// there. Costs a round trip; nil in production.
        public var faultPoint: (@Sendable () -> Void)?

        /// All its parts, as the properties describe them.
        public init() {}
    }

    /// A command on its way into the log.
    struct Entry: Sendable {
        let message: Message
        /// Until when it is good: the time that it waits here counts, by a clock that nobody sets.
        let expiry: ContinuousClock.Instant?
        /// Called on the appender's thread if the server refuses this very row.
        let refused: @Sendable (AppendError) -> Void

        init(_ message: Message, refused: @escaping @Sendable (AppendError) -> Void) {
            self.message = message
            expiry = message.timeToLive.map { .now + $0.duration }
            self.refused = refused
        }

        private init(_ entry: Entry, refused: @escaping @Sendable (AppendError) -> Void) {
            (message, expiry) = (entry.message, entry.expiry)
            self.refused = refused
        }

        /// What was appended before. Nobody is told that it was refused now: the first one may have been taken.
        var again: Entry { Entry(self) { _ in } }

        /// The message with what is left of its time to live.
        func message(at time: ContinuousClock.Instant) -> Message {
            guard let expiry else { return message }
            var message = message
            message.timeToLive = Interval(expiry - time)
            return message
        }
    }

    /// The log.
    public let log: Log
    private let settings: Settings
    private let configuration: Configuration
    private let logger: Logger
    private let machine: Mutex<AppenderMachine<Entry>>
    private let bell = Bell()
    private let reconnected = Mutex<[@Sendable () -> Void]>([])

    /// All its parts, as the properties describe them.
    public init(log: Log, settings: Settings = Settings(), configuration: Configuration, logger: Logger) {
        self.log = log
        self.settings = settings
        // Nobody is told anything because of a command's append: what it led to is flushed with the service's commit, later
        // in the same WAL, before its outcome is heard. What a crashed server loses of both, waiters append again.
        var configuration = configuration.named("appender")
        configuration.settings["synchronous_commit"] = "off"
        // Below any statement time-out: a partition that somebody else holds is no fault of the rows.
        configuration.settings["lock_timeout"] = "4s"
        self.configuration = configuration
        var logger = logger
        logger[metadataKey: "log"] = "\(log.name)"
        self.logger = logger
        machine = Mutex(AppenderMachine(batchLimit: settings.batchLimit, queueLimit: settings.queueLimit))
    }

    /// How many rows wait: what the edge looks at before it takes on more.
    public var waiting: Int { machine.withLock(\.waiting) }

    /// Hands a row over to be appended. Never blocks.
    /// - Throws: ``AppendError/overloaded`` when too many rows wait.
    func enqueue(_ entry: Entry) throws(AppendError) {
        guard machine.withLock({ $0.enqueue(entry) }) else { throw .overloaded }
        bell.ring { $0.all = true }
    }

    /// Hands over again what may have been lost after it was appended. What still waits here isn't doubled.
    func enqueueAgain(_ entries: [Entry]) {
        machine.withLock { machine in
            let waiting = Set(machine.queued.map(\.message.id))
            machine.enqueueAgain(entries.filter { !waiting.contains($0.message.id) }.map(\.again))
        }
        bell.ring { $0.all = true }
    }

    /// Called after each reconnect: what was appended before may not have survived, so waiters append again.
    func onReconnect(_ action: @escaping @Sendable () -> Void) {
        reconnected.withLock { $0.append(action) }
    }

    /// Works until it is cancelled or shut down gracefully.
    public func run() async throws {
        let loop = ConnectionLoop(
            configuration: configuration, backoff: settings.backoff, bell: bell, logger: logger)
        let isFirst = Mutex(true)
        await loop.run { [self] database in
            let isReconnect = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return !isFirst
            }
            if isReconnect { for action in reconnected.withLock({ $0 }) { action() } }
            try flushUntilStopped(database)
        }
    }

    private func flushUntilStopped(_ database: Database) throws {
        while true {
            while let entries = machine.withLock({ $0.nextFlush() }) { try flush(entries, database) }
            if bell.wait(.seconds(10)).stop, waiting == 0 { return }
        }
    }

    private func flush(_ entries: [Entry], _ database: Database) throws {
        let now = ContinuousClock.now
        let messages = entries.map { $0.message(at: now) }
        do {
            try database.pipeline { pipeline in
                let append = pipeline.query(log.append(messages))
                if let faultPoint = settings.faultPoint {
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
                // What isn't the rows' own fault passes: they are sent again, after a pause unless a lock was waited for.
                _ = machine.withLock { $0.failed(.connectionLost) }
                var isRefusedForNow = (error as? PostgresError)?.sqlState == "55P03"
                if case .contention = failure { isRefusedForNow = true }
                guard isRefusedForNow else { throw error }
                logger.warning("a flush is repeated", metadata: ["error": "\(error)", "waiting": "\(waiting)"])
                return
            }
            let refused = machine.withLock { $0.failed(.refused) }
            for entry in refused {
                logger.warning("a row was refused", metadata: ["type": "\(entry.message.type)", "error": "\(reason)"])
                entry.refused(.refused(reason.description))
            }
        }
    }
}

/// Why a row was not appended.
public enum AppendError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Too many rows wait for the database; nothing was sent.
    case overloaded
    /// The server refused this row; nothing was stored.
    case refused(String)

    /// For logs and messages to people.
    public var description: String {
        switch self {
        case .overloaded: "too much waits to be written; try again in a second"
        case .refused(let reason): "the database refused the message: \(reason)"
        }
    }
}
