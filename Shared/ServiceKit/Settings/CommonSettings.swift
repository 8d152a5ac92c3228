import Foundation
public import Logging

/// The settings that all services have.
public enum CommonSettings {
    /// All of them, for ``Settings/init(_:arguments:environment:)``.
    public static let all: [any SettingDeclaration] = [
        databaseURL, databaseRole, databasePassword, adminHost, adminPort, logFormat, logLevel, retentionInterval,
        migrationsFolder, templatesFolder,
    ]

    /// Where the database is.
    public static let databaseURL = Setting<String>(
        "database.url", placeholder: "URL", default: "", shownDefault: "as libpq's PG* variables say",
        help: """
            Where the database is: a URL or libpq's keywords and values. Its user is not used; see --database-role. \
            With a password in it, set it in the environment only.
            """
    ) { text throws(SettingProblem) in text }

    /// Who to log in as.
    public static let databaseRole = Setting<String?>.text(
        "database.role", placeholder: "ROLE",
        help: "Who to log in as. Default: to run, the service's own role; to migrate, quartet_migrator.")

    /// That role's password.
    public static let databasePassword = Setting<String?>.text(
        "database.password", isSecret: true,
        help: "That role's password, where it needs one; libpq's password file (PGPASSFILE) does as well.")

    /// Where health is served.
    public static let adminHost = Setting<String>.text(
        "admin.host", placeholder: "ADDRESS", default: "127.0.0.1",
        help: "The address on which /health/live, /health/ready and /metrics are served.")

    /// Where health is served.
    public static let adminPort = Setting<Int>.int(
        "admin.port", in: 0...65_535, default: 0, help: "The port for that; 0 takes a free one, which the log names.")

    /// How log lines look.
    public static let logFormat = Setting<LogFormat>.choice(
        "log.format", default: .text, help: "How log lines look: for people, or a JSON object each.")

    /// What is logged.
    public static let logLevel = Setting<Logger.Level>.choice(
        "log.level", default: .info, help: "The least severe level that is logged.")

    /// How often old rows are looked for.
    public static let retentionInterval = Setting<Duration>.duration(
        "retention.interval", in: .milliseconds(100)...(.seconds(86_400)), default: .seconds(60),
        help: "How often to forget what is kept for long enough; how long that is, the table retention says.")

    /// Where the migrations are.
    public static let migrationsFolder = Setting<String?>.text(
        "migrations.dir", placeholder: "FOLDER",
        help: "Where the service's migrations are. Default: beside the executable.")

    /// Where the templates are that migrations include.
    public static let templatesFolder = Setting<String?>.text(
        "migrations.templates", placeholder: "FOLDER",
        help: "Where the bus's SQL templates are. Default: beside the executable.")
}
