import Postgres
public import Vocabulary

/// Which incarnation of the logs a position belongs to: the cluster's system identifier, its timeline, and the
/// database. A restore or failover begins another one, in which old positions mean nothing.
public struct Incarnation: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count),
            text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || $0 == UInt8(ascii: "-") })
        else { return nil }
        description = text
    }

    /// Read again on every connection, so a failover shows on the next one.
    static func current(_ database: Database) throws -> Incarnation {
        // From the WAL's file name: after a promotion, pg_control_checkpoint() lags behind until a checkpoint.
        let rows = try database.query(
            """
            SELECT (SELECT system_identifier FROM pg_control_system())::text || '-' ||
                   CASE WHEN pg_is_in_recovery() THEN (SELECT timeline_id FROM pg_control_checkpoint())
                        ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::int END || '-' ||
                   (SELECT oid FROM pg_database WHERE datname = current_database())
            """)
        guard let row = rows.only, let value = Incarnation(try row.decode(0, as: String.self))
        else { throw BusError.unreadable(LogName(schema: "pg_catalog", table: "pg_control_system"), "no identifier") }
        return value
    }
}

/// A reader's place in a stream. With it, a reader goes on exactly where it stopped.
///
/// Its text has the form `log@incarnation/partition/position`. Apps keep it as it is.
public struct ResumeToken: Hashable, Sendable, LosslessStringConvertible {
    public let log: LogName
    public let incarnation: Incarnation
    public let partition: Partition
    public let position: Position

    public init(log: LogName, incarnation: Incarnation, partition: Partition, position: Position) {
        self.log = log
        self.incarnation = incarnation
        self.partition = partition
        self.position = position
    }

    public init?(_ text: String) {
        guard text.utf8.count <= 256 else { return nil }
        let halves = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { return nil }
        let name = halves[0].split(separator: ".", omittingEmptySubsequences: false)
        let place = halves[1].split(separator: "/", omittingEmptySubsequences: false)
        guard name.count == 2, place.count == 3,
            let incarnation = Incarnation(String(place[0])),
            let partition = Int32(place[1]), partition >= 0,
            let position = Int64(place[2]), position >= 0
        else { return nil }
        self.init(
            log: LogName(schema: String(name[0]), table: String(name[1])), incarnation: incarnation,
            partition: Partition(partition), position: Position(position))
    }

    public var description: String { "\(log)@\(incarnation)/\(partition)/\(position)" }
}
