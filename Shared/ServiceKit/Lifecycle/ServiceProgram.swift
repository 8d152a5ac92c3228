import Foundation
public import Logging
public import Postgres
public import ServiceLifecycle

/// One of Quartet's services as an executable: its name, its schema, its settings and what it runs. Everything else,
/// from `--help` over migrations to a graceful end, comes with ``main()``.
///
/// ```swift
/// @main
/// struct ContactsProgram: ServiceProgram {
///     static let name = "contacts"
///     static let summary = "Who knows whom, and who pings whom."
///     static let target = "Contacts"
///
///     static func services(_ context: ServiceContext) throws -> [any Service] {
///         [Consumer(…, configuration: context.database, logger: context.logger)]
///     }
/// }
/// ```
public protocol ServiceProgram: SendableMetatype {
    /// The executable's name, such as `session-client`.
    static var name: String { get }
    /// What the service is for, in a sentence.
    static var summary: String { get }
    /// The target that has the service's `Migrations`.
    static var target: String { get }
    /// The settings that it has besides ``CommonSettings``; none unless said.
    static var settings: [any SettingDeclaration] { get }

    /// The numbers in its rules that `migrate` can set for all replicas; none unless said.
    static var limits: [StoredLimit] { get }

    /// What it runs, from the moment on when the database is there and its schema as this build needs it.
    ///
    /// The services are started together and shut down in the opposite order. A check that is taken from
    /// `context.health` in here keeps the process from being ready until it reports so.
    static func services(_ context: ServiceContext) throws -> [any Service]
}

extension ServiceProgram {
    /// The service's schema and role: its name in SQL's spelling.
    public static var schema: String { name.replacing("-", with: "_") }

    public static var settings: [any SettingDeclaration] { [] }

    public static var limits: [StoredLimit] { [] }

    /// Reads the command line and does what it says. Ends the process.
    @concurrent public static func main() async {
        let status = await ServiceCommand(Self.self).run(
            arguments: Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        exit(status)
    }
}

/// What a service is given to run with.
public struct ServiceContext: Sendable {
    /// The values of its settings.
    public let settings: Settings
    /// The database, with the service's role.
    public let database: Postgres.Configuration
    /// What time it is there.
    public let clock: DatabaseClock
    /// Where its parts say whether they are ready.
    public let health: Health
    /// A logger with the service's name.
    public let logger: Logger
}
