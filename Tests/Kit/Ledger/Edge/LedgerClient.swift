package import Bus
package import LedgerContract
package import Logging
package import Postgres
package import QuartetVocabulary
import ServiceLifecycle

/// The ledger's edge: sends commands and waits for their outcomes, as session-client does for the real services.
package struct LedgerClient: Service {
    /// Listens on both logs' channels.
    package let doorbells: Doorbells
    /// Reads the ledger's log.
    package let tail: Tail
    /// Appends commands and waits for their outcomes.
    package let sender: CommandSender
    /// Connections for reads.
    package let pool: Pool
    /// The ledger's streams.
    package let streams: StreamReader
    private let listens: Bool

    /// - Parameters:
    ///   - configuration: The database. The client logs in as `ledger_client`, whatever user this names.
    ///   - listens: False leaves doorbells unheard.
    ///   - unansweredLimit: The most commands that may be without an outcome.
    ///   - faultPoint: See ``CommandSender``.
    package init(
        configuration: Configuration, listens: Bool = true, unansweredLimit: Int = 4096,
        faultPoint: (@Sendable () -> Void)? = nil, logger: Logger
    ) async throws {
        var configuration = configuration
        configuration.parameters["user"] = "ledger_client"
        configuration.parameters["application_name"] = "ledger_client/\(OwnerID.new())"
        configuration.blockerPatience = .seconds(5)
        let (commands, log) = try await Connection.with(configuration, logger: logger) { database in
            (
                try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
                try Log.open(LogName(schema: "ledger", table: "log"), database)
            )
        }
        doorbells = Doorbells(configuration: configuration, logger: logger)
        tail = Tail(log: log, configuration: configuration, doorbells: doorbells, logger: logger)
        pool = Pool("reads", configuration: configuration, logger: logger)
        sender = CommandSender(
            to: commands, tail: tail, pool: pool, unansweredLimit: unansweredLimit, configuration: configuration,
            faultPoint: faultPoint, logger: logger)
        streams = StreamReader(tail: tail, pool: pool)
        self.listens = listens
    }

    /// Runs until it is cancelled or shut down gracefully.
    package func run() async throws {
        let services: [any Service] = [tail, sender] + (listens ? [doorbells] : [])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            try await group.waitForAll()
        }
        await pool.close()
    }

    /// Runs for as long as `body` does, which starts once the tail would miss nothing.
    package func run<Result: Sendable>(
        during body: @Sendable @escaping (LedgerClient) async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await run()
                return nil
            }
            group.addTask {
                await ready()
                return try await body(self)
            }
            while let result = try await group.next() {
                if let result {
                    group.cancelAll()
                    return result
                }
            }
            throw CancellationError()
        }
    }

    /// Returns once the tail would miss nothing.
    package func ready() async { await tail.ready() }

    /// Posts an entry and waits for the outcome.
    package func post(
        _ entry: PostEntry, for account: AccountID, id: CommandID = .new(), isUrgent: Bool = false,
        mayBeRepeated: Bool = false, patience: Duration = .seconds(60), timeToLive: Interval? = nil
    ) async throws -> Outcome {
        try await ask(
            PostEntry.type, try entry.encoded(), for: account, id: id, isUrgent: isUrgent, mayBeRepeated: mayBeRepeated,
            patience: patience, timeToLive: timeToLive)
    }

    /// Sends any command, even a malformed one, and waits for the outcome.
    package func ask(
        _ type: String, _ body: [UInt8], for account: AccountID, id: CommandID = .new(), isUrgent: Bool = false,
        mayBeRepeated: Bool = false, patience: Duration = .seconds(60), timeToLive: Interval? = nil
    ) async throws -> Outcome {
        try await sender.send(
            Message(
                kind: .command, type: type, key: .account(account), account: account, body: body, commandID: id,
                timeToLive: timeToLive),
            isUrgent: isUrgent, mayBeRepeated: mayBeRepeated, patience: patience)
    }
}
