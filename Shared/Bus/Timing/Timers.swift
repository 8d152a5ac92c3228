public import Logging
public import Postgres
public import ServiceLifecycle
import Vocabulary

/// Sends a service what it wanted to be told when it is due: takes due timers out of the table `timer` and puts their
/// commands into the service's log `due`, in one transaction. From there they are handled as all commands are.
///
/// So a timer fires once, whatever is killed when, and nothing that was due while nothing ran is lost. Every replica does
/// this; each takes what no other has in hand.
public final class Timers: Service, Sendable {
    private let log: Log
    private let configuration: Configuration
    private let logger: Logger
    private let bell = Bell()
    private let backoff = Backoff(initial: .milliseconds(20), maximum: .seconds(2), multiplier: 2)
    /// One that is set meanwhile for before this is sent this late at most.
    private let idlePoll: Duration
    private static var batchLimit: Int64 { 500 }

    /// - Parameters:
    ///   - log: the service's log `due`, in the schema that has the table `timer`.
    ///   - idlePoll: how often to look for timers that were set meanwhile.
    public init(
        log: Log, idlePoll: Duration = .milliseconds(100), configuration: Configuration, logger: Logger
    ) {
        self.log = log
        self.idlePoll = idlePoll
        self.configuration = configuration.named("timers")
        self.logger = logger
    }

    /// Works until it is cancelled or shut down gracefully.
    public func run() async throws {
        let loop = ConnectionLoop(configuration: configuration, backoff: backoff, bell: bell, logger: logger)
        await loop.run { [self] database in
            var search = QueueSearch()
            while true {
                let look = search.begin()
                let pause = try timeLeft(look.age, database)
                let isDue = pause <= .zero
                let fired = isDue ? try fire(look.age, database) : 0
                search.end(look, foundAll: fired < Self.batchLimit)
                if fired > 0 { continue }
                // What is due and wasn't to be had, another replica has in hand.
                if bell.wait(isDue ? idlePoll : min(pause, idlePoll)).stop { return }
            }
        }
    }

    private var table: String { "\(log.name.schema).timer" }

    /// Until the next one is due, by the database's clock.
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

    /// Sends what is due, and returns how many that were.
    private func fire(_ age: Interval, _ database: Database) throws -> Int {
        let messages = try database.transaction { database in
            // now() is when this transaction began: unlike clock_timestamp(), an index can be searched for it.
            let due = try database.query(
                """
                DELETE FROM \(unescaped: table) AS t
                 USING (SELECT d.key, d.name FROM \(unescaped: table) AS d
                         WHERE d.due_at <= now()
                           AND d.due_at >= now() - \(age.microseconds) * interval '1 microsecond'
                         ORDER BY d.due_at, d.key, d.name
                         LIMIT \(Self.batchLimit) FOR UPDATE SKIP LOCKED) AS d
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

    private func message(of row: Row) throws -> Message {
        let (due, text, name) = try row.decode(Instant.self, String.self, String.self)
        guard let key = Key(text) else { throw BusError.unreadable(log.name, "a timer's key \(text)") }
        return Message(
            kind: .command, type: try row.decode(3, as: String.self), version: try row.decode(4, as: Int16.self),
            key: key, body: try row.decode(5, as: JSON.self).bytes,
            // Made now: a deadline that passed long ago isn't an old command.
            commandID: .derived(
                at: try row.decode(6, as: Instant.self), from: Array("timer/\(log.name.schema)".utf8),
                Array(text.utf8), Array(name.utf8), Array("\(due.microseconds)".utf8)),
            correlationID: .new())
    }
}
