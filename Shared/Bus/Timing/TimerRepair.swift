package import Logging
import Metrics
package import Postgres
import QuartetVocabulary
import ServiceLifecycle

/// Compares the timers that a service's state wants with its table `timer`, and sets those that are missing or wrong.
///
/// Every replica goes through all keys, starting when it starts, in small pieces. There is nothing to repair unless
/// something unforeseen went wrong. Then a deadline is hours late at worst, not lost. A superfluous timer is left
/// alone: the rules drop its command, and another release may want it.
package final class TimerRepair: Service, Sendable {
    private let store: any TimedStore
    private let due: Log
    private let interval: Duration
    private let configuration: Configuration
    private let logger: Logger
    private let healed: Counter
    private let bell = Bell()
    private static var pieceLimit: Int64 { 500 }
    /// How many unhandled commands of a partition of the log `due` are looked at. Behind more than these, nothing is repaired.
    private static var backlogLimit: Int64 { 10_000 }
    /// Faster at first: something may have gone wrong while nothing ran.
    static let firstRest = Rest(times: 9, longest: .seconds(5))
    static let laterRest = Rest(times: 99, longest: firstRest.longest)

    /// - Parameters:
    ///   - due: The service's log `due`, in the schema that has the table `timer`.
    ///   - interval: The pause after all keys were compared.
    package init(
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
    package func run() async throws {
        healed.increment(by: 0)
        let loop = ConnectionLoop(configuration: configuration, backoff: .reconnect, bell: bell, logger: logger)
        await loop.run { [self] database in
            var place: Key?
            var rest = Self.firstRest
            var pause = Duration.zero
            while !bell.wait(pause).stop {
                let begun = ContinuousClock.now
                place = try repairPiece(after: place, database)
                pause = rest.after(ContinuousClock.now - begun)
                if place == nil {
                    rest = Self.laterRest
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
        // The backlog is read before anything is locked, and only what was appended since then afterwards.
        let backlog = try backlog(of: suspects, database)
        let suspects = suspects.filter {
            backlog.ends[due.partition(of: $0).number] != nil && !backlog.keys.contains($0)
        }
        guard !suspects.isEmpty else { return }
        let missing = try database.transaction { database in
            // With the state's rows locked, no command is handled. A timer that fires moves from one table to the
            // other, so reading the one it leaves first can't miss it.
            let wanted = try database.pipeline { try store.wantedTimers(of: .locked(suspects), in: $0) }
            let differences = try differences(from: wanted, database)
            let waiting = try keysWithNewCommands(among: suspects, after: backlog.ends, database)
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

    /// The commands that wait in the partitions of some keys.
    private struct Backlog {
        /// The last position in each partition. A partition with too many isn't here.
        var ends: [Int32: Int64] = [:]
        /// The keys of what waits.
        var keys: Set<Key> = []
    }

    private func backlog(of suspects: [Key], _ database: Database) throws -> Backlog {
        let partitions = Set(suspects.map { due.partition(of: $0).number }).sorted()
        let (schema, source) = (due.name.schema, due.name.description)
        let rows = try database.query(
            """
            SELECT p.partition, handled.position, d.position, d.key
              FROM unnest(\(partitions)) AS p(partition)
             CROSS JOIN LATERAL (SELECT coalesce((SELECT b.position FROM \(unescaped: schema).batch AS b
                                                   WHERE b.source = \(source) AND b.partition = p.partition
                                                   ORDER BY b.number DESC LIMIT 1), 0)) AS handled(position)
              LEFT JOIN LATERAL (SELECT d.position, d.key FROM \(unescaped: source) AS d
                                  WHERE d.partition = p.partition AND d.position > handled.position
                                  ORDER BY d.position LIMIT \(Self.backlogLimit)) AS d ON true
             ORDER BY p.partition, d.position
            """)
        var backlog = Backlog()
        var counts: [Int32: Int64] = [:]
        for row in rows {
            let (partition, handled, position, key) = try row.decode(Int32.self, Int64.self, Int64?.self, String?.self)
            backlog.ends[partition] = position ?? handled
            if position != nil { counts[partition, default: 0] += 1 }
            if let key = key.flatMap({ Key($0) }) { backlog.keys.insert(key) }
        }
        for (partition, count) in counts where count >= Self.backlogLimit { backlog.ends[partition] = nil }
        return backlog
    }

    /// Keys whose timers fired after the backlog was read, and those with parked commands.
    private func keysWithNewCommands(
        among keys: [Key], after ends: [Int32: Int64], _ database: Database
    ) throws -> Set<Key> {
        let ends = ends.sorted { $0.key < $1.key }
        let (texts, schema, source) = (keys.map(\.description), due.name.schema, due.name.description)
        let rows = try database.query(
            """
            SELECT d.key
              FROM unnest(\(ends.map(\.key)), \(ends.map(\.value))) AS p(partition, position)
              JOIN \(unescaped: source) AS d
                ON d.partition = p.partition AND d.position > p.position AND d.key = ANY (\(texts))
             UNION
            SELECT p.key FROM \(unescaped: schema).parked AS p WHERE p.source = \(source) AND p.key = ANY (\(texts))
            """)
        return Set(try rows.compactMap { Key(try $0.decode(0, as: String.self)) })
    }
}
