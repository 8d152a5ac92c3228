import Bus
import CoreMetrics
import Foundation
import Logging
import Postgres
import QuartetVocabulary
import ServiceLifecycle
import UnixSignals

/// Interprets the command line of a service's executable: `run`, `migrate`, `plan`, or a command of its own.
struct ServiceCommand<Program: ServiceProgram> {
    /// Exit statuses, as in sysexits(3).
    private enum Status {
        static var good: Int32 { 0 }
        static var failed: Int32 { 1 }
        static var usage: Int32 { 64 }
    }

    init(_: Program.Type) {}

    private var declared: [any SettingDeclaration] { Program.settings + CommonSettings.all }

    private var help: HelpText {
        HelpText(
            name: Program.name, summary: Program.summary,
            commands: [
                ("run", "Run the service until SIGTERM or Ctrl-C."),
                ("migrate", "Bring schema \(Program.schema) to this build's version."),
                ("plan", "List what migrate would apply, and change nothing."),
            ] + Program.commands.map { ($0.name, $0.help) },
            settings: declared,
            others: [
                (
                    "Limits that migrate stores for all replicas; those not given keep their values",
                    Program.limits.map(\.setting)
                ),
                ("What migrate brings into the database besides", Program.supplies),
            ] + Program.commands.map { ("Settings of \($0.name)", $0.settings) })
    }

    func run(arguments: [String], environment: [String: String]) async -> Int32 {
        let askedForHelp = ["--help", "-h", "help"]
        if arguments.contains(where: askedForHelp.contains) {
            print(help)
            return Status.good
        }
        if arguments.contains("--version") {
            print("\(Program.name) \(Release.version)")
            return Status.good
        }
        let names = help.commands.map(\.name)
        guard let command = names.first(where: { arguments.starts(with: $0.split(separator: " ").map(String.init)) })
        else {
            let found = arguments.first.map { "unknown command '\($0)'" } ?? "a command is missing"
            say("\(found); use \(Program.name) \(names.joined(separator: ", ")), or see --help")
            return Status.usage
        }
        let own = Program.commands.first { $0.name == command }
        let settings: Settings
        do throws(Settings.Refusal) {
            let limits = command == "migrate" ? Program.limits.map(\.setting) + Program.supplies : []
            settings = try Settings(
                declared + limits + (own?.settings ?? []),
                arguments: Array(arguments.dropFirst(command.split(separator: " ").count)), environment: environment)
        } catch {
            for problem in error.problems { say(problem) }
            return Status.usage
        }
        if arguments.contains(where: { $0.contains("://") && $0.contains("@") && $0.hasPasswordInURL }) {
            say("--database-url would show the password to everyone on this machine; set DATABASE_URL instead")
            return Status.usage
        }
        settings[CommonSettings.logFormat].bootstrap(level: settings[CommonSettings.logLevel])
        let logger = Logger(label: Program.name)
        do {
            if let own {
                try await own.body(settings)
                return Status.good
            }
            let set = try MigrationSet(
                schema: Program.schema, target: Program.target,
                folder: settings[CommonSettings.migrationsFolder].map { URL(filePath: $0) },
                templates: settings[CommonSettings.templatesFolder].map { URL(filePath: $0) })
            switch command {
            case "run": try await serve(set, settings, logger)
            default: try await migrate(set, settings, logger, isDry: command == "plan")
            }
            return Status.good
        } catch {
            logger.critical("\(error.advice)")
            return Status.failed
        }
    }

    // MARK: migrate, plan

    private func migrate(_ set: MigrationSet, _ settings: Settings, _ logger: Logger, isDry: Bool) async throws {
        let migrator = Migrator(set, configuration: database(settings, role: "quartet_migrator"), logger: logger)
        let migrations = isDry ? try await migrator.plan() : try await migrator.apply()
        guard !isDry else {
            for migration in migrations { print("\(migration.file)  \(migration.checksum.prefix(12))") }
            return
        }
        let set = Program.limits.compactMap { limit in limit.given(settings).map { (limit, $0) } }
        try await migrator.set(set)
        for (limit, value) in set { logger.info("set \(Program.schema).limits.\(limit.column) to \(value)") }
        try await migrator.asOwner { try Program.supply($0, settings, logger) }
        logger.info(
            migrations.isEmpty
                ? "the schema is already at this build's version" : "the schema is at this build's version",
            metadata: ["schema": "\(Program.schema)", "applied": "\(migrations.count)"])
    }

    // MARK: run

    private func serve(_ set: MigrationSet, _ settings: Settings, _ logger: Logger) async throws {
        let openFiles = OpenFiles.raiseLimit()
        let health = Health()
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        var database = database(settings, role: Program.schema)
        database.blockerPatience = ConsumerSettings().leaseDuration
        let clock = DatabaseClock(configuration: database, logger: logger)
        let context = ServiceContext(
            settings: settings, database: database, clock: clock, health: health, metrics: metrics,
            openFiles: openFiles, logger: logger)
        let admin = AdminServer(
            health: health, metrics: metrics, host: settings[CommonSettings.adminHost],
            port: settings[CommonSettings.adminPort],
            logger: logger)
        let start = DatabaseStart(
            version: SchemaVersion(set, command: Program.name), configuration: context.database,
            check: health.check("database"), logger: logger
        ) {
            try Program.services(context)
        }
        var configuration = ServiceGroupConfiguration(
            naming: [
                ImpatientSignal(logger: logger), admin, clock, start, MemoryTrim(), Draining(health: health),
            ],
            gracefulShutdownSignals: [.sigterm, .sigint], logger: logger.quiet)
        // A service that doesn't end by then is cancelled.
        configuration.maximumGracefulShutdownDuration = .seconds(30)
        try await ServiceGroup(configuration: configuration).run()
        logger.info("stopped")
    }

    private func database(_ settings: Settings, role: String) -> Postgres.Configuration {
        CommonSettings.database(settings, role: role, application: Program.name)
    }

    private func say(_ problem: String) {
        FileHandle.standardError.write(Data("\(Program.name): \(problem)\n".utf8))
    }
}

extension String {
    /// `…://user:password@…`
    fileprivate var hasPasswordInURL: Bool {
        guard let start = firstRange(of: "://"), let end = self[start.upperBound...].firstIndex(of: "@") else {
            return false
        }
        return self[start.upperBound..<end].contains(":") && !self[start.upperBound..<end].contains("/")
    }
}

/// Makes the process unready before anything in it ends: as the last service of its group, it is shut down first.
private struct Draining: Service {
    let health: Health

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
    }
}

/// Ends the process at the second signal. The first signal asks it to finish its work; somebody who sends another
/// doesn't want to wait. As in a crash, nothing that was acknowledged is lost.
private struct ImpatientSignal: Service {
    let logger: Logger

    func run() async throws {
        var isEnding = false
        // As the first service of its group, it is shut down last.
        for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint).cancelOnGracefulShutdown() {
            if isEnding {
                logger.warning("stopped at once by a second signal")
                exit(130)
            }
            isEnding = true
            logger.info("stopping: finishing work in progress; another signal stops at once")
        }
    }
}
