package import Logging
package import Postgres
import QuartetVocabulary
import ServiceLifecycle
import Synchronization

/// Fires a service's timers: takes due ones out of the table `timer` and appends their commands to the service's log
/// `due`, in one transaction. From there they are handled like all commands.
///
/// So a timer fires once, whatever is killed when, and one that was due while nothing ran isn't lost. Every replica
/// does this; each takes timers that no other is working on. Urgent ones fire first, however many others are due.
package final class Timers: Service, Sendable {
    private let log: Log
    private let urgent: [String]
    private let configuration: Configuration
    private let logger: Logger
    private let bell = Bell()
    /// Outlives connections: see ``QueueSearch/fail(_:at:)``.
    private let search = Mutex(QueueSearch())
    private let backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(2), multiplier: 2)
    /// How late a timer may fire that is set after the last look and is due before the next.
    private let idlePoll: Duration
    /// Of the urgent ones, and of all others.
    private static var batchLimit: Int64 { 500 }

    /// - Parameters:
    ///   - log: The service's log `due`, in the schema that has the table `timer`.
    ///   - urgent: The types that come before others. The schema's index `urgent_timer_by_due` has all of them; there may be none.
    ///   - idlePoll: How often to look for timers that were set since.
    package init(
        log: Log, urgent: [String], idlePoll: Duration = .milliseconds(100), configuration: Configuration,
        logger: Logger
    ) {
        self.log = log
        self.urgent = urgent
        self.idlePoll = idlePoll
        self.configuration = configuration.named("timers")
        self.logger = logger
    }

    /// Works until cancelled or shut down gracefully.
    package func run() async throws {
        let loop = ConnectionLoop(configuration: configuration, backoff: backoff, bell: bell, logger: logger)
        await loop.run { [self] database in
            while true {
                let look = search.withLock { $0.begin() }
                let pause: Duration
                let fired: Int
                do {
                    pause = try timeLeft(look.age, database)
                    fired = pause <= .zero ? try fire(look.age, database) : 0
                } catch {
                    search.withLock { $0.fail(look) }
                    throw error
                }
                // Someone else holds what is due and couldn't be taken: another replica at work, if all is well.
                let isHeld = pause <= .zero && fired == 0
                search.withLock { $0.end(look, foundAll: fired < Self.batchLimit && !isHeld) }
                if fired > 0 { continue }
                if bell.wait(isHeld ? idlePoll : min(pause, idlePoll)).stop { return }
            }
        }
    }

    private var table: String { "\(log.name.schema).timer" }

    /// How long until the next timer is due, by the database's clock.
    private func timeLeft(_ age: Interval, _ database: Database) throws -> Duration {
        let next = try database.query(
            """
            SELECT t.due_at, clock_timestamp() FROM \(unescaped: table) AS t
             WHERE t.due_at >= now() - \(age.microseconds) * interval '1 microsecond'
             ORDER BY t.due_at, t.key, t.name LIMIT 1
            """
        ).only
        guard let next else { return idlePoll }
        let left = try next.decode(0, as: Instant.self) - next.decode(1, as: Instant.self)
        return left.duration
    }

    /// Fires what is due, the urgent ones first. Returns how many timers that were.
    private func fire(_ age: Interval, _ database: Database) throws -> Int {
        // In a transaction of their own: what is wrong with others doesn't hold them back.
        let first = urgent.isEmpty ? 0 : try fire(dueUrgent(age), database)
        return first + (try fire(due(age), database))
    }

    /// Fires the timers that a query finds and locks.
    private func fire(_ found: Query, _ database: Database) throws -> Int {
        let messages = try database.transaction { database in
            let due = try database.query(
                """
                DELETE FROM \(unescaped: table) AS t
                 USING (\(found)) AS d
                 WHERE t.key = d.key AND t.name = d.name
                RETURNING t.due_at, t.key, t.name, t.type, t.version, t.body, now()
                """)
            let messages = try due.map { try (due: $0.decode(0, as: Instant.self), message: self.message(of: $0)) }
                .sorted { $0.due < $1.due }.map(\.message)
            if !messages.isEmpty { _ = try database.query(log.append(messages)) }
            return messages
        }
        if !messages.isEmpty { try database.ring(log.ring(for: messages)) }
        return messages.count
    }

    // now() is when the transaction began. Unlike clock_timestamp(), it can be searched for in an index.

    private func due(_ age: Interval) -> Query {
        """
        SELECT d.key, d.name FROM \(unescaped: table) AS d
         WHERE d.due_at <= now() AND d.due_at >= now() - \(age.microseconds) * interval '1 microsecond'
         ORDER BY d.due_at, d.key, d.name
         LIMIT \(Self.batchLimit) FOR UPDATE SKIP LOCKED
        """
    }

    /// The types stand in its text: only then does the server know that a partial index has all that it looks for.
    private func dueUrgent(_ age: Interval) -> Query {
        """
        SELECT d.key, d.name FROM \(unescaped: table) AS d
         WHERE d.type IN (\(unescaped: urgent.map { "'\($0)'" }.joined(separator: ", ")))
           AND d.due_at <= now() AND d.due_at >= now() - \(age.microseconds) * interval '1 microsecond'
         ORDER BY d.due_at, d.name, d.key
         LIMIT \(Self.batchLimit) FOR UPDATE SKIP LOCKED
        """
    }

    private func message(of row: Row) throws -> Message {
        let (due, text, name) = try row.decode(Instant.self, String.self, String.self)
        guard let key = Key(text) else { throw BusError.unreadable(log.name, "a timer's key \(text)") }
        return Message(
            kind: .command, type: try row.decode(3, as: String.self), version: try row.decode(4, as: Int16.self),
            key: key, body: try row.decode(5, as: JSON.self).bytes,
            // Made now: the command of a deadline that passed long ago isn't old.
            commandID: .derived(
                at: try row.decode(6, as: Instant.self), from: Array("timer/\(log.name.schema)".utf8),
                Array(text.utf8), Array(name.utf8), Array("\(due.microseconds)".utf8)),
            correlationID: .new())
    }
}
