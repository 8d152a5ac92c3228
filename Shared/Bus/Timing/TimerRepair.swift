public import Logging
import Metrics
public import Postgres
public import ServiceLifecycle
import Vocabulary

/// Compares the timers that a service's state wants with its table `timer`, and sets those that are missing or wrong.
///
/// Every replica goes through all keys, starting when it starts, in small pieces. There is nothing to repair unless
/// something unforeseen went wrong. Then a deadline is hours late at worst, not lost. A superfluous timer is left
/// alone: the rules drop its command, and another release may want it.
public final class TimerRepair: Service, Sendable {
    private let store: any TimedStore
    private let due: Log
    private let interval: Duration
    private let configuration: Configuration
    private let logger: Logger
    private let healed: Counter
    private let bell = Bell()
    private static var pieceLimit: Int64 { 500 }
    /// However long a piece took: a server that stood still is no reason to leave deadlines unrepaired.
    private static var longestPause: Duration { .seconds(5) }

    /// - Parameters:
    ///   - due: The service's log `due`, in the schema that has the table `timer`.
    ///   - interval: The pause after all keys were compared.
    public init(
        store: any TimedStore, due: Log, interval: Duration = .seconds(60), configuration: Configuration, logger: Logger
    ) {
        self.store = store
        self.due = due
        self.interval = interval
        self.configuration = configuration
        self.logger = logger
        healed = Counter(label: "quartet_timers_healed_total", dimensions: [("schema", due.name.schema)])
    }

    /// Works until cancelled or shut down gracefully.
    public func run() async throws {
        healed.increment(by: 0)
        let loop = ConnectionLoop(configuration: configuration, backoff: .reconnect, bell: bell, logger: logger)
        await loop.run { [self] database in
            var place: Key?
            // Faster at first: something may have gone wrong while nothing ran.
            var rest = 9
            var pause = Duration.zero
            while !bell.wait(pause).stop {
                let begun = ContinuousClock.now
                place = try repairPiece(after: place, database)
                pause = min((ContinuousClock.now - begun) * rest, Self.longestPause)
                if place == nil {
                    rest = 99
                    // So that replicas that were started together don't look at the same time.
                    pause = interval * Double.random(in: 0.5...1)
                }
            }
        }
    }

    /// Returns the last key of the piece; nil after the last piece.
    private func repairPiece(after place: Key?, _ database: Database) throws -> Key? {
        let wanted = try database.pipeline { pipeline in
            try store.wantedTimers(of: .next(Self.pieceLimit, after: place), in: pipeline)
        }
        // State and timers are read one after the other, so a difference may be a coincidence.
        let suspects = Set(try differences(from: wanted, database).map(\.key))
        if !suspects.isEmpty { try repair(suspects.sorted { $0.description < $1.description }, database) }
        return wanted.count < Self.pieceLimit ? nil : wanted.keys.max { $0.description < $1.description }
    }

    private func repair(_ suspects: [Key], _ database: Database) throws {
        let missing = try database.transaction { database in
            // With the state's rows locked, no command is handled. A timer that fires moves from one table to the
            // other, so reading the one it leaves first can't miss it.
            let wanted = try database.pipeline { try store.wantedTimers(of: .locked(suspects), in: $0) }
            let differences = try differences(from: wanted, database)
            let waiting = try keysWithWaitingCommands(among: suspects, database)
            let missing = differences.filter { !waiting.contains($0.key) }
            if !missing.isEmpty { try database.execute(try missing.insertion(into: due.name.schema)) }
            return missing
        }
        guard let first = missing.first else { return }
        healed.increment(by: missing.count)
        logger.warning(
            "repaired timers that were missing or wrong",
            metadata: ["timers": "\(missing.count)", "key": "\(first.key)", "name": "\(first.timer.name)"])
    }

    /// The wanted timers that aren't in the table as they should be. What an operator discarded stays discarded.
    private func differences(from wanted: [Key: [TimedCommand]], _ database: Database) throws -> [KeyedTimer] {
        let wanted = wanted.flatMap { key, timers in timers.map { KeyedTimer(key: key, timer: $0) } }
        guard !wanted.isEmpty else { return [] }
        let schema = due.name.schema
        let rows = try database.query(
            """
            SELECT w.number
              FROM \(try wanted.rows())
             WHERE NOT EXISTS (SELECT FROM \(unescaped: schema).timer AS t
                                WHERE t.key = w.key AND t.name = w.name
                                  AND (t.due_at, t.type, t.version) = (w.due_at, w.type, w.version)
                                  AND t.body::jsonb = w.body::jsonb)
               AND NOT EXISTS (SELECT FROM \(unescaped: schema).dead_letter AS d
                                WHERE d.source = \(due.name.description) AND d.code = 'discarded'
                                  AND (d.key, d.type, d.version) = (w.key, w.type, w.version)
                                  AND d.body::jsonb = w.body::jsonb)
             ORDER BY w.number
            """)
        return try rows.map { wanted[Int(try $0.decode(0, as: Int64.self)) - 1] }
    }

    /// Keys whose timers fired, but whose commands are still to be handled or are parked.
    private func keysWithWaitingCommands(among keys: [Key], _ database: Database) throws -> Set<Key> {
        let partitions = Set(keys.map { due.partition(of: $0).number }).sorted()
        let (texts, schema, source) = (keys.map(\.description), due.name.schema, due.name.description)
        let rows = try database.query(
            """
            SELECT d.key
              FROM unnest(\(partitions)) AS p(partition)
             CROSS JOIN LATERAL (SELECT coalesce((SELECT b.position FROM \(unescaped: schema).batch AS b
                                                   WHERE b.source = \(source) AND b.partition = p.partition
                                                   ORDER BY b.number DESC LIMIT 1), 0)) AS handled(position)
              JOIN \(unescaped: source) AS d
                ON d.partition = p.partition AND d.position > handled.position AND d.key = ANY (\(texts))
             UNION
            SELECT p.key FROM \(unescaped: schema).parked AS p WHERE p.source = \(source) AND p.key = ANY (\(texts))
            """)
        return Set(try rows.compactMap { Key(try $0.decode(0, as: String.self)) })
    }
}
