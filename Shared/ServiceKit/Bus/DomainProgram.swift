public import Bus
public import ServiceLifecycle
public import Vocabulary

/// A service that owns a domain: it handles the commands that session-client has for it by its rules, and its log says
/// what happened.
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
public protocol DomainProgram: ServiceProgram {
    /// Keeps the domain's state, and says by which rules it changes. If it is a ``TimedStore``, timers run.
    associatedtype DomainStore: Store

    /// The store; its limits may follow from settings.
    static func store(_ settings: Settings) throws -> DomainStore

    /// The log that its commands come in: `session_client.<schema>_commands` unless said.
    static var commands: LogName { get }

    /// Functions of the schema that delete so many old rows of its own at most and return how many that were. None, unless
    /// said.
    static var forgetting: [String] { get }

    /// What else runs beside the handling of commands, such as what hands on what the store has put down for it. Shut down
    /// first, the last one before the others. None, unless said.
    static func companions(_ bus: DomainBus) throws -> [any Service]
}

/// What a program's companions share with the handling of its commands.
public struct DomainBus: Sendable {
    /// Settings, database, health and logger of the process.
    public let context: ServiceContext
    /// The process's one connection that listens. What wants to be woken by it registers before it runs.
    public let doorbells: Doorbells
    /// The service's own log.
    public let log: Log
    /// The log in which the service asks itself, by its timers for example; nil where it has no timers.
    public let due: Log?
}

extension DomainProgram {
    /// session-client's.
    public static var commands: LogName { LogName(schema: "session_client", table: "\(schema)_commands") }

    /// None.
    public static var forgetting: [String] { [] }

    /// None.
    public static func companions(_ bus: DomainBus) throws -> [any Service] { [] }

    /// How it handles commands.
    public static var settings: [any SettingDeclaration] { ConsumerSettings.declared }

    /// Handles commands until told to stop.
    public static func services(_ context: ServiceContext) throws -> [any Service] {
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

    /// What of it can be configured.
    public static var declared: [any SettingDeclaration] {
        [workersSetting, batchSetting, leaseSetting, leastTimeSetting]
    }

    /// As configured; ``declared`` must be among the program's settings.
    public init(_ settings: Settings) {
        self.init()
        workers = settings[Self.workersSetting]
        limits.batch = settings[Self.batchSetting]
        leaseDuration = settings[Self.leaseSetting]
        limits.leastTime = settings[Self.leastTimeSetting]
    }
}
