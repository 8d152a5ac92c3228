import StoreKit
import TestKit

extension DatabaseTemplate {
    /// Contacts' tables, and the log of its commands as far as its store looks into it: with nothing in it.
    static let contacts = DatabaseTemplate.tables(
        of: "contacts", in: "Contacts",
        besides: """
            CREATE TABLE session_client.contacts_commands (
                partition int, position bigint, recorded_at timestamptz, type text, key text, expires_at timestamptz,
                command_id uuid, PRIMARY KEY (partition, position));
            CREATE FUNCTION session_client.contacts_commands_partition_of(key text) RETURNS int
                LANGUAGE sql STABLE RETURN 0;
            GRANT USAGE ON SCHEMA session_client TO contacts;
            GRANT SELECT ON session_client.contacts_commands TO contacts
            """)
}
