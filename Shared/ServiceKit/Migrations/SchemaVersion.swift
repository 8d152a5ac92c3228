import Logging
package import Postgres

/// Checks whether a schema is as a build needs it. A service asks when it starts, in its own role.
package struct SchemaVersion: Sendable {
    private let set: MigrationSet
    private let command: String

    /// - Parameter command: The executable that applies migrations, for the error.
    package init(_ set: MigrationSet, command: String) {
        self.set = set
        self.command = command
    }

    /// - Throws: ``DatabaseRefusal``, ``MigrationError`` or a `PostgresError`.
    package func verify(_ configuration: Configuration) async throws {
        var configuration = configuration
        configuration.parameters["application_name"] = "\(set.schema)/start"
        try await Connection.with(configuration) { [set, command] database in
            try DatabaseRequirement.checkRunner(database, schema: set.schema)
            let pending = try MigrationTable.history(database, schema: set.schema).pending(of: set)
            guard pending.isEmpty else {
                throw MigrationError.pending(schema: set.schema, files: pending.map(\.file), command: command)
            }
        }
    }
}
