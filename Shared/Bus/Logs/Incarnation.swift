import Postgres
import QuartetVocabulary

/// Which incarnation of the logs a position belongs to: the cluster's system identifier, its timeline, and the
/// database. A restore or failover begins another one, in which old positions mean nothing.
package struct Incarnation: Hashable, Sendable, CustomStringConvertible {
    package let description: String

    package init?(_ text: String) {
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
