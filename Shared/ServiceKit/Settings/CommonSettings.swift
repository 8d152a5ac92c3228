import Foundation
package import Logging
package import Postgres

/// The settings that all services have.
package enum CommonSettings {
    package static let all: [any SettingDeclaration] = [
        databaseURL, databaseRole, databasePassword, adminHost, adminPort, logFormat, logLevel, retentionInterval,
        migrationsFolder, templatesFolder,
    ]

    package static let databaseURL = Setting<String>(
        "database.url", placeholder: "URL", default: "", shownDefault: "from libpq's PG* variables",
        help: """
            The database, as a URL or as libpq's keywords and values. Its user is ignored; see --database-role. \
            If it contains a password, set it only in the environment.
            """
    ) { text throws(SettingProblem) in text }

    package static let databaseRole = Setting<String?>.text(
        "database.role", placeholder: "ROLE",
        help: "The role to log in as. By default, run uses the service's own role, and migrate uses quartet_migrator.")

    package static let databasePassword = Setting<String?>.text(
        "database.password", isSecret: true,
        help: "That role's password, if it needs one. libpq's password file (PGPASSFILE) works as well.")

    package static let adminHost = Setting<String>.text(
        "admin.host", placeholder: "ADDRESS", default: "127.0.0.1",
        help: "The address that serves /health/live, /health/ready and /metrics.")

    package static let adminPort = Setting<Int>.int(
        "admin.port", in: 0...65_535, default: 0, help: "Its port. 0 chooses a free one and logs it.")

    package static let logFormat = Setting<LogFormat>.choice(
        "log.format", default: .text, help: "The format of log lines: text for people, or JSON objects.")

    package static let logLevel = Setting<Logger.Level>.choice(
        "log.level", default: .info, help: "The lowest level that is logged.")

    package static let retentionInterval = Setting<Duration>.duration(
        "retention.interval", in: .milliseconds(100)...(.seconds(86_400)), default: .seconds(60),
        help: "How often to delete old rows. The table retention says how long they are kept.")

    package static let migrationsFolder = Setting<String?>.text(
        "migrations.dir", placeholder: "FOLDER",
        help: "The folder of the service's migrations. Default: next to the executable.")

    package static let templatesFolder = Setting<String?>.text(
        "migrations.templates", placeholder: "FOLDER",
        help: "The folder of the bus's SQL templates. Default: next to the executable.")

    /// How to reach the database, as the role that the settings name or else as `role`.
    package static func database(_ settings: Settings, role: String, application: String) -> Postgres.Configuration {
        var database = Postgres.Configuration(settings[databaseURL])
        database.parameters["user"] = settings[databaseRole] ?? role
        database.parameters["application_name"] = application
        if let password = settings[databasePassword] { database.parameters["password"] = password }
        return database
    }
}
