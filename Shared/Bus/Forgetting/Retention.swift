package import Logging
import Metrics
package import Postgres
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Deletes old rows of a schema's bus tables and empties the messages of closed accounts, in small pieces beside the
/// normal work. The table `retention` says how long rows are kept.
///
/// Each kind of row is a step by itself. When one fails, that is logged and counted, and the others are done all the same.
///
/// Every replica runs one; they take turns.
package final class Retention: Service, Sendable {
    private let schema: String
    private let logs: [Log]
    private let hasOutcomes: Bool
    private let others: [String]
    private let interval: Duration
    private let configuration: Configuration
    private let logger: Logger
    private let bell = Bell()
    /// The step that comes next. A pass goes round once, so after a step that cost the connection come the others first.
    private let nextStep = Mutex(0)
    private static var pieceLimit: Int32 { 1000 }
    static let rest = Rest(times: 1, longest: .milliseconds(250))
    /// Most of these rows are only looked at.
    private static var redactionLimit: Int32 { 5000 }

    /// - Parameters:
    ///   - logs: The schema's own logs.
    ///   - hasOutcomes: Whether the schema decides commands.
    ///   - others: Functions of the schema that delete up to a number of its own rows and return how many they deleted.
    ///   - interval: The pause between passes.
    package init(
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
    package func run() async throws {
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
        let steps = steps
        var forgotten: Int64 = 0
        for _ in steps {
            let step = nextStep.withLock { next in
                defer { next = (next + 1) % steps.count }
                return steps[next]
            }
            try attempt(step.name) {
                if let piece = step.piece { forgotten += try repeated(database, piece) } else { try redact(database) }
            }
        }
        try database.execute("SELECT pg_advisory_unlock(hashtextextended(\(lock), 0))")
        if forgotten > 0 { logger.info("deleted old rows", metadata: ["rows": "\(forgotten)"]) }
    }

    // MARK: Steps

    private struct Step: Sendable {
        let name: String
        /// Deletes up to a number of rows and returns how many it deleted; nil for redaction.
        let piece: Query?
    }

    private var steps: [Step] {
        var steps: [Step] = []
        for log in logs {
            for partition in log.partitions {
                steps.append(
                    Step(
                        name: "\(log.name)_delete_old",
                        piece:
                            "SELECT \(unescaped: "\(log.name)_delete_old")(\(partition.number), \(Self.pieceLimit))"))
            }
        }
        steps.append(
            Step(
                name: "\(schema).delete_old_batches",
                piece: """
                    SELECT \(unescaped: schema).delete_old_batches(
                        (SELECT r.keep FROM \(unescaped: schema).retention AS r WHERE r.subject = 'batch'),
                        \(Self.pieceLimit))
                    """))
        for function in (hasOutcomes ? ["delete_old_outcomes"] : []) + others {
            let name = "\(schema).\(function)"
            steps.append(Step(name: name, piece: "SELECT \(unescaped: name)(\(Self.pieceLimit))"))
        }
        steps.append(Step(name: "\(schema).redact", piece: nil))
        return steps
    }

    /// Runs a step by itself.
    /// - Returns: Whether it was done.
    /// - Throws: What cost the connection.
    @discardableResult
    private func attempt(_ name: String, _ step: () throws -> Void) throws -> Bool {
        do {
            try step()
            return true
        } catch {
            guard !bell.isStopped else { throw error }
            Counter(label: "quartet_retention_failures_total", dimensions: [("step", name)]).increment()
            logger.error(
                "a step of retention failed; the others go on", metadata: ["step": "\(name)", "error": "\(error)"])
            if let error = error as? PostgresError, error.isConnectionLost { throw error }
            return false
        }
    }

    /// Runs pieces, each in its own transaction so that locks are short, until there is nothing left to delete.
    private func repeated(_ database: Database, _ query: Query) throws -> Int64 {
        var sum: Int64 = 0
        while !bell.isStopped {
            let begun = ContinuousClock.now
            let deleted = try database.query(query).only?.decode(0, as: Int64.self) ?? 0
            if deleted == 0 { break }
            sum += deleted
            rest(after: begun)
        }
        return sum
    }

    /// Leaves the database to others for as long as a piece took: it holds its partition's lock.
    private func rest(after begun: ContinuousClock.Instant) {
        let now = ContinuousClock.now
        bell.rest(until: now + Self.rest.after(now - begun))
    }

    // MARK: Redacting

    /// Empties the messages of closed accounts once they are handled, and those that arrive within the next ten
    /// minutes. (Of a command that is valid for longer, what it says is emptied where it waits.) One pass through each partition serves all accounts; the table `redaction_pass` keeps its place.
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
        let areFailedEmpty = try attempt("\(schema).redact_failed") {
            try database.execute("SELECT \(unescaped: schema).redact_failed()")
        }
        for log in logs {
            for partition in log.partitions {
                try attempt("\(log.name)_redact") {
                    try goOn(
                        database,
                        "SELECT \(unescaped: "\(log.name)_redact")(\(partition.number), \(Self.redactionLimit))")
                }
            }
        }
        if hasOutcomes {
            try attempt("\(schema).redact_outcomes") {
                try goOn(database, "SELECT \(unescaped: schema).redact_outcomes(\(Self.redactionLimit))")
            }
        }
        // How far logs and outcomes were searched stands in redaction_pass.
        guard areFailedEmpty, !bell.isStopped else { return }
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
        while !bell.isStopped {
            let begun = ContinuousClock.now
            guard try database.query(query).only?.decode(0, as: Bool.self) == true else { return }
            rest(after: begun)
        }
    }
}
