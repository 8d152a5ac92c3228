import Postgres
import ServiceKit
import TestKit
import Testing

@Suite("Migrations of a database")
struct MigratorTests {
    private static let empty = DatabaseTemplate("kept", services: [.init("kept"), .init("kept_stranger")])
    private static let thing = "CREATE TABLE thing (id int PRIMARY KEY); GRANT SELECT ON thing TO kept"

    private func set(_ files: (String, String)...) throws -> MigrationSet {
        try MigrationSet(schema: "kept", migrations: files.map { try Migration(file: $0.0, sql: $0.1) })
    }

    private func migrator(
        _ set: MigrationSet, _ database: TestDatabase, as role: String = "quartet_migrator"
    ) throws -> Migrator {
        Migrator(set, configuration: Configuration(try database.url(as: role)))
    }

    @Test("are applied as the schema's owner, each once, and remembered")
    func applied() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let first = try set(("0001-thing.sql", Self.thing))
            #expect(try await migrator(first, database).plan().map(\.file) == ["0001-thing.sql"])
            #expect(try await migrator(first, database).apply().map(\.file) == ["0001-thing.sql"])
            let both = try set(("0001-thing.sql", Self.thing), ("0002-more.sql", "ALTER TABLE thing ADD more text"))
            #expect(try await migrator(both, database).plan().map(\.file) == ["0002-more.sql"])
            #expect(try await migrator(both, database).apply().map(\.file) == ["0002-more.sql"])
            #expect(try await migrator(both, database).apply() == [])

            let owners = try await database.psql(
                "SELECT string_agg(relname || ' ' || relowner::regrole, ', ' ORDER BY relname) FROM pg_class "
                    + "WHERE relnamespace = 'kept'::regnamespace AND relkind = 'r'")
            #expect(owners == "migration kept_owner, thing kept_owner")
            let remembered = try await database.psql(
                "SELECT string_agg(number || ' ' || file || ' ' || applied_by || ' ' || (duration > '0'), ', ' ORDER BY number)"
                    + " FROM kept.migration")
            #expect(remembered == "1 0001-thing.sql quartet_migrator true, 2 0002-more.sql quartet_migrator true")
        }
    }

    @Test("a file that fails leaves nothing of itself, and what came before it")
    func failing() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let broken = try set(
                ("0001-thing.sql", Self.thing), ("0002-broken.sql", "CREATE TABLE other (); SELECT 1/0;"))
            let error = await #expect(throws: MigrationError.self) { try await migrator(broken, database).apply() }
            #expect(error?.description.hasPrefix("0002-broken.sql failed, and nothing of it was applied") == true)
            let tables = try await database.psql("SELECT to_regclass('kept.thing'), to_regclass('kept.other')")
            #expect(tables == "kept.thing|")
        }
    }

    @Test("a file that ends its transaction is refused")
    func commits() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let committing = try set(("0001-commit.sql", "COMMIT"))
            await #expect(throws: MigrationError.endedTransaction(file: "0001-commit.sql")) {
                try await migrator(committing, database).apply()
            }
        }
    }

    @Test("a changed file and a newer history are refused, and nothing is applied")
    func refused() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let old = try set(("0001-thing.sql", Self.thing))
            try await migrator(set(("0001-thing.sql", Self.thing), ("0002-more.sql", "SELECT 1")), database).apply()
            await #expect(throws: MigrationError.newer(schema: "kept", applied: ["0002-more.sql"])) {
                try await migrator(old, database).apply()
            }
            let changed = try set(
                ("0001-thing.sql", "SELECT 'changed'"), ("0002-more.sql", "SELECT 1"),
                ("0003-x.sql", "CREATE TABLE x ()"))
            let error = await #expect(throws: MigrationError.self) { try await migrator(changed, database).apply() }
            #expect(error?.description.hasPrefix("0001-thing.sql, or a template that it includes, was changed") == true)
            #expect(try await database.psql("SELECT to_regclass('kept.x')") == "")
        }
    }

    @Test(
        "a build starts and migrates beside newer migrations that are compatible with it, as the database remembers them"
    )
    func compatible() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let old = try set(("0001-thing.sql", Self.thing))
            let newer = try set(
                ("0001-thing.sql", Self.thing),
                ("0002-more.sql", "-- compatible with 0.1.0\nALTER TABLE thing ADD more text"))
            try await migrator(newer, database).apply()
            let version = SchemaVersion(old, command: "kept")
            let runner = Configuration(try database.url(as: "kept"))
            try await version.verify(runner)
            #expect(try await migrator(old, database).plan() == [])
            #expect(try await migrator(old, database).apply() == [])
            let newest = try set(
                ("0001-thing.sql", Self.thing),
                ("0002-more.sql", "-- compatible with 0.1.0\nALTER TABLE thing ADD more text"),
                ("0003-other.sql", "DROP TABLE thing"))
            try await migrator(newest, database).apply()
            await #expect(throws: MigrationError.newer(schema: "kept", applied: ["0003-other.sql"])) {
                try await version.verify(runner)
            }
        }
    }

    @Test("the history that 0.1.0 left, which doesn't know of compatibility, is read, and gets the column by migrate")
    func withoutCompatibility() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let first = try set(("0001-thing.sql", Self.thing))
            try await migrator(first, database).apply()
            try await database.psql("ALTER TABLE kept.migration DROP COLUMN compatible_with")
            try await SchemaVersion(first, command: "kept").verify(Configuration(database.url(as: "kept")))
            let both = try set(("0001-thing.sql", Self.thing), ("0002-more.sql", "-- compatible with 0.1.0\nSELECT 1"))
            #expect(try await migrator(both, database).plan().map(\.file) == ["0002-more.sql"])
            try await migrator(both, database).apply()
            let remembered = try await database.psql("SELECT file, compatible_with FROM kept.migration ORDER BY number")
            #expect(remembered == "0001-thing.sql|\n0002-more.sql|0.1.0")
        }
    }

    @Test("two migrators at once: each file is applied once, and both succeed")
    func two() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let slow = try set(("0001-thing.sql", Self.thing + "; SELECT pg_sleep(0.1)"), ("0002-more.sql", "SELECT 1"))
            let applied = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { try await migrator(slow, database).apply().count } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(applied.sorted() == [0, 0, 0, 2])
        }
    }

    @Test("the service's role can't become the owner, change the schema or migrate")
    func runner() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let set = try set(("0001-thing.sql", Self.thing))
            try await migrator(set, database).apply()
            let connection = try await Connection.connect(Configuration(database.url(as: "kept")))
            for forbidden in [
                "SET ROLE kept_owner", "SET SESSION AUTHORIZATION kept_owner", "CREATE TABLE kept.mine ()",
                "DROP TABLE kept.thing", "INSERT INTO kept.thing VALUES (1)", "UPDATE kept.migration SET file = ''",
                "CREATE TEMP TABLE mine ()", "CREATE TABLE public.mine ()",
                "CREATE SCHEMA mine", "SELECT * FROM kept_stranger.anything",
            ] {
                let error = await #expect(throws: PostgresError.self, "\(forbidden)") {
                    try await connection.run { database in try database.executeScript(forbidden) }
                }
                #expect(error?.sqlState == "42501", "\(forbidden): \(String(describing: error))")
            }
            await connection.close()
            await #expect(throws: DatabaseRefusal.mayNotMigrate(user: "kept", schema: "kept")) {
                try await migrator(set, database, as: "kept").apply()
            }
        }
    }

    @Test("the migrator has no right on the schema before it becomes the owner")
    func migratorInherits() async throws {
        try await TestDatabase.with(Self.empty) { database in
            try await migrator(set(("0001-thing.sql", Self.thing)), database).apply()
            let connection = try await Connection.connect(Configuration(database.url(as: "quartet_migrator")))
            let error = await #expect(throws: PostgresError.self) {
                try await connection.run { try $0.executeScript("SELECT * FROM kept.thing") }
            }
            #expect(error?.sqlState == "42501")
            await connection.close()
        }
    }

    @Test("people at psql read everything and write nothing")
    func reader() async throws {
        try await TestDatabase.with(Self.empty) { database in
            try await migrator(set(("0001-thing.sql", Self.thing)), database).apply()
            let connection = try await Connection.connect(Configuration(database.url(as: "quartet_reader")))
            try await connection.run { try $0.executeScript("SELECT * FROM kept.thing") }
            for forbidden in [
                "INSERT INTO kept.thing VALUES (1)", "SET default_transaction_read_only = off; DELETE FROM kept.thing",
            ] {
                await #expect(throws: PostgresError.self, "\(forbidden)") {
                    try await connection.run { try $0.executeScript(forbidden) }
                }
            }
            await connection.close()
        }
    }

    @Test("a database without the roles is refused with what to do")
    func notBootstrapped() async throws {
        try await TestDatabase.with(DatabaseTemplate("bare")) { database in
            let other = try MigrationSet(schema: "missing", migrations: [])
            await #expect(throws: DatabaseRefusal.notBootstrapped(missing: "role missing")) {
                try await migrator(other, database).apply()
            }
        }
    }

    @Test("a start is refused until the schema is at the build's version")
    func version() async throws {
        try await TestDatabase.with(Self.empty) { database in
            let set = try set(("0001-thing.sql", Self.thing))
            let version = SchemaVersion(set, command: "kept")
            let runner = Configuration(try database.url(as: "kept"))
            await #expect(throws: MigrationError.pending(schema: "kept", files: ["0001-thing.sql"], command: "kept")) {
                try await version.verify(runner)
            }
            try await migrator(set, database).apply()
            try await version.verify(runner)
            await #expect(throws: DatabaseRefusal.mayOwn(user: "postgres", schema: "kept")) {
                try await version.verify(Configuration(database.url))
            }
        }
    }

    @Test("deploy/bootstrap.sql is idempotent and takes back what was granted beside it")
    func bootstrap() async throws {
        try await PrivateCluster.with { postgres in
            let cluster = try postgres.cluster()
            let script = Products.deploy("bootstrap.sql")
            try await cluster.psql(file: script, variables: ["database": "other"])
            try await cluster.psql("GRANT contacts_owner TO contacts; GRANT CONNECT ON DATABASE other TO PUBLIC")
            try await cluster.psql(file: script, variables: ["database": "other"])
            let found = try await cluster.psql(
                """
                SELECT pg_has_role('contacts', 'contacts_owner', 'MEMBER'),
                       (SELECT count(*) FROM pg_database, aclexplode(datacl) WHERE datname = 'other' AND grantee = 0),
                       has_schema_privilege('session_client', 'contacts', 'USAGE'),
                       has_schema_privilege('contacts', 'session_client', 'USAGE'),
                       has_schema_privilege('contacts', 'session', 'USAGE')
                """, database: "other")
            #expect(found == "f|0|t|t|f")
        }
    }
}
