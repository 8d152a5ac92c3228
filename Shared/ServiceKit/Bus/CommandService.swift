import Bus
import QuartetVocabulary
import ServiceLifecycle

/// Handles the commands of one service by its store and rules.
struct CommandService<S: Store>: Service {
    let schema: String
    let commands: LogName
    let store: S
    let forgetting: [String]
    let companions: @Sendable (DomainBus) throws -> [any Service]
    let context: ServiceContext
    private let check: Health.Check

    init(
        schema: String, commands: LogName, store: S, forgetting: [String],
        companions: @escaping @Sendable (DomainBus) throws -> [any Service], context: ServiceContext
    ) {
        self.schema = schema
        self.commands = commands
        self.store = store
        self.forgetting = forgetting
        self.companions = companions
        self.context = context
        check = context.health.check("bus")
    }

    func run() async throws {
        let due = LogName(schema: schema, table: "due")
        let timed = store as? any TimedStore
        let logs: [Log]
        do {
            logs = try await context.open(
                [LogName(schema: schema, table: "log"), commands] + (timed == nil ? [] : [due]), reportingTo: check)
        } catch is CancellationError {
            return
        }
        let doorbells = Doorbells(configuration: context.database, logger: context.logger)
        doorbells.report(to: check)
        let consumers = logs.dropFirst().map { source in
            Consumer(
                source: source, schema: schema, settings: context.consumerSettings(of: source),
                configuration: context.database, doorbells: doorbells, logger: context.logger,
                handler: CommandHandler(store, log: logs[0], asksItself: source.name == due))
        }
        var timers: [any Service] = []
        if let timed, let due = logs.first(where: { $0.name == due }) {
            timers = [
                Timers(
                    log: due, urgent: S.Rules.Command.urgentTimers, configuration: context.database,
                    logger: context.logger),
                TimerRepair(store: timed, due: due, configuration: context.database, logger: context.logger),
            ]
        }
        let retention = Retention(
            schema: schema, logs: logs.filter { $0.name.schema == schema }, hasOutcomes: true,
            others: ["empty_failed_secrets"] + forgetting, interval: context.settings[CommonSettings.retentionInterval],
            configuration: context.database,
            logger: context.logger)
        var services: [any Service] = [doorbells] + consumers + timers + [retention]
        services += try companions(
            DomainBus(context: context, doorbells: doorbells, log: logs[0], due: logs.first { $0.name == due }))
        try await context.runTogether(services)
    }
}
