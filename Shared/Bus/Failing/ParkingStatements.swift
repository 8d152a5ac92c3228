import Postgres
import QuartetVocabulary

/// The statements for messages that could not be handled: parked messages, attempts that may end their owner, dead
/// letters.
struct ParkingStatements: Sendable {
    let schema: String
    let source: LogName
    let owner: OwnerID

    private var sourceName: String { source.description }

    private func microseconds(_ duration: Duration) -> Int64 { Int64(duration / .microseconds(1)) }

    // MARK: Reading

    /// Times are in microseconds from now.
    private static let headColumns = """
        p.key, p.position, p.attempts, p.cause, p.is_discarded, p.needs, \
        (extract(epoch FROM clock_timestamp() - p.failing_since) * 1000000)::bigint, \
        (extract(epoch FROM p.retry_at - clock_timestamp()) * 1000000)::bigint, p.family, p.ends_connections
        """

    /// The first parked message of each order, or one that an operator discarded. Goes from order to order by an index,
    /// because one of them may have millions of messages.
    func parked(in partition: Partition) -> Query {
        """
        WITH RECURSIVE head AS (
            (SELECT p.* FROM \(unescaped: schema).parked AS p
              WHERE p.source = \(sourceName) AND p.partition = \(partition.number)
              ORDER BY p.queue, p.is_discarded DESC, p.position LIMIT 1)
             UNION ALL
            SELECT n.* FROM head AS h
             CROSS JOIN LATERAL (SELECT p.* FROM \(unescaped: schema).parked AS p
                                  WHERE p.source = \(sourceName) AND p.partition = \(partition.number)
                                    AND p.queue > h.queue
                                  ORDER BY p.queue, p.is_discarded DESC, p.position LIMIT 1) AS n)
        SELECT \(unescaped: Self.headColumns) FROM head AS p
        """
    }

    /// As ``parked(in:)``, of one order.
    func parked(of order: MessageOrder, in partition: Partition) -> Query {
        """
        SELECT \(unescaped: Self.headColumns)
          FROM \(unescaped: schema).parked AS p
         WHERE p.source = \(sourceName) AND p.partition = \(partition.number) AND p.queue = \(order.queue)
         ORDER BY p.is_discarded DESC, p.position LIMIT 1
        """
    }

    func message(at position: Position, in partition: Partition) -> Query {
        """
        SELECT \(unescaped: Log.columnList), is_discarded FROM \(unescaped: schema).parked
         WHERE source = \(sourceName) AND partition = \(partition.number) AND position = \(position.number)
        """
    }

    // MARK: Parking

    /// Parks messages behind the parked ones of their orders.
    func divert(_ messages: [RecordedMessage], _ families: [Family]) -> Query { insert(messages, families, []) }

    func park(_ failed: [(message: FailedMessage<RecordedMessage>, pause: Duration)], now: ContinuousClock.Instant)
        -> Query
    {
        insert(
            failed.map(\.message.item), failed.map(\.message.key.family),
            failed.map { failed in
                Failure(
                    cause: failed.message.fault.code.cause, endsConnections: failed.message.fault.code == .lost,
                    attempts: Int32(clamping: failed.message.attempts),
                    age: microseconds(now - failed.message.since), pause: microseconds(failed.pause),
                    error: failed.message.fault.saved, needs: failed.message.fault.needs)
            })
    }

    /// Leaves a parked message where it is until its next retry.
    func parkAgain(
        _ failed: FailedMessage<RecordedMessage>, pause: Duration, now: ContinuousClock.Instant
    ) -> Query {
        """
        UPDATE \(unescaped: schema).parked AS p
           SET cause = \(failed.fault.code.cause), attempts = \(Int32(clamping: failed.attempts)),
               family = \(failed.key.family.description), ends_connections = \(failed.fault.code == .lost),
               failing_since = clock_timestamp() - \(microseconds(now - failed.since)) * interval '1 microsecond',
               retry_at = clock_timestamp() + \(microseconds(pause)) * interval '1 microsecond',
               error = \(failed.fault.saved), needs = \(failed.fault.needs)
         WHERE p.source = \(sourceName) AND p.partition = \(failed.item.partition.number)
           AND p.position = \(failed.item.position.number)
        """
    }

    private struct Failure {
        let cause: String
        let endsConnections: Bool
        let attempts: Int32
        let age: Int64
        let pause: Int64
        let error: String
        let needs: String?
    }

    /// - Parameter failures: How each message failed; empty if the messages only wait behind others.
    private func insert(_ messages: [RecordedMessage], _ families: [Family], _ failures: [Failure]) -> Query {
        let said = messages.map(\.message)
        func failure<Value>(_ value: (Failure) -> Value) -> [Value?] {
            failures.isEmpty ? messages.map { _ in nil } : failures.map(value)
        }
        return """
            INSERT INTO \(unescaped: schema).parked
                   (source, \(unescaped: Log.columnList), family, cause, attempts,
                    failing_since, retry_at, error, needs, ends_connections)
            SELECT \(sourceName), u.partition, u.position, u.kind, u.type, u.version, u.key, u.account, u.body,
                   u.message_id, u.command_id, u.outcome, u.command_hash, u.correlation_id, u.causation_id,
                   u.trace_parent, u.expires_at, u.recorded_at, u.family, u.cause, coalesce(u.attempts, 0),
                   clock_timestamp() - u.age * interval '1 microsecond',
                   clock_timestamp() + u.pause * interval '1 microsecond', u.error, u.needs,
                   coalesce(u.ends_connections, false)
              FROM unnest(\(messages.map(\.partition.number)), \(messages.map(\.position.number)),
                          \(said.map(\.kind.rawValue)), \(said.map(\.type)), \(said.map(\.version)),
                          \(said.map(\.key.description)), \(said.map(\.account)), \(said.map { JSON($0.body) }),
                          \(said.map(\.id)), \(said.map(\.commandID)), \(said.map { $0.outcome?.rawValue }),
                          \(said.map { $0.commandHash?.id }), \(said.map(\.correlationID)),
                          \(said.map(\.causationID)), \(said.map(\.traceParent)), \(messages.map(\.expiresAt)),
                          \(messages.map(\.recordedAt)), \(families.map(\.description)), \(failure(\.cause)),
                          \(failure(\.attempts)), \(failure(\.age)), \(failure(\.pause)), \(failure(\.error)),
                          \(failures.isEmpty ? messages.map { _ in nil } : failures.map(\.needs)),
                          \(failure(\.endsConnections)))
                   AS u(partition, position, kind, type, version, key, account, body, message_id, command_id, outcome,
                        command_hash, correlation_id, causation_id, trace_parent, expires_at, recorded_at, family,
                        cause, attempts, age, pause, error, needs, ends_connections)
            """
    }

    func unpark(_ position: Position, in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).parked AS p
         WHERE p.source = \(sourceName) AND p.partition = \(partition.number) AND p.position = \(position.number)
        """
    }

    /// Gives urgent messages that stand as regular ones the family that they have. 0.1.0 knew no families, so it parked them
    /// behind whatever else of their keys failed. To be run when a lease was taken, before ``parked(in:)``.
    /// - Parameter families: By type, or by type and kind as in `DeliverNotification/alertRaised`.
    func separateUrgent(_ families: [String: Family], in partition: Partition) -> Query {
        let named = families.sorted { $0.key < $1.key }
        let types = Set(named.map { String($0.key.prefix { $0 != "/" }) }).sorted()
        return """
            UPDATE \(unescaped: schema).parked AS p SET family = u.family
              FROM unnest(\(named.map(\.key)), \(named.map(\.value.description))) AS u(name, family)
             WHERE p.source = \(sourceName) AND p.partition = \(partition.number) AND p.family = 'regular'
               AND p.type = ANY (\(types)) AND p.type = split_part(u.name, '/', 1)
               AND (u.name = p.type OR u.name = p.type || '/' || (p.body ->> 'kind'))
            """
    }

    // MARK: Attempts

    /// How many leases each message ended.
    func crashes(in partition: Partition, before epoch: Epoch) -> Query {
        """
        SELECT a.position, count(*) FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number) AND a.epoch < \(epoch.number)
         GROUP BY a.position
        """
    }

    /// Records, in a transaction of its own, that a message is about to be tried. Returns no row if another worker has
    /// the lease by now.
    func attempt(_ position: Position, in partition: Partition, epoch: Epoch) -> Query {
        """
        INSERT INTO \(unescaped: schema).attempt (source, partition, position, epoch, owner)
        SELECT l.source, l.partition, \(position.number), l.epoch, l.owner FROM \(unescaped: schema).lease AS l
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number) AND l.epoch = \(epoch.number)
           AND l.owner = \(owner)
        ON CONFLICT ON CONSTRAINT attempt_is_one_per_lease DO UPDATE SET began_at = clock_timestamp()
        RETURNING 1
        """
    }

    /// Deletes the attempts of messages that are done, or parked with a count of their own.
    func forgetAttempts(_ positions: [Position], in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number)
           AND a.position = ANY (\(positions.map(\.number)))
        """
    }

    /// Deletes the attempts of a message that failed without ending its owner, up to this lease's.
    func forgetAttempts(of message: Careful) -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(message.partition.number)
           AND a.position = \(message.position.number) AND a.epoch <= \(message.epoch.number)
        """
    }

    /// Deletes this worker's own attempts: only its connection ended.
    func forgetOwnAttempts() -> Query {
        "DELETE FROM \(unescaped: schema).attempt AS a WHERE a.source = \(sourceName) AND a.owner = \(owner)"
    }

    /// Deletes attempts of messages that others have handled since.
    func forgetOldAttempts(before cursor: Position, in partition: Partition) -> Query {
        """
        DELETE FROM \(unescaped: schema).attempt AS a
         WHERE a.source = \(sourceName) AND a.partition = \(partition.number) AND a.position <= \(cursor.number)
           AND NOT EXISTS (SELECT FROM \(unescaped: schema).parked AS p
                            WHERE p.source = a.source AND p.partition = a.partition AND p.position = a.position)
        """
    }

    // MARK: Giving up

    /// Turns a message into a dead letter. A message that was appended twice becomes one.
    func bury(_ message: RecordedMessage, _ fault: Fault, attempts: Int) -> Query {
        let said = message.message
        return """
            INSERT INTO \(unescaped: schema).dead_letter
                   (message_id, source, partition, position, kind, type, version, key, account, body, command_id,
                    correlation_id, trace_parent, code, error, attempts)
            VALUES (\(said.id), \(sourceName), \(message.partition.number), \(message.position.number),
                    \(said.kind.rawValue), \(said.type), \(said.version), \(said.key.description), \(said.account),
                    \(JSON(said.body)), \(said.commandID), \(said.correlationID), \(said.traceParent),
                    \(fault.code.rawValue), \(fault.saved), \(Int32(clamping: attempts)))
            ON CONFLICT ON CONSTRAINT dead_letter_is_one_per_message DO NOTHING
            """
    }
}

extension Fault {
    /// As much of it as the tables keep.
    fileprivate var saved: String { String(description.prefix(1000)) }
}

extension Fault.Code {
    /// As in the column `cause`, where 0.1.0 knows no losses.
    fileprivate var cause: String { self == .lost ? Fault.Code.trouble.rawValue : rawValue }
}

/// The first parked message of an order, as the database has it.
struct ParkedHead {
    var parked: Parked<MessageOrder>
    /// What a replica has to know to handle it, if that was missing.
    let needs: String?

    init(_ row: Row, of log: LogName, now: ContinuousClock.Instant) throws {
        let text = try row.decode(0, as: String.self)
        guard let key = Key(text) else { throw BusError.unreadable(log, "a parked key \(text)") }
        let cause = try row.decode(3, as: String?.self)
        needs = try row.decode(5, as: String?.self)
        let endsConnections = try row.decode(9, as: Bool.self)
        let (age, pause) = (try row.decode(6, as: Int64?.self), try row.decode(7, as: Int64?.self))
        parked = Parked(
            key: MessageOrder(Family(try row.decode(8, as: String.self)), key),
            position: Position(try row.decode(1, as: Int64.self)),
            cause: try cause.map {
                guard let code = Fault.Code(rawValue: $0) else { throw BusError.unreadable(log, "a cause \($0)") }
                return code == .trouble && endsConnections ? .lost : code
            },
            attempts: Int(try row.decode(2, as: Int32.self)), since: now - .microseconds(age ?? 0),
            // A message that only waited behind another is due as soon as that one is gone.
            retryAt: pause.map { now + .microseconds($0) } ?? now, isDiscarded: try row.decode(4, as: Bool.self))
    }
}
