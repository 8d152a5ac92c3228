package import Bus
package import QuartetVocabulary
package import ServiceLifecycle

/// A service that owns a domain: it handles session-client's commands by its rules and publishes what happened in its
/// log.
///
/// ```swift
/// @main
/// struct ContactsProgram: DomainProgram {
///     static let name = "contacts"
///     static let summary = "Contacts, their roles, requests and blocks, and the pings between them."
///     static let target = "ContactsService"
///     static func store(_ settings: Settings) -> ContactsStore { ContactsStore() }
/// }
/// ```
package protocol DomainProgram: ServiceProgram {
    /// Keeps the domain's state and names its rules. If it is a ``TimedStore``, the service runs timers, too.
    associatedtype DomainStore: Store

    static func store(_ settings: Settings) throws -> DomainStore

    /// The log that its commands come in. By default `session_client.<schema>_commands`.
    static var commands: LogName { get }

    /// Functions of the schema that delete up to a number of its own old rows and return how many they deleted. None by
    /// default.
    static var forgetting: [String] { get }

    /// Services to run beside the handling of commands, for example to deliver what the store has queued. They are shut
    /// down first, in reverse order. None by default.
    static func companions(_ bus: DomainBus) throws -> [any Service]
}

/// What a program's companions share with the handling of its commands.
package struct DomainBus: Sendable {
    package let context: ServiceContext
    /// The process's one listening connection. Register with it before it runs.
    package let doorbells: Doorbells
    /// The service's own log.
    package let log: Log
    /// The log of the service's commands to itself; nil if it has no timers.
    package let due: Log?
}

extension DomainProgram {
    package static var commands: LogName { LogName(schema: "session_client", table: "\(schema)_commands") }

    package static var forgetting: [String] { [] }

    package static func companions(_ bus: DomainBus) throws -> [any Service] { [] }

    package static var settings: [any SettingDeclaration] { ConsumerSettings.declared }

    /// Handles commands until stopped.
    package static func services(_ context: ServiceContext) throws -> [any Service] {
        [
            CommandService(
                schema: schema, commands: commands, store: try store(context.settings), forgetting: forgetting,
                companions: { try companions($0) }, context: context)
        ]
    }
}

extension ConsumerSettings {
    private static let workersSetting = Setting<Int>.int(
        "consumer.workers", in: 1...16, default: 1,
        help:
            "Connections of this process that handle messages. More of them pay off where there are more cores than services."
    )
    private static let batchSetting = Setting<Int>.int(
        "consumer.batch", in: 1...10_000, default: 64, help: "The most messages handled in one transaction.")
    private static let leaseSetting = Setting<Duration>.duration(
        "consumer.lease", in: .seconds(1)...(.seconds(300)), default: .seconds(5),
        help: "How long another replica waits before it takes over from one that is connected but silent.")
    private static let leastTimeSetting = Setting<Duration>.duration(
        "consumer.give-up-after", in: .seconds(1)...(.seconds(86400)), default: .seconds(60),
        help: "The least time for which a message that fails by its own fault is retried before it is given up.")

    package static var declared: [any SettingDeclaration] {
        [workersSetting, batchSetting, leaseSetting, leastTimeSetting]
    }

    /// ``declared`` must be among the program's settings.
    package init(_ settings: Settings) {
        self.init()
        workers = settings[Self.workersSetting]
        limits.batch = settings[Self.batchSetting]
        leaseDuration = settings[Self.leaseSetting]
        limits.leastTime = settings[Self.leastTimeSetting]
    }
}
