import Postgres
import Vocabulary

/// The statements by which a worker joins the others of its source, learns its share, and takes, renews and returns
/// leases. All times are the database's.
struct LeaseStatements: Sendable {
    let schema: String
    let source: LogName
    let owner: OwnerID
    let slot: Int32
    let duration: Duration

    /// Other workers look for changes when this rings.
    var channel: String { "\(schema).member" }

    private var sourceName: String { source.description }
    private var microseconds: Int64 {
        duration / .microseconds(1) > 1e15 ? 1_000_000_000 : Int64(duration / .microseconds(1))
    }

    func createRows(for partitions: [Partition]) -> Query {
        """
        INSERT INTO \(unescaped: schema).lease (source, partition)
        SELECT \(sourceName), p FROM unnest(\(partitions.map(\.number))) AS p
        ON CONFLICT ON CONSTRAINT lease_is_one_per_partition DO NOTHING
        """
    }

    /// Says that this worker lives and what it has met that it can't read, and forgets those that don't live.
    func heartbeat(cannot: Set<String>) -> Query {
        """
        WITH gone AS (
            DELETE FROM \(unescaped: schema).member AS m
             WHERE m.source = \(sourceName) AND m.owner <> \(owner) AND m.alive_until < clock_timestamp() - interval '1 minute')
        INSERT INTO \(unescaped: schema).member AS m (source, owner, slot, alive_until, cannot)
        VALUES (\(sourceName), \(owner), \(slot), clock_timestamp() + \(microseconds) * interval '1 microsecond',
                \(cannot.sorted()))
        ON CONFLICT ON CONSTRAINT member_is_one_per_worker
        DO UPDATE SET alive_until = excluded.alive_until, cannot = excluded.cannot
        """
    }

    /// The live ones: those that said so lately, unless their connection is gone. A killed process's is closed by its system
    /// at once, so nobody waits for its heartbeat to be missed; one that is paused keeps it, and is waited for.
    func members() -> Query {
        """
        SELECT m.owner, m.slot, m.cannot FROM \(unescaped: schema).member AS m
         WHERE m.source = \(sourceName) AND m.alive_until > clock_timestamp()
           AND (m.owner = \(owner) OR \(isConnected("m.owner")) OR NOT \(isConnected("\(owner)")))
        """
    }

    /// Whether an owner's connection is there, by its name. Where one's own name isn't seen, as behind a pooler that
    /// alters names, nothing can be told by names.
    private func isConnected(_ owner: Query) -> Query {
        """
        EXISTS (SELECT FROM pg_stat_activity AS a
                 WHERE a.usename = current_user AND a.application_name = \(schema + "/") || \(owner))
        """
    }

    func leave() -> Query {
        "DELETE FROM \(unescaped: schema).member AS m WHERE m.source = \(sourceName) AND m.owner = \(owner)"
    }

    /// - Parameter troubles: why each partition rests; nil where none does.
    func renew(_ partitions: [Partition], troubles: [String?]) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l
           SET lease_until = clock_timestamp() + \(microseconds) * interval '1 microsecond', trouble = u.trouble,
               resting_since = CASE WHEN u.trouble IS NOT NULL THEN coalesce(l.resting_since, clock_timestamp()) END
          FROM unnest(\(partitions.map(\.number)), \(troubles)) AS u(partition, trouble)
         WHERE l.source = \(sourceName) AND l.owner = \(owner) AND l.partition = u.partition
        RETURNING l.partition
        """
    }

    /// Renews every lease that this worker has.
    func renewAll() -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l
           SET lease_until = clock_timestamp() + \(microseconds) * interval '1 microsecond'
         WHERE l.source = \(sourceName) AND l.owner = \(owner)
        """
    }

    /// What replicas must know to handle what is in a partition, where that isn't what all of them know.
    func needs() -> Query {
        """
        SELECT l.partition, l.needs FROM \(unescaped: schema).lease AS l WHERE l.source = \(sourceName) AND l.needs <> '{}'
        """
    }

    /// Says that something in a partition needs a replica that knows more.
    func add(_ need: String, to partition: Partition) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l SET needs = array_append(l.needs, \(need))
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number) AND NOT \(need) = ANY (l.needs)
        """
    }

    /// Nothing in a partition needs more than this replica and all like it know.
    func forgetNeeds(of partition: Partition, epoch: Epoch) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l SET needs = '{}'
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number)
           AND l.owner = \(owner) AND l.epoch = \(epoch.number)
        """
    }

    /// One row (epoch, the owner before, which may be this one, if it did not give it back, whether its lease had run out)
    /// or, when somebody else has it, none.
    func take(_ partition: Partition) -> Query {
        """
        WITH before AS (
            SELECT l.owner, l.released, l.lease_until FROM \(unescaped: schema).lease AS l
             WHERE l.source = \(sourceName) AND l.partition = \(partition.number))
        UPDATE \(unescaped: schema).lease AS l
           SET owner = \(owner), epoch = l.epoch + 1, released = false,
               lease_until = clock_timestamp() + \(microseconds) * interval '1 microsecond'
          FROM before AS b
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number)
           AND (l.owner IS NULL OR l.owner = \(owner) OR l.lease_until < clock_timestamp()
                OR (NOT \(isConnected("l.owner")) AND \(isConnected("\(owner)"))))
        RETURNING l.epoch, CASE WHEN NOT b.released THEN b.owner END,
                  b.lease_until < clock_timestamp()
        """
    }

    func release(_ partition: Partition, epoch: Epoch) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l
           SET owner = NULL, lease_until = NULL, released = true, trouble = NULL, resting_since = NULL
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number)
           AND l.owner = \(owner) AND l.epoch = \(epoch.number)
        """
    }

    /// Ends the sessions of an owner whose lease ran out: paused or cut off, it could still hold locks.
    func endSessions(of former: OwnerID) -> Query {
        """
        SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a
         WHERE a.usename = current_user AND a.application_name IN (\(ownerName(former)), \(keeperName(former)))
           AND a.pid <> pg_backend_pid()
        """
    }

    /// The application_name of a worker's connection.
    func ownerName(_ owner: OwnerID) -> String { "\(schema)/\(owner)" }

    /// The application_name of the connection that renews leases for a process's workers, by the first of them.
    func keeperName(_ owner: OwnerID) -> String { ownerName(owner) + "/keeper" }

    func ringMembers() -> Query { "SELECT pg_notify(\(channel), \(sourceName))" }

    /// The newest batch: how far this source's partition was handled, whoever did it.
    func cursor(_ partition: Partition) -> Query {
        """
        SELECT b.number, b.position, b.given_time FROM \(unescaped: schema).batch AS b
         WHERE b.source = \(sourceName) AND b.partition = \(partition.number)
         ORDER BY b.number DESC LIMIT 1
        """
    }

    /// Where the partition's history begins: before it, messages are gone.
    func base(_ partition: Partition) -> Query {
        """
        SELECT p.base_position FROM \(unescaped: "\(source)_partition") AS p WHERE p.partition = \(partition.number)
        """
    }

    /// The batch after each partition's cursor, built on it: the fence.
    func commit(_ advances: [Advance], at time: Instant) -> Query {
        """
        INSERT INTO \(unescaped: schema).batch (source, partition, number, position, owner, epoch, given_time, messages)
        SELECT \(sourceName), u.partition, u.number, u.position, \(owner), u.epoch, \(time), u.messages
          FROM unnest(\(advances.map(\.partition.number)), \(advances.map { $0.from.number + 1 }),
                      \(advances.map(\.to.number)), \(advances.map(\.epoch.number)),
                      \(advances.map { Int32(clamping: $0.items.count) }))
               AS u(partition, number, position, epoch, messages)
        """
    }
}
