import Postgres
import Vocabulary

/// The statements that keep what could not be handled: parked messages, attempts that may end the process, dead letters.
struct ParkingStatements: Sendable {
    let schema: String
    let source: LogName
    let owner: OwnerID

    private var sourceName: String { source.description }

    /// The first parked message of each key, with the time in microseconds until it is tried.
    func parked(in partition: Partition) -> Query {
        """
        SELECT DISTINCT ON (p.key) p.key, p.position, p.attempts, p.is_discarded,
               (extract(epoch FROM p.retry_at - clock_timestamp()) * 1000000)::bigint
          FROM \(unescaped: schema).parked AS p
         WHERE p.source = \(sourceName) AND p.partition = \(partition.number)
         ORDER BY p.key, p.position
        """
    }

    /// The first parked message of a key after a position.
    func parked(of key: Key, in partition: Partition, after position: Position) -> Query {
        """
        SELECT p.key, p.position, p.attempts, p.is_discarded,
               (extract(epoch FROM p.retry_at - clock_timestamp()) * 1000000)::bigint
          FROM \(unescaped: schema).parked AS p
         WHERE p.source = \(sourceName) AND p.partition = \(partition.number) AND p.key = \(key.description)
           AND p.position > \(position.number)
         ORDER BY p.position LIMIT 1
        """
    }

    /// Puts messages behind the parked ones of their keys.
    func divert(_ messages: [RecordedMessage], in partition: Partition) -> Query {
        """
        INSERT INTO \(unescaped: schema).parked (source, partition, position, key, attempts)
        SELECT \(sourceName), \(partition.number), u.position, u.key, 0
          FROM unnest(\(messages.map(\.position.number)), \(messages.map(\.message.key.description))) AS u(position, key)
        """
    }

    /// Sets a message aside until it is tried again; nil: until an operator says so.
    func park(
        _ message: RecordedMessage, attempts: Int, pause: Duration?, error: String
    ) -> Query {
        let microseconds = pause.map { Int64($0 / .microseconds(1)) }
        return """
            INSERT INTO \(unescaped: schema).parked AS p (source, partition, position, key, attempts, retry_at, error)
            VALUES (\(sourceName), \(message.partition.number), \(message.position.number),
                    \(message.message.key.description), \(Int32(clamping: attempts)),
                    clock_timestamp() + \(microseconds) * interval '1 microsecond', \(String(error.prefix(1000))))
            ON CONFLICT ON CONSTRAINT parked_is_one_per_message DO UPDATE
               SET attempts = excluded.attempts, retry_at = excluded.retry_at, error = excluded.error
            """
    }

    /// A parked message is done.
    func unpark(_ position: Position, in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).parked AS p
         WHERE p.source = \(sourceName) AND p.partition = \(partition.number) AND p.position = \(position.number)
        """
    }

    /// How many other owners each message ended alone; 0 for one that was in hand with others when an owner ended.
    func crashes(in partition: Partition) -> Query {
        """
        SELECT a.position, count(*) FILTER (WHERE NOT a.together) FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number) AND a.owner <> \(owner)
         GROUP BY a.position
        """
    }

    /// Says, in a transaction of its own, that these messages are taken on.
    func attempt(_ positions: [Position], in partition: Partition) -> Query {
        """
        INSERT INTO \(unescaped: schema).attempt AS a (source, partition, position, owner, together)
        SELECT \(sourceName), \(partition.number), u.position, \(owner), \(positions.count > 1)
          FROM unnest(\(positions.map(\.number))) AS u(position)
        ON CONFLICT ON CONSTRAINT attempt_is_one_per_owner DO UPDATE SET together = a.together AND excluded.together
        """
    }

    /// Nobody was ended by what is done.
    func forgetAttempts(_ positions: [Position], in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number)
           AND a.position = ANY (\(positions.map(\.number)))
        """
    }

    /// This worker was not ended by anything that it tried.
    func forgetOwnAttempts() -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a WHERE a.source = \(sourceName) AND a.owner = \(owner)
        """
    }

    /// This worker was not ended by what it tried.
    func forgetOwnAttempt(_ position: Position, in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number) AND a.position = \(position.number)
           AND a.owner = \(owner)
        """
    }

    /// Forgets attempts at what others have handled since.
    func forgetOldAttempts(before cursor: Position, in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number) AND a.position <= \(cursor.number)
           AND NOT EXISTS (SELECT FROM \(unescaped: schema).parked AS p
                            WHERE p.source = a.source AND p.partition = a.partition AND p.position = a.position)
        """
    }

    /// Sets a message aside for good. One that was appended twice is one dead letter.
    func bury(_ message: RecordedMessage, _ fault: Fault, attempts: Int) -> Query {
        let said = message.message
        return """
            INSERT INTO \(unescaped: schema).dead_letter
                   (message_id, source, partition, position, kind, type, version, key, account, body, command_id,
                    correlation_id, trace_parent, code, error, attempts)
            VALUES (\(said.id), \(sourceName), \(message.partition.number), \(message.position.number),
                    \(said.kind.rawValue), \(said.type), \(said.version), \(said.key.description), \(said.account),
                    \(JSON(said.body)), \(said.commandID), \(said.correlationID), \(said.traceParent),
                    \(fault.code.rawValue), \(String(fault.description.prefix(1000))), \(Int32(clamping: attempts)))
            ON CONFLICT ON CONSTRAINT dead_letter_is_one_per_message DO NOTHING
            """
    }
}

extension Parked where OrderKey == Key {
    init(_ row: Row, of log: LogName, now: ContinuousClock.Instant) throws {
        let text = try row.decode(0, as: String.self)
        guard let key = Key(text) else { throw BusError.unreadable(log, "a parked key \(text)") }
        let attempts = Int(try row.decode(2, as: Int32.self))
        let microseconds = try row.decode(4, as: Int64?.self)
        self.init(
            key: key, position: Position(try row.decode(1, as: Int64.self)), attempts: attempts,
            // One that only waited behind another is due as soon as that is gone.
            retryAt: attempts == 0 ? now : microseconds.map { now + .microseconds($0) },
            isDiscarded: try row.decode(3, as: Bool.self))
    }
}
