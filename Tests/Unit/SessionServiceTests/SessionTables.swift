import StoreKit
import TestKit

extension DatabaseTemplate {
    /// Session's tables with some time zones, and the log of its commands as far as its store looks into it: with nothing in it.
    static let session = DatabaseTemplate.tables(
        of: "session", in: "Session",
        besides: """
            CREATE TABLE session_client.session_commands (
                partition int, position bigint, recorded_at timestamptz, type text, key text, expires_at timestamptz,
                command_id uuid, PRIMARY KEY (partition, position));
            CREATE FUNCTION session_client.session_commands_partition_of(key text) RETURNS int
                LANGUAGE sql STABLE RETURN 0;
            GRANT USAGE ON SCHEMA session_client TO session;
            GRANT SELECT ON session_client.session_commands TO session;
            INSERT INTO session.zone (name, version, data) VALUES \(zones);
            UPDATE session.limits SET zones = 1, zones_name = '2025b'
            """)

    private static let zones = Zones.some.map { name, data in
        let digits = data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "('\(name)', 1, '\\x\(digits)')"
    }.joined(separator: ", ")
}
