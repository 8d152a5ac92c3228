import Foundation
import LedgerEdge
import Postgres
import TestKit
import Testing

@Suite
struct PrivilegeTests {
    /// What each role may do to each table of the other's schema and its own, by the catalog: directly, through PUBLIC,
    /// by ownership or by membership.
    private static let privileges = """
        SELECT r.rolname, n.nspname || '.' || c.relname, p.privilege
          FROM pg_class AS c
          JOIN pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname IN ('ledger', 'ledger_client')
         CROSS JOIN (SELECT rolname FROM pg_roles WHERE rolname IN ('ledger', 'ledger_client', 'quartet_reader')) AS r
         CROSS JOIN unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) AS p(privilege)
         WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p')
           AND CASE WHEN p.privilege IN ('SELECT', 'INSERT', 'UPDATE', 'REFERENCES')
                    THEN has_any_column_privilege(r.rolname, c.oid, p.privilege)
                    ELSE has_table_privilege(r.rolname, c.oid, p.privilege) END
        """

    @Test("the catalog grants other roles nothing but SELECT on a service's schema (S3)")
    func oneWriter() async throws {
        try await LedgerFixture.with { fixture in
            let foreign = try await fixture.database.psql(
                "SELECT * FROM (\(Self.privileges)) AS p(role, relation, privilege) WHERE split_part(relation, '.', 1) <> role AND privilege <> 'SELECT'"
            )
            #expect(foreign.isEmpty, "\(foreign)")
            let logs = try await fixture.database.psql(
                """
                SELECT * FROM (\(Self.privileges)) AS p(role, relation, privilege)
                 WHERE relation IN ('ledger.log', 'ledger.batch', 'ledger.outcome', 'ledger_client.ledger_commands')
                   AND privilege NOT IN ('SELECT', 'INSERT')
                """)
            #expect(logs.isEmpty, "a log's past can be changed: \(logs)")
            let members = try await fixture.database.psql(
                """
                SELECT m.roleid::regrole, m.member::regrole FROM pg_auth_members AS m
                 WHERE m.member::regrole::text IN ('ledger', 'ledger_client', 'ledger_owner', 'ledger_client_owner')
                """)
            #expect(members.isEmpty, "\(members)")
            let owned = try await fixture.database.psql(
                """
                SELECT c.oid::regclass FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname IN ('ledger', 'ledger_client') AND pg_get_userbyid(c.relowner) <> n.nspname || '_owner'
                """)
            #expect(owned.isEmpty, "\(owned)")
            let functions = try await fixture.database.psql(
                """
                SELECT p.oid::regprocedure FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
                 WHERE n.nspname IN ('ledger', 'ledger_client')
                   AND EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a WHERE a.grantee = 0)
                """)
            #expect(functions.isEmpty, "PUBLIC may execute \(functions)")
        }
    }

    @Test(
        "a service can't write another's tables, change its own log or become the owner (S3)",
        arguments: [
            ("ledger", "INSERT INTO ledger_client.ledger_commands SELECT * FROM ledger_client.ledger_commands"),
            ("ledger", "SELECT FROM ledger_client.ledger_commands_partition FOR NO KEY UPDATE"),
            ("ledger", "UPDATE ledger.log SET type = 'x'"), ("ledger", "DELETE FROM ledger.log"),
            ("ledger", "TRUNCATE ledger.log"), ("ledger", "UPDATE ledger.batch SET position = 0"),
            ("ledger", "DELETE FROM ledger.batch"), ("ledger", "UPDATE ledger.outcome SET outcome = 'failed'"),
            ("ledger", "UPDATE ledger.log_partition SET base_position = 5"),
            ("ledger", "SET ROLE ledger_owner"), ("ledger", "SET ROLE quartet_migrator"),
            ("ledger", "CREATE TABLE ledger.mine ()"), ("ledger", "CREATE TABLE public.mine ()"),
            ("ledger", "CREATE TEMP TABLE mine ()"), ("ledger", "ALTER TABLE ledger.log DISABLE TRIGGER ALL"),
            ("ledger_client", "UPDATE ledger.balance SET amount = 1"), ("ledger_client", "DELETE FROM ledger.entry"),
            ("ledger_client", "INSERT INTO ledger.log_partition VALUES (9)"),
            ("quartet_reader", "UPDATE ledger.balance SET amount = 1"),
        ])
    func refused(role: String, statement: String) async throws {
        try await LedgerFixture.with { fixture in
            let connection = try await Connection.connect(Configuration(try fixture.database.url(as: role)))
            do {
                _ = try await connection.run { try $0.execute(Query(stringLiteral: statement)) }
                Issue.record("\(role) may: \(statement)")
            } catch let error as PostgresError {
                // insufficient_privilege; read_only_sql_transaction
                #expect(error.sqlState == "42501" || error.sqlState == "25006", "\(error)")
            }
            await connection.close()
        }
    }

    @Test("a constraint keeps everyone from writing a lock column")
    func lockIsNeverWritten() async throws {
        try await LedgerFixture.with { fixture in
            let connection = try await Connection.connect(Configuration(fixture.serviceURL))
            await #expect(throws: PostgresError.self) {
                try await connection.run { try $0.execute("UPDATE ledger.log_partition SET lock = true") }
            }
            await connection.close()
        }
    }
}
