public import Logging
public import Postgres
public import ServiceLifecycle
import Vocabulary

/// Forgets what a schema's bus tables need not keep any longer, and empties closed accounts' messages: in small pieces,
/// off the path of the work. What is kept how long stands in the table `retention`.
///
/// Every replica has one; one at a time works.
public final class Retention: Service, Sendable {
    private let schema: String
    private let logs: [Log]
    private let hasOutcomes: Bool
    private let others: [String]
    private let interval: Duration
    private let configuration: Configuration
    private let logger: Logger
    private let bell = Bell()
    private static var pieceLimit: Int32 { 1000 }

    /// - Parameters:
    ///   - logs: the schema's own.
    ///   - hasOutcomes: whether it decides commands.
    ///   - others: functions of the schema that delete so many rows of its own at most and return how many that were.
    ///   - interval: how long it rests in between.
    public init(
        schema: String, logs: [Log], hasOutcomes: Bool, others: [String] = [], interval: Duration = .seconds(60),
        configuration: Configuration, logger: Logger
    ) {
        self.schema = schema
        self.logs = logs
        self.hasOutcomes = hasOutcomes
        self.others = others
        self.interval = interval
        self.configuration = configuration
        self.logger = logger
    }

    /// Works until it is cancelled or shut down gracefully.
    public func run() async throws {
        let loop = ConnectionLoop(
            configuration: configuration, backoff: Backoff(initial: .seconds(1), maximum: interval, multiplier: 2),
            bell: bell, logger: logger)
        await loop.run { [self] database in
            // Replicas that were started together don't look together.
            var pause = interval * Double.random(in: 0...1)
            while !bell.wait(pause).stop {
                try pass(database)
                pause = interval
            }
        }
    }

    private func pass(_ database: Database) throws {
        let lock = "quartet retention \(schema)"
        guard
            try database.query("SELECT pg_try_advisory_lock(hashtextextended(\(lock), 0))").only?.decode(
                0, as: Bool.self)
                ?? false
        else { return }
        let forgotten = try forget(database)
        try redact(database)
        try database.execute("SELECT pg_advisory_unlock(hashtextextended(\(lock), 0))")
        if forgotten > 0 { logger.info("old rows are forgotten", metadata: ["rows": "\(forgotten)"]) }
    }

    // MARK: Forgetting

    private func forget(_ database: Database) throws -> Int64 {
        var forgotten: Int64 = 0
        for log in logs {
            for partition in log.partitions {
                forgotten += try repeated(
                    database,
                    "SELECT \(unescaped: "\(log.name)_delete_old")(\(partition.number), \(Self.pieceLimit))")
            }
        }
        forgotten += try repeated(
            database,
            """
            SELECT \(unescaped: schema).delete_old_batches(
                (SELECT r.keep FROM \(unescaped: schema).retention AS r WHERE r.subject = 'batch'), \(Self.pieceLimit))
            """)
        if hasOutcomes {
            forgotten += try repeated(
                database, "SELECT \(unescaped: schema).delete_old_outcomes(\(Self.pieceLimit))")
        }
        for other in others {
            forgotten += try repeated(database, "SELECT \(unescaped: "\(schema).\(other)")(\(Self.pieceLimit))")
        }
        return forgotten
    }

    /// One piece a transaction, so that nobody waits long for a lock, until there is nothing more.
    private func repeated(_ database: Database, _ query: Query) throws -> Int64 {
        var sum: Int64 = 0
        while !bell.isStopped {
            let deleted = try database.query(query).only?.decode(0, as: Int64.self) ?? 0
            if deleted == 0 { break }
            sum += deleted
        }
        return sum
    }

    // MARK: Redacting

    private func redact(_ database: Database) throws {
        let open = try database.query(
            """
            SELECT r.account, r.requested_at FROM \(unescaped: schema).redaction AS r
             WHERE r.done_at IS NULL ORDER BY r.requested_at LIMIT 100
            """
        ).map { try $0.decode(AccountID.self, Instant.self) }
        for (account, requested) in open where !bell.isStopped {
            var isDone = true
            for log in logs {
                for partition in log.partitions where try !redact(account, log, partition, database) { isDone = false }
            }
            if hasOutcomes { try redactOutcomes(of: account, database) }
            guard isDone else { continue }
            try database.execute(
                """
                UPDATE \(unescaped: schema).redaction AS r SET done_at = clock_timestamp()
                 WHERE r.account = \(account) AND r.requested_at = \(requested)
                """)
            logger.info("an account's messages are emptied", metadata: ["account": "\(account)"])
        }
    }

    /// Returns whether the partition's end was reached: what isn't handled yet keeps its body until it is.
    private func redact(_ account: AccountID, _ log: Log, _ partition: Partition, _ database: Database) throws -> Bool {
        var position: Int64 = 0
        while !bell.isStopped {
            let last = try database.query(
                """
                SELECT \(unescaped: "\(log.name)_redact")(\(account), \(partition.number), \(position), \(Self.pieceLimit))
                """
            ).only?.decode(0, as: Int64?.self)
            guard let last else { return true }
            if last <= position { return false }
            position = last
        }
        return false
    }

    private func redactOutcomes(of account: AccountID, _ database: Database) throws {
        var id: CommandID? = CommandID(high: 0, low: 0)
        while let after = id, !bell.isStopped {
            id = try database.query(
                "SELECT \(unescaped: schema).redact_outcomes(\(account), \(after), \(Self.pieceLimit))"
            ).only?.decode(0, as: CommandID?.self)
        }
    }
}
