public import Bus
public import Logging
public import Postgres
public import ServiceLifecycle
public import Vocabulary

/// The ledger's edge: what asks and waits, as session-client does for the real services.
public struct LedgerClient: Service {
    /// Of both logs.
    public let doorbells: Doorbells
    /// Of the ledger's log.
    public let tail: Tail
    /// Asks and waits.
    public let sender: CommandSender
    /// For reads.
    public let pool: Pool
    /// The ledger's streams.
    public let streams: StreamReader
    private let logger: Logger
    private let listens: Bool

    /// - Parameters:
    ///   - listens: false leaves the doorbells unheard.
    ///   - unansweredLimit: commands without an outcome, at most.
    ///   - faultPoint: as for ``CommandSender``.
    public init(
        configuration: Configuration, listens: Bool = true, unansweredLimit: Int = 4096,
        faultPoint: (@Sendable () -> Void)? = nil, logger: Logger
    ) async throws {
        var configuration = configuration
        configuration.parameters["user"] = "ledger_client"
        configuration.parameters["application_name"] = "ledger_client/\(OwnerID.new())"
        configuration.blockerPatience = .seconds(5)
        let connection = try await Connection.connect(configuration, logger: logger)
        let (commands, log) = try await connection.run { database in
            (
                try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
                try Log.open(LogName(schema: "ledger", table: "log"), database)
            )
        }
        await connection.close()
        doorbells = Doorbells(configuration: configuration, logger: logger)
        tail = Tail(log: log, configuration: configuration, doorbells: doorbells, logger: logger)
        pool = Pool("reads", configuration: configuration, logger: logger)
        sender = CommandSender(
            to: commands, tail: tail, pool: pool, unansweredLimit: unansweredLimit, configuration: configuration,
            faultPoint: faultPoint, logger: logger)
        streams = StreamReader(tail: tail, pool: pool)
        self.logger = logger
        self.listens = listens
    }

    /// Works until it is cancelled or shut down gracefully.
    public func run() async throws {
        let services: [any Service] = [tail, sender] + (listens ? [doorbells] : [])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            try await group.waitForAll()
        }
        await pool.close()
    }

    /// Returns when it would miss nothing.
    public func ready() async { await tail.ready() }

    /// Asks for an entry and waits for the outcome.
    public func post(
        _ entry: PostEntry, for account: AccountID, id: CommandID = .new(), mayBeRepeated: Bool = false,
        patience: Duration = .seconds(10), timeToLive: Interval? = nil
    ) async throws -> Outcome {
        try await ask(
            PostEntry.type, try entry.encoded(), for: account, id: id, mayBeRepeated: mayBeRepeated, patience: patience,
            timeToLive: timeToLive)
    }

    /// Asks for anything at all and waits for the outcome.
    public func ask(
        _ type: String, _ body: [UInt8], for account: AccountID, id: CommandID = .new(), mayBeRepeated: Bool = false,
        patience: Duration = .seconds(10), timeToLive: Interval? = nil
    ) async throws -> Outcome {
        try await sender.send(
            Message(
                kind: .command, type: type, key: .account(account), account: account, body: body, commandID: id,
                timeToLive: timeToLive),
            mayBeRepeated: mayBeRepeated, patience: patience)
    }
}
