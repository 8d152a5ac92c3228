import Foundation
package import Logging
package import Postgres
package import ServiceLifecycle

/// One of Quartet's services as an executable: its name, schema and settings, and what it runs. ``main()`` does the
/// rest, from `--help` and migrations to a graceful shutdown.
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
package protocol ServiceProgram: SendableMetatype {
    /// The executable's name, such as `session-client`.
    static var name: String { get }
    /// What the service is for, in a sentence.
    static var summary: String { get }
    /// The target that has the service's `Migrations`.
    static var target: String { get }
    /// Its settings besides ``CommonSettings``. None by default.
    static var settings: [any SettingDeclaration] { get }

    /// The numbers in its rules that `migrate` can set for all replicas. None by default.
    static var limits: [StoredLimit] { get }

    /// The settings of ``supply(_:_:_:)``. None by default.
    static var supplies: [any SettingDeclaration] { get }

    /// Brings into the database what the service reads there and can't write itself. `migrate` calls it as the schema's owner, once the
    /// schema is at this build's version. Does nothing by default.
    static func supply(_ database: Database, _ settings: Settings, _ logger: Logger) throws

    /// Its commands besides `run`, `migrate` and `plan`. None by default.
    static var commands: [ProgramCommand] { get }

    /// The services to run once the database is there and its schema is as this build needs it.
    ///
    /// They are started together and shut down in reverse order. A check taken from `context.health` in here keeps the
    /// process from being ready until it reports that it is.
    static func services(_ context: ServiceContext) throws -> [any Service]
}

extension ServiceProgram {
    /// The name of the service's schema and role.
    package static var schema: String { name.replacing("-", with: "_") }

    package static var settings: [any SettingDeclaration] { [] }

    package static var limits: [StoredLimit] { [] }

    package static var supplies: [any SettingDeclaration] { [] }

    package static func supply(_ database: Database, _ settings: Settings, _ logger: Logger) throws {}

    package static var commands: [ProgramCommand] { [] }

    /// Does what the command line says, and ends the process.
    @concurrent package static func main() async {
        let status = await ServiceCommand(Self.self).run(
            arguments: Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment)
        exit(status)
    }
}

/// Something else that a service's executable does, once, with the service's settings and some of its own.
package struct ProgramCommand: Sendable {
    /// As on the command line, in one word or more: `keys make`.
    package let name: String
    /// A sentence for `--help`.
    package let help: String
    /// The settings that only this command has.
    package let settings: [any SettingDeclaration]
    /// - Throws: What ends the process with a sentence.
    package let body: @Sendable (Settings) async throws -> Void

    package init(
        _ name: String, settings: [any SettingDeclaration] = [], help: String,
        _ body: @escaping @Sendable (Settings) async throws -> Void
    ) {
        self.name = name
        self.help = help
        self.settings = settings
        self.body = body
    }
}

/// What a service runs with.
package struct ServiceContext: Sendable {
    package let settings: Settings
    /// With the service's role.
    package let database: Postgres.Configuration
    package let clock: DatabaseClock
    /// Where its parts report whether they are ready.
    package let health: Health
    /// Of this process.
    package let metrics: PrometheusMetrics
    /// How many files and connections it may have open at a time.
    package let openFiles: Int
    package let logger: Logger
}
