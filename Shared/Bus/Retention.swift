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
        self.configuration = configuration.named("retention")
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
            var places: [Place: Int64] = [:]
            while !bell.wait(pause).stop {
                try pass(&places, database)
                pause = interval
            }
        }
    }

    private func pass(_ places: inout [Place: Int64], _ database: Database) throws {
        let lock = "quartet retention \(schema)"
        guard
            try database.query("SELECT pg_try_advisory_lock(hashtextextended(\(lock), 0))").only?.decode(
                0, as: Bool.self)
                ?? false
        else { return }
        let forgotten = try forget(database)
        try redact(&places, database)
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

    /// How far an account's messages are emptied in a partition.
    private struct Place: Hashable {
        let account: AccountID
        let log: LogName
        let partition: Partition
    }

    /// Empties what was recorded before it was asked for as soon as that is handled and, once more after ten minutes, what
    /// came late: a command is handled by then, or has expired.
    private func redact(_ places: inout [Place: Int64], _ database: Database) throws {
        let open = try database.query(
            """
            SELECT r.account, r.requested_at FROM \(unescaped: schema).redaction AS r
             WHERE r.done_at IS NULL
                OR (r.done_at < r.requested_at + interval '10 minutes'
                    AND clock_timestamp() > r.requested_at + interval '10 minutes')
             ORDER BY r.requested_at LIMIT 100
            """
        ).map { try $0.decode(AccountID.self, Instant.self) }
        for (account, requested) in open where !bell.isStopped {
            var isDone = true
            for log in logs {
                for partition in log.partitions {
                    let place = Place(account: account, log: log.name, partition: partition)
                    places[place] = try redact(account, log, partition, after: places[place] ?? 0, database)
                    if try isWaiting(log, partition, after: places[place] ?? 0, since: requested, database) {
                        isDone = false
                    }
                }
            }
            if hasOutcomes { try redactOutcomes(of: account, database) }
            guard isDone, !bell.isStopped else { continue }
            try database.execute(
                """
                UPDATE \(unescaped: schema).redaction AS r SET done_at = clock_timestamp()
                 WHERE r.account = \(account) AND r.requested_at = \(requested)
                """)
            logger.info("an account's messages are emptied", metadata: ["account": "\(account)"])
        }
        let accounts = Set(open.map(\.0))
        places = places.filter { accounts.contains($0.key.account) }
    }

    /// Returns how far it has come: what isn't handled yet keeps its body until it is.
    private func redact(
        _ account: AccountID, _ log: Log, _ partition: Partition, after begin: Int64, _ database: Database
    ) throws -> Int64 {
        var position = begin
        while !bell.isStopped {
            let last = try database.query(
                """
                SELECT \(unescaped: "\(log.name)_redact")(\(account), \(partition.number), \(position), \(Self.pieceLimit))
                """
            ).only?.decode(0, as: Int64?.self)
            guard let last, last > position else { break }
            position = last
        }
        return position
    }

    /// Whether something from before a time is behind a position: it isn't handled yet.
    private func isWaiting(
        _ log: Log, _ partition: Partition, after position: Int64, since time: Instant, _ database: Database
    ) throws -> Bool {
        let next = try database.query(
            """
            SELECT l.recorded_at FROM \(unescaped: log.name.description) AS l
             WHERE l.partition = \(partition.number) AND l.position > \(position)
             ORDER BY l.position LIMIT 1
            """
        ).only?.decode(0, as: Instant.self)
        return next.map { $0 < time } ?? false
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
