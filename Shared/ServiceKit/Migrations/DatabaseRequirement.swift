import Postgres

/// Why Quartet can't work with a database as it is. Each case says what to do.
package enum DatabaseRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server is older than PostgreSQL 15.
    case tooOld(version: String)
    /// A role or schema that `deploy/bootstrap.sql` makes is missing.
    case notBootstrapped(missing: String)
    /// The user who logged in may not become the schema's owner.
    case mayNotMigrate(user: String, schema: String)
    /// A service logged in as a user who owns its schema or may become its owner.
    case mayOwn(user: String, schema: String)

    package var description: String {
        switch self {
        case .tooOld(let version):
            "Quartet needs PostgreSQL 15 or newer; this server is \(version). Upgrade it, or set DATABASE_URL to another"
        case .notBootstrapped(let missing):
            "\(missing) is missing. As a superuser, run: psql -v database=NAME -f deploy/bootstrap.sql"
        case .mayNotMigrate(let user, let schema):
            "\(user) may not become \(schema)_owner, the role that applies migrations. Log in as quartet_migrator "
                + "(--database-role), which deploy/bootstrap.sql creates, or as a superuser"
        case .mayOwn(let user, let schema):
            "\(user) owns schema \(schema) or may become its owner, which a running service must not. "
                + "Log in as \(schema) (--database-role), which deploy/bootstrap.sql creates"
        }
    }
}

/// What every database must have for migrations and services.
package enum DatabaseRequirement {
    package static let serverVersion = 150_000

    static func check(_ database: Database, schema: String) throws {
        guard database.serverVersion >= serverVersion else {
            let version = try database.query("SHOW server_version").only?.decode(0, as: String.self)
            throw DatabaseRefusal.tooOld(version: version ?? "\(database.serverVersion)")
        }
        let missing = try database.query(
            """
            SELECT name
              FROM (VALUES (1, 'role ' || \(schema)::text,
                            EXISTS (SELECT FROM pg_roles WHERE rolname = \(schema))),
                           (2, 'role ' || \(schema + "_owner")::text,
                            EXISTS (SELECT FROM pg_roles WHERE rolname = \(schema + "_owner"))),
                           (3, 'schema ' || \(schema)::text,
                            EXISTS (SELECT FROM pg_namespace WHERE nspname = \(schema)))
                   ) AS needed (place, name, is_there)
             WHERE NOT is_there
             ORDER BY place
            """)
        if let row = missing.only {
            throw DatabaseRefusal.notBootstrapped(missing: try row.decode(0, as: String.self))
        }
    }

    /// Also checks that the running service can't change what only its schema's owner may.
    static func checkRunner(_ database: Database, schema: String) throws {
        try check(database, schema: schema)
        let row = try database.query(
            "SELECT current_user::text, pg_has_role(current_user, \(schema + "_owner")::name, 'MEMBER')"
        ).only
        if let (user, mayOwn) = try row?.decode(String.self, Bool.self), mayOwn {
            throw DatabaseRefusal.mayOwn(user: user, schema: schema)
        }
    }
}

extension Error {
    /// A sentence for people: what happened and, if that is known, what to do.
    package var advice: String { (self as? PostgresError)?.connectionAdvice ?? "\(self)" }
}

extension PostgresError {
    fileprivate var connectionAdvice: String {
        guard case .connectFailed(let reason) = root else { return description }
        let bootstrap = ". As a superuser, run: psql -v database=NAME -f deploy/bootstrap.sql"
        if reason.contains("role \"") && reason.contains("does not exist")
            || reason.contains("database \"") && reason.contains("does not exist")
            || reason.contains("permission denied for database")
        {
            return description + bootstrap
        }
        if reason.contains("password") || reason.contains("authentication failed") {
            return description + ". Give the role's password in a file (PGPASSFILE) or in DATABASE_URL, "
                + "or change how the role authenticates in the server's pg_hba.conf"
        }
        return description
    }
}
