public import Logging
public import Postgres
public import ServiceLifecycle
import Vocabulary

/// Deletes old rows of a schema's bus tables and empties the messages of closed accounts, in small pieces beside the
/// normal work. The table `retention` says how long rows are kept.
///
/// Every replica runs one; they take turns.
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
    /// Most of these rows are only looked at.
    private static var redactionLimit: Int32 { 5000 }

    /// - Parameters:
    ///   - logs: The schema's own logs.
    ///   - hasOutcomes: Whether the schema decides commands.
    ///   - others: Functions of the schema that delete up to a number of its own rows and return how many they deleted.
    ///   - interval: The pause between passes.
    public init(
        schema: String, logs: [Log], hasOutcomes: Bool, others: [String] = [], interval: Duration = .seconds(60),
        configuration: Configuration, logger: Logger
    ) {
        self.schema = schema
        self.logs = logs
        self.hasOutcomes = hasOutcomes
        self.others = others
        self.interval = interval
        self.configuration = configuration.named("retention")
        self.logger = logger
    }

    /// Works until cancelled or shut down gracefully.
    public func run() async throws {
        let loop = ConnectionLoop(
            configuration: configuration, backoff: Backoff(initial: .seconds(1), maximum: interval, multiplier: 2),
            bell: bell, logger: logger)
        await loop.run { [self] database in
            // So that replicas that were started together don't look at the same time.
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
        if forgotten > 0 { logger.info("deleted old rows", metadata: ["rows": "\(forgotten)"]) }
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

    /// Runs pieces, each in its own transaction so that locks are short, until there is nothing left to delete.
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

    /// Empties the messages of closed accounts once they are handled, and those that arrive within the next ten
    /// minutes. One pass through each partition serves all accounts; the table `redaction_pass` keeps its place.
    private func redact(_ database: Database) throws {
        let isAnyOpen = try database.query(
            """
            WITH noticed AS (
                UPDATE \(unescaped: schema).redaction AS r SET noticed_at = clock_timestamp() WHERE r.noticed_at IS NULL
            )
            SELECT EXISTS (SELECT FROM \(unescaped: schema).redaction AS r
                            WHERE r.done_at IS NULL OR r.done_at < r.late_until)
            """
        ).only?.decode(0, as: Bool.self)
        guard isAnyOpen == true else { return }
        try database.execute("SELECT \(unescaped: schema).redact_failed()")
        for log in logs {
            for partition in log.partitions {
                try goOn(
                    database, "SELECT \(unescaped: "\(log.name)_redact")(\(partition.number), \(Self.redactionLimit))")
            }
        }
        if hasOutcomes {
            try goOn(database, "SELECT \(unescaped: schema).redact_outcomes(\(Self.redactionLimit))")
        }
        guard !bell.isStopped else { return }
        let done = try database.execute(
            """
            UPDATE \(unescaped: schema).redaction AS r SET done_at = clock_timestamp()
             WHERE (r.done_at IS NULL OR (r.done_at < r.late_until AND clock_timestamp() >= r.late_until))
               AND NOT EXISTS (SELECT FROM \(unescaped: schema).redaction_pass AS p
                                WHERE p.begun_at < r.noticed_at
                                   OR p.passed_until < CASE WHEN r.done_at IS NULL THEN r.requested_at ELSE r.late_until END)
            """)
        if done > 0 { logger.info("emptied the messages of closed accounts", metadata: ["accounts": "\(done)"]) }
    }

    /// Runs pieces, each in its own transaction, until there is nothing left to do.
    private func goOn(_ database: Database, _ query: Query) throws {
        while !bell.isStopped, try database.query(query).only?.decode(0, as: Bool.self) == true {}
    }
}
