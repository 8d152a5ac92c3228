package import Logging
package import Postgres

/// Brings a schema to the version of this build.
///
/// It logs in as a user who may become the schema's owner (`quartet_migrator`, or a superuser), becomes the owner, and
/// applies each pending file in a transaction of its own, together with a row in `<schema>.migration`. An advisory lock
/// lets only one migrator at a time work on a schema. A second one waits and then finds nothing to do.
///
/// ```swift
/// let set = try MigrationSet(schema: "contacts", target: "Contacts")
/// try await Migrator(set, configuration: Configuration(url), logger: logger).apply()
/// ```
package struct Migrator: Sendable {
    private let set: MigrationSet
    private let configuration: Configuration
    private let logger: Logger

    /// - Parameter configuration: The database, with a user who may become the schema's owner.
    package init(_ set: MigrationSet, configuration: Configuration, logger: Logger = Logger(label: "migrations")) {
        self.set = set
        self.configuration = configuration
        self.logger = logger
    }

    /// Applies what is pending, and returns it.
    /// - Throws: ``MigrationError``, ``DatabaseRefusal`` or a `PostgresError`.
    @discardableResult
    package func apply() async throws -> [Migration] {
        try await withConnection { [set, logger] database in
            try OwnerSession.begin(database, schema: set.schema)
            // Released with the connection. Another migrator may take as long as it needs.
            try database.execute("SET lock_timeout = 0")
            try database.execute("SELECT pg_advisory_lock(hashtext('quartet migrations'), hashtext(\(set.schema)))")
            try database.execute("RESET lock_timeout")
            try MigrationTable.create(database, schema: set.schema)
            let pending = try MigrationTable.history(database, schema: set.schema).pending(of: set)
            for migration in pending {
                try Self.apply(migration, to: set.schema, database)
                logger.info("applied \(migration.file)", metadata: ["schema": "\(set.schema)"])
            }
            return pending
        }
    }

    /// What ``apply()`` would apply. Changes nothing.
    /// - Throws: As ``apply()``.
    package func plan() async throws -> [Migration] {
        try await withConnection { [set] database in
            try OwnerSession.begin(database, schema: set.schema)
            return try MigrationTable.history(database, schema: set.schema).pending(of: set)
        }
    }

    /// Sets numbers of the service's rules in its table `limits`.
    /// - Throws: As ``apply()``. If the table's constraints refuse one, nothing is changed.
    func set(_ limits: [(limit: StoredLimit, value: String)]) async throws {
        guard !limits.isEmpty else { return }
        try await asOwner { [set] database in
            try database.transaction { database in
                for (limit, value) in limits {
                    try database.execute(
                        """
                        UPDATE \(identifier: set.schema).limits
                           SET \(identifier: limit.column) = CAST(\(value) AS \(unescaped: limit.type))
                        """)
                }
            }
        }
    }

    /// Does something as the schema's owner.
    package func asOwner(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        try await withConnection { [set] database in
            try OwnerSession.begin(database, schema: set.schema)
            try body(database)
        }
    }

    private func withConnection<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        var configuration = configuration
        configuration.parameters["application_name"] = "\(set.schema)/migrations"
        return try await Connection.with(configuration, logger: logger, body)
    }

    private static func apply(_ migration: Migration, to schema: String, _ database: Database) throws {
        do {
            try database.transaction { database in
                // A migration's unqualified names are in its own schema.
                try database.execute("SET LOCAL search_path = \(identifier: schema)")
                try database.executeScript(migration.sql)
                guard database.transactionStatus == .inTransaction else {
                    throw MigrationError.endedTransaction(file: migration.file)
                }
                try MigrationTable.record(migration, database, schema: schema)
            }
        } catch let error as PostgresError where !error.isConnectionLost {
            throw MigrationError.failed(file: migration.file, reason: error.description)
        }
    }
}

/// The session of a migrator, which becomes the schema's owner.
enum OwnerSession {
    static func begin(_ database: Database, schema: String) throws {
        try DatabaseRequirement.check(database, schema: schema)
        do throws(PostgresError) {
            try database.execute("SET ROLE \(identifier: schema + "_owner")")
        } catch {
            guard error.sqlState == "42501" else { throw error }
            let user = try database.query("SELECT session_user::text").only?.decode(0, as: String.self)
            throw DatabaseRefusal.mayNotMigrate(user: user ?? "?", schema: schema)
        }
    }
}

/// `<schema>.migration`, the migrations that are applied.
enum MigrationTable {
    static func create(_ database: Database, schema: String) throws {
        if try exists(database, schema: schema) {
            return try addCompatibility(database, schema: schema)
        }
        try database.transaction { database in
            try database.execute(
                """
                CREATE TABLE \(identifier: schema).migration (
                    number     int         CONSTRAINT migration_happens_once PRIMARY KEY,
                    file       text        NOT NULL,
                    checksum   text        NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now(),
                    applied_by text        NOT NULL DEFAULT session_user,
                    duration   interval    NOT NULL
                )
                """)
            let comments: [(Query, String)] = [
                ("TABLE \(identifier: schema).migration", "The migrations applied to this schema."),
                ("COLUMN \(identifier: schema).migration.number", "The number at the beginning of the file''s name."),
                ("COLUMN \(identifier: schema).migration.file", "The file''s name."),
                ("COLUMN \(identifier: schema).migration.checksum", "SHA-256 of the applied text, with its includes."),
                ("COLUMN \(identifier: schema).migration.applied_at", "When it was applied."),
                ("COLUMN \(identifier: schema).migration.applied_by", "The role that logged in to apply it."),
                ("COLUMN \(identifier: schema).migration.duration", "How long it took."),
            ]
            for (object, comment) in comments {
                try database.execute("COMMENT ON \(object) IS '\(unescaped: comment)'")
            }
            // The running service compares it with its build's migrations.
            try database.execute("GRANT SELECT ON \(identifier: schema).migration TO \(identifier: schema)")
        }
        try addCompatibility(database, schema: schema)
    }

    /// Adds the column that 0.1.0 didn't have.
    private static func addCompatibility(_ database: Database, schema: String) throws {
        let columns = try database.query(
            """
            SELECT 1 FROM pg_attribute
             WHERE attrelid = to_regclass(format('%I.migration', \(schema)::text)) AND attname = 'compatible_with'
            """)
        guard columns.isEmpty else { return }
        try database.transaction { database in
            try database.execute("ALTER TABLE \(identifier: schema).migration ADD COLUMN compatible_with text")
            try database.execute(
                """
                COMMENT ON COLUMN \(identifier: schema).migration.compatible_with IS
                    'The oldest release that may run with it without having its file; NULL: none, unless it has the file.'
                """)
        }
    }

    static func history(_ database: Database, schema: String) throws -> MigrationHistory {
        guard try exists(database, schema: schema) else { return MigrationHistory(applied: []) }
        let rows = try database.query(
            // The table of 0.1.0 lacks the last column until a newer migrator looks at it.
            """
            SELECT number::bigint, file, checksum, applied_at::text, to_jsonb(m) ->> 'compatible_with'
              FROM \(identifier: schema).migration AS m
            """)
        return MigrationHistory(
            applied: try rows.map { row in
                let (number, file, checksum, appliedAt, compatibleWith) = try row.decode(
                    Int64.self, String.self, String.self, String.self, String?.self)
                return MigrationHistory.Applied(
                    number: Int(number), file: file, checksum: checksum, appliedAt: appliedAt,
                    compatibleWith: compatibleWith)
            })
    }

    static func record(_ migration: Migration, _ database: Database, schema: String) throws {
        try database.execute(
            """
            INSERT INTO \(identifier: schema).migration (number, file, checksum, duration, compatible_with)
            VALUES (\(Int64(migration.number)), \(migration.file), \(migration.checksum), clock_timestamp() - now(),
                    \(migration.compatibleWith?.description))
            """)
    }

    private static func exists(_ database: Database, schema: String) throws -> Bool {
        let rows = try database.query("SELECT to_regclass(format('%I.migration', \(schema)::text)) IS NOT NULL")
        return try rows.only?.decode(0, as: Bool.self) ?? false
    }
}
