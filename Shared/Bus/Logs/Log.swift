package import Postgres
package import QuartetVocabulary

package struct Log: Hashable, Sendable {
    package let name: LogName
    /// As the database says.
    package let partitionCount: Int32

    package init(name: LogName, partitionCount: Int32) {
        self.name = name
        self.partitionCount = partitionCount
    }

    /// In order.
    package var partitions: [Partition] { (0..<partitionCount).map(Partition.init) }

    package func partition(of key: Key) -> Partition { Partition(of: key, among: partitionCount) }

    /// Reads how many partitions a log has.
    /// - Throws: ``BusError/badPartitions(_:_:)`` if their numbers aren't 0 to n − 1.
    package static func open(_ name: LogName, _ database: Database) throws -> Log {
        let numbers = try database.query(
            "SELECT partition FROM \(unescaped: "\(name)_partition") ORDER BY partition"
        ).map { try $0.decode(0, as: Int32.self) }
        guard !numbers.isEmpty, numbers == Array(0..<Int32(numbers.count)) else {
            throw BusError.badPartitions(name, numbers)
        }
        return Log(name: name, partitionCount: Int32(numbers.count))
    }
}

package enum BusError: Error, Sendable, CustomStringConvertible {
    case badPartitions(LogName, [Int32])
    case unreadable(LogName, String)
    /// The server lacks rows that another one already had. Ask again.
    case behind(LogName)

    package var description: String {
        switch self {
        case .badPartitions(let log, let numbers):
            "\(log)_partition must have the rows 0 to n-1 but has \(numbers): run the migrations of \(log.schema)"
        case .unreadable(let log, let reason):
            "a row of \(log) can't be read: \(reason)"
        case .behind(let log):
            "this server doesn't have all of \(log) yet"
        }
    }
}

// MARK: Reading

extension Log {
    static let columns = [
        "partition", "position", "kind", "type", "version", "key", "account", "body", "message_id", "command_id",
        "outcome",
        "command_hash", "correlation_id", "causation_id", "trace_parent", "expires_at", "recorded_at",
    ]
    static let columnList = columns.joined(separator: ", ")

    /// The rows after a position of each of these partitions, at most so many of each. See ``Postgres/Rows/byPartition()``.
    func read(_ places: [(partition: Partition, after: Position)], limit: Int) -> Query {
        """
        SELECT l.* FROM unnest(\(places.map(\.partition.number)), \(places.map(\.after.number))) AS u(partition, position)
         CROSS JOIN LATERAL (SELECT \(unescaped: Self.columnList) FROM \(unescaped: name.description) AS r
                              WHERE r.partition = u.partition AND r.position > u.position
                              ORDER BY r.position LIMIT \(Int64(limit))) AS l
        """
    }

    /// The headings of the rows of a partition after a position, in order.
    func headings(of partition: Partition, after position: Position, limit: Int) -> Query {
        """
        SELECT \(unescaped: RowHeading.columns) FROM \(unescaped: name.description)
         WHERE partition = \(partition.number) AND position > \(position.number)
         ORDER BY position LIMIT \(Int64(limit))
        """
    }

    /// The rows at these positions of a partition.
    func read(_ partition: Partition, at positions: [Int64]) -> Query {
        """
        SELECT \(unescaped: Self.columnList) FROM \(unescaped: name.description)
         WHERE partition = \(partition.number) AND position = ANY (\(positions))
        """
    }

    /// How many rows come after these places, and how many seconds ago the first of them was recorded.
    func lag(behind places: [(partition: Partition, position: Position)]) -> Query {
        """
        SELECT u.partition,
               greatest(coalesce((SELECT l.position FROM \(unescaped: name.description) AS l WHERE l.partition = u.partition
                                   ORDER BY l.position DESC LIMIT 1), 0) - u.position, 0),
               (SELECT extract(epoch FROM clock_timestamp() - l.recorded_at)::float8
                  FROM \(unescaped: name.description) AS l
                 WHERE l.partition = u.partition AND l.position > u.position ORDER BY l.position LIMIT 1)
          FROM unnest(\(places.map(\.partition.number)), \(places.map(\.position.number))) AS u(partition, position)
        """
    }

    /// A scalar expression for a partition's newest position. A snapshot reads it together with the state, in one
    /// statement.
    func head(_ partition: Partition) -> String {
        """
        (SELECT \(newestPosition("p")) FROM \(name)_partition AS p WHERE p.partition = \(partition.number))
        """
    }

    /// The same, for a row of `<log>_partition` with this alias.
    func newestPosition(_ row: String) -> String {
        """
        \(row).base_position + greatest(coalesce((SELECT l.position FROM \(name) AS l
            WHERE l.partition = \(row).partition ORDER BY l.position DESC LIMIT 1), 0) - \(row).base_position, 0)
        """
    }
}

extension Rows {
    /// Which rows are whose partition's, in the order of their positions. They begin with the columns `partition` and
    /// `position`.
    func byPartition() throws -> [Partition: [Int]] {
        var found: [Partition: [(position: Int64, index: Int)]] = [:]
        for index in 0..<count {
            let row = self[index]
            found[Partition(try row.decode(0, as: Int32.self)), default: []].append(
                (try row.decode(1, as: Int64.self), index))
        }
        // They come in that order already, but only ORDER BY would promise it, and sort the bodies, too.
        return found.mapValues { $0.sorted { $0.position < $1.position }.map(\.index) }
    }
}

extension RecordedMessage {
    /// Reads the columns `Log.columns`, starting at the column `first`.
    init(_ row: Row, from first: Int = 0, of log: LogName) throws {
        let kind = try row.decode(first + 2, as: String.self)
        let key = try row.decode(first + 5, as: String.self)
        guard let kind = Message.Kind(rawValue: kind) else { throw BusError.unreadable(log, "kind \(kind)") }
        guard let key = Key(key) else { throw BusError.unreadable(log, "key \(key)") }
        let outcome = try row.decode(first + 10, as: String?.self)
        self.init(
            partition: Partition(try row.decode(first, as: Int32.self)),
            position: Position(try row.decode(first + 1, as: Int64.self)),
            message: Message(
                kind: kind,
                id: try row.decode(first + 8, as: MessageID.self),
                type: try row.decode(first + 3, as: String.self),
                version: try row.decode(first + 4, as: Int16.self),
                key: key,
                account: try row.decode(first + 6, as: AccountID?.self),
                body: row.bytes(first + 7) { $0.map { [UInt8]($0) } ?? [] },
                commandID: try row.decode(first + 9, as: CommandID?.self),
                outcome: try outcome.map {
                    guard let kind = Outcome.Kind(rawValue: $0) else { throw BusError.unreadable(log, "outcome \($0)") }
                    return kind
                },
                commandHash: try row.decode(first + 11, as: ID<BodyHash>?.self).map(BodyHash.init(id:)),
                correlationID: try row.decode(first + 12, as: CorrelationID?.self),
                causationID: try row.decode(first + 13, as: MessageID?.self),
                traceParent: try row.decode(first + 14, as: String?.self)),
            recordedAt: try row.decode(first + 16, as: Instant.self),
            expiresAt: try row.decode(first + 15, as: Instant?.self))
    }

    /// False for a message that was emptied when its account closed. Only its place in the log is left.
    package var isReadable: Bool { message.type != "Redacted" }
}

// MARK: Appending

extension Log {
    /// Appends rows in this order, as the last statement of a transaction. Returns where they begin in each partition,
    /// ascending.
    package func append(_ messages: [Message]) -> Query {
        let places = messages.map { partition(of: $0.key).number }
        let into = Set(places).sorted()
        var counts = [Int32](repeating: 0, count: into.count)
        var (slots, ordinals) = ([Int32](), [Int32]())
        for place in places {
            let slot = into.firstIndex(of: place) ?? 0
            counts[slot] += 1
            slots.append(Int32(slot + 1))
            ordinals.append(counts[slot])
        }
        return """
            SELECT \(unescaped: "\(name)_append")(
                \(into), \(slots), \(ordinals), \(messages.map(\.kind.rawValue)), \
            \(messages.map(\.type)), \(messages.map(\.version)), \(messages.map(\.key.description)), \
            \(messages.map(\.account)), \(messages.map { JSON($0.body) }), \(messages.map(\.id)), \
            \(column(messages, \.commandID)), \(column(messages) { $0.outcome?.rawValue }), \
            \(column(messages) { $0.commandHash?.id }), \(column(messages, \.correlationID)), \
            \(column(messages, \.causationID)), \(column(messages, \.traceParent)), \
            \(column(messages) { $0.timeToLive?.microseconds }))
            """
    }

    /// A column's values, or nil if all are nil: `unnest` reads that as NULLs, at no cost.
    private func column<Value>(_ messages: [Message], _ value: (Message) -> Value?) -> [Value?]? {
        let values = messages.map(value)
        return values.contains { $0 != nil } ? values : nil
    }

    /// Rings for these messages, in a transaction of its own behind the COMMIT. Inside it, NOTIFY would hold the
    /// cluster's one lock through the flush (18k → 5k commits/s with 16 committers).
    package func ring(for messages: [Message]) -> Query {
        var partitions: Set<Partition> = []
        // A partition is a key's hash. Many messages soon name all of them.
        for message in messages where partitions.count < Int(partitionCount) {
            partitions.insert(partition(of: message.key))
        }
        return "SELECT pg_notify(\(name.channel), \(Doorbells.payload(for: partitions.sorted())))"
    }
}

extension Database {
    /// Rings in a transaction of its own. If the server refuses, say because NOTIFY's queue is full, it costs only
    /// latency.
    /// - Throws: What ends the connection.
    func ring(_ notify: Query) throws(PostgresError) { try attempt(notify) }

    /// Executes a statement that the server may refuse without harm.
    /// - Throws: What ends the connection.
    func attempt(_ query: Query) throws(PostgresError) {
        do throws(PostgresError) { try execute(query) } catch {
            guard case .server = error.root else { throw error }
        }
    }
}
