import Bus
import ServiceLifecycle
import Vocabulary

/// Handles what session-client asks of one service, by that service's store and rules.
struct CommandService<S: Store>: Service {
    let schema: String
    let store: S
    let context: ServiceContext
    private let check: Health.Check

    init(schema: String, store: S, context: ServiceContext) {
        self.schema = schema
        self.store = store
        self.context = context
        check = context.health.check("bus")
    }

    func run() async throws {
        let logs: [Log]
        do {
            logs = try await context.open(
                [
                    LogName(schema: "session_client", table: "\(schema)_commands"),
                    LogName(schema: schema, table: "log"),
                ],
                reportingTo: check)
        } catch is CancellationError {
            return
        }
        let doorbells = Doorbells(configuration: context.database, logger: context.logger)
        doorbells.report(to: check)
        let consumer = Consumer(
            source: logs[0], schema: schema, settings: ConsumerSettings(context.settings),
            configuration: context.database, doorbells: doorbells, logger: context.logger,
            handler: CommandHandler(store, log: logs[1]))
        try await context.runTogether([doorbells, consumer])
    }
}
