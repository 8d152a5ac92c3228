import Postgres
import QuartetVocabulary

/// The statements by which a worker joins the other workers of its source, learns its share, and takes, renews and
/// returns leases. All times are the database's.
struct LeaseStatements: Sendable {
    let schema: String
    let source: LogName
    let owner: OwnerID
    let slot: Int32
    /// All workers of the source in this process, this one included.
    let process: [OwnerID]
    let duration: Duration

    /// Rings when another worker should look at its share again.
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

    /// Records that this worker is alive and what it can't read, and forgets dead workers.
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

    /// Records what all live workers of this process lack, before the next heartbeat of each does. It keeps none of them alive, and
    /// locks none that another heartbeat may delete.
    func lack(_ need: String) -> Query {
        """
        UPDATE \(unescaped: schema).member AS m SET cannot = array_append(m.cannot, \(need))
         WHERE m.source = \(sourceName) AND NOT \(need) = ANY (m.cannot)
           AND m.owner IN (SELECT o.owner FROM \(unescaped: schema).member AS o
                            WHERE o.source = \(sourceName) AND o.owner = ANY (\(process))
                              AND o.alive_until > clock_timestamp() ORDER BY o.owner FOR UPDATE)
        """
    }

    /// The live workers: those with a recent heartbeat, unless their connection is gone. The system closes a killed
    /// process's connection at once, so nobody waits for its next heartbeat. A paused process keeps its connection and
    /// is waited for.
    func members() -> Query {
        """
        SELECT m.owner, m.slot, m.cannot FROM \(unescaped: schema).member AS m
         WHERE m.source = \(sourceName) AND m.alive_until > clock_timestamp()
           AND (m.owner = \(owner) OR \(isConnected("m.owner")) OR NOT \(isConnected("\(owner)")))
        """
    }

    /// Whether an owner has a connection, found by `application_name`. If this worker doesn't even find its own, as
    /// behind a pooler that alters names, names say nothing.
    private func isConnected(_ owner: Query) -> Query {
        """
        EXISTS (SELECT FROM pg_stat_activity AS a
                 WHERE a.usename = current_user AND a.application_name = \(schema + "/") || \(owner))
        """
    }

    func leave() -> Query {
        "DELETE FROM \(unescaped: schema).member AS m WHERE m.source = \(sourceName) AND m.owner = \(owner)"
    }

    /// - Parameter troubles: Why each partition rests; nil for one that doesn't.
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

    func renewAll() -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l
           SET lease_until = clock_timestamp() + \(microseconds) * interval '1 microsecond'
         WHERE l.source = \(sourceName) AND l.owner = \(owner)
        """
    }

    /// What some replicas can't read and a partition needs.
    func needs() -> Query {
        """
        SELECT l.partition, l.needs FROM \(unescaped: schema).lease AS l WHERE l.source = \(sourceName) AND l.needs <> '{}'
        """
    }

    /// Records that a message in a partition needs a replica that knows more.
    func add(_ need: String, to partition: Partition) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l SET needs = array_append(l.needs, \(need))
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number) AND NOT \(need) = ANY (l.needs)
        """
    }

    /// Records that a partition no longer needs this.
    func forget(_ needs: [String], of partition: Partition, epoch: Epoch) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l
           SET needs = ARRAY (SELECT n FROM unnest(l.needs) AS n WHERE n <> ALL (\(needs)))
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number)
           AND l.owner = \(owner) AND l.epoch = \(epoch.number)
        """
    }

    /// Returns one row, or none if another worker has the lease: the epoch; the former owner, which may be this one, if
    /// it didn't give the lease back; whether its lease had run out; and whether it gave the lease back without having been as
    /// careful as it had to.
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
                  b.lease_until < clock_timestamp(), NOT b.released AND b.owner IS NULL
        """
    }

    /// - Parameter isCareful: Whether one of the next messages may have ended an earlier owner. If this one couldn't be careful, its
    ///   successor has to be.
    func release(_ partition: Partition, epoch: Epoch, isCareful: Bool) -> Query {
        """
        UPDATE \(unescaped: schema).lease AS l
           SET owner = NULL, lease_until = NULL,
               released = NOT (\(isCareful) AND \(Careful.turn) = ANY (l.needs)), trouble = NULL, resting_since = NULL
         WHERE l.source = \(sourceName) AND l.partition = \(partition.number)
           AND l.owner = \(owner) AND l.epoch = \(epoch.number)
        """
    }

    /// Ends the sessions of an owner whose lease ran out, whatever they are for. Paused or cut off, it could still hold locks.
    func endSessions(of former: OwnerID) -> Query {
        """
        SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a
         WHERE a.usename = current_user AND starts_with(a.application_name, \(ownerName(former)))
           AND a.pid <> pg_backend_pid()
        """
    }

    func ownerName(_ owner: OwnerID) -> String { "\(schema)/\(owner)" }

    /// The application_name of the connection that renews the leases of a process's workers, named after the first of
    /// them.
    func keeperName(_ owner: OwnerID) -> String { ownerName(owner) + "/keeper" }

    func ringMembers() -> Query { "SELECT pg_notify(\(channel), \(sourceName))" }

    /// The newest batch, whichever worker committed it.
    func cursor(_ partition: Partition) -> Query {
        """
        SELECT b.number, b.position, b.given_time FROM \(unescaped: schema).batch AS b
         WHERE b.source = \(sourceName) AND b.partition = \(partition.number)
         ORDER BY b.number DESC LIMIT 1
        """
    }

    /// Unless there is a batch already, inserts an empty one that ends at the log's newest message. So what comes from now on is
    /// handled, also if this worker ends before it handles any.
    func beginAtHead(_ partition: Partition, epoch: Epoch) -> Query {
        """
        INSERT INTO \(unescaped: schema).batch (source, partition, number, position, owner, epoch, given_time, messages)
        SELECT \(sourceName), p.partition, 1, greatest(p.base_position, coalesce(
                   (SELECT l.position FROM \(unescaped: sourceName) AS l WHERE l.partition = p.partition
                     ORDER BY l.position DESC LIMIT 1), 0)),
               \(owner), \(epoch.number), clock_timestamp(), 0
          FROM \(unescaped: "\(source)_partition") AS p
         WHERE p.partition = \(partition.number)
           AND NOT EXISTS (SELECT FROM \(unescaped: schema).batch AS b
                            WHERE b.source = \(sourceName) AND b.partition = p.partition)
        ON CONFLICT ON CONSTRAINT batch_has_one_successor DO NOTHING
        """
    }

    /// Where the partition's history begins. Earlier messages are deleted.
    func base(_ partition: Partition) -> Query {
        """
        SELECT p.base_position FROM \(unescaped: "\(source)_partition") AS p WHERE p.partition = \(partition.number)
        """
    }

    /// Inserts the batch after each partition's cursor. Its key is the fence.
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
