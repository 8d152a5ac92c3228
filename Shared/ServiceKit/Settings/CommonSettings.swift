import Foundation
package import Logging

/// The settings that all services have.
package enum CommonSettings {
    package static let all: [any SettingDeclaration] = [
        databaseURL, databaseRole, databasePassword, adminHost, adminPort, logFormat, logLevel, retentionInterval,
        migrationsFolder, templatesFolder,
    ]

    package static let databaseURL = Setting<String>(
        "database.url", placeholder: "URL", default: "", shownDefault: "as libpq's PG* variables say",
        help: """
            Where the database is: a URL or libpq's keywords and values. Its user is not used; see --database-role. \
            With a password in it, set it in the environment only.
            """
    ) { text throws(SettingProblem) in text }

    package static let databaseRole = Setting<String?>.text(
        "database.role", placeholder: "ROLE",
        help: "The role to log in as. Default: the service's own role to run, quartet_migrator to migrate.")

    package static let databasePassword = Setting<String?>.text(
        "database.password", isSecret: true,
        help: "That role's password, if it needs one. libpq's password file (PGPASSFILE) works, too.")

    package static let adminHost = Setting<String>.text(
        "admin.host", placeholder: "ADDRESS", default: "127.0.0.1",
        help: "The address that serves /health/live, /health/ready and /metrics.")

    package static let adminPort = Setting<Int>.int(
        "admin.port", in: 0...65_535, default: 0,
        help: "The port for --admin-host. 0 takes a free one, which the log names.")

    package static let logFormat = Setting<LogFormat>.choice(
        "log.format", default: .text, help: "The format of log lines: text for people, or a JSON object each.")

    package static let logLevel = Setting<Logger.Level>.choice(
        "log.level", default: .info, help: "The least severe level that is logged.")

    package static let retentionInterval = Setting<Duration>.duration(
        "retention.interval", in: .milliseconds(100)...(.seconds(86_400)), default: .seconds(60),
        help: "How often to delete old rows. The table retention says how long rows are kept.")

    package static let migrationsFolder = Setting<String?>.text(
        "migrations.dir", placeholder: "FOLDER",
        help: "Where the service's migrations are. Default: beside the executable.")

    package static let templatesFolder = Setting<String?>.text(
        "migrations.templates", placeholder: "FOLDER",
        help: "Where the bus's SQL templates are. Default: beside the executable.")
}
