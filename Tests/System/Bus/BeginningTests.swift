import Bus
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import ServiceLifecycle
import TestKit
import Testing

/// A consumer of a log that was there before it.
@Suite("Consumers that come later")
struct BeginningTests {
    /// Has each entry that is posted posted again.
    private struct Echo: Policy {
        let commands: LogName
        var ignoredTypes: Set<String> = []
        var name: StaticString { "echo" }

        func commands(for event: LedgerEvent, in message: RecordedMessage) -> [PolicyCommand] {
            switch event {
            case .entryPosted(let entry):
                [
                    PolicyCommand(
                        PostEntry(client: "echo", n: entry.n, amount: entry.amount), to: commands,
                        key: message.message.key, account: message.message.account)
                ]
            }
        }
    }

    /// Runs the policy, which hears doorbells as far as its settings let it.
    private func running(
        _ fixture: LedgerFixture, ignoring types: Set<String> = [], _ change: (inout ConsumerSettings) -> Void,
        _ body: () async throws -> Void
    ) async throws {
        let configuration = Configuration(try fixture.database.url(as: "ledger_client"))
        let connection = try await Connection.connect(configuration)
        let (commands, log) = try await connection.run { database in
            (
                try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
                try Log.open(LogName(schema: "ledger", table: "log"), database)
            )
        }
        await connection.close()
        var settings = ConsumerSettings()
        change(&settings)
        let doorbells = Doorbells(configuration: configuration, logger: LedgerFixture.logger)
        let consumer = Consumer(
            source: log, schema: "ledger_client", settings: settings, configuration: configuration,
            doorbells: doorbells, logger: LedgerFixture.logger,
            handler: PolicyHandler(Echo(commands: commands.name, ignoredTypes: types), logs: [commands]))
        let services = ServiceGroup(services: [doorbells, consumer], logger: LedgerFixture.logger)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let result: Result<Void, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            try result.get()
        }
    }

    private static let places = "SELECT count(DISTINCT partition) FROM ledger_client.batch"
    private static let echoed = """
        SELECT string_agg(body ->> 'n', ',' ORDER BY position) FROM ledger_client.ledger_commands
         WHERE body ->> 'client' = 'echo'
        """

    @Test(
        """
        a policy that begins at the log's head handles nothing from before its first start, and everything after it, also what \
        comes while it is away
        """)
    func head() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            let account = AccountID.new()
            func post(_ numbers: ClosedRange<Int64>) async throws {
                try await fixture.withClient { client in
                    for n in numbers { try await client.expectAccepted(n, for: account) }
                }
            }
            try await post(1...3)
            try await running(fixture, { $0.beginsAtHead = true }) {
                try await fixture.wait(for: "a place in each partition", Self.places) { $0 == 4 }
            }
            try await post(4...5)
            await service.end()
            try await running(fixture, { ($0.beginsAtHead, $0.waitsForPolls) = (true, true) }) {
                try await fixture.wait(
                    for: "what came meanwhile",
                    "SELECT count(*) FROM ledger_client.ledger_commands WHERE body ->> 'client' = 'echo'"
                ) { $0 == 2 }
            }
            #expect(try await fixture.database.psql(Self.echoed) == "4,5")
            let gaps = """
                SELECT count(*) FROM (SELECT number - lag(number, 1, 0::bigint) OVER (PARTITION BY partition ORDER BY number) AS step
                                        FROM ledger_client.batch) AS b WHERE step <> 1
                """
            #expect(try await fixture.number(gaps) == 0)
        }
    }

    @Test("a consumer that waits for polls handles nothing between them, however often the doorbell rings")
    func polls() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await running(
                fixture, { ($0.beginsAtHead, $0.waitsForPolls, $0.idlePoll) = (true, true, .seconds(3600)) }
            ) {
                try await fixture.wait(for: "a place in each partition", Self.places) { $0 == 4 }
                let account = AccountID.new()
                try await fixture.withClient { client in
                    for n in Int64(1)...50 { try await client.expectAccepted(n, for: account) }
                }
                #expect(try await fixture.number("SELECT count(*) FROM ledger_client.batch WHERE messages > 0") <= 1)
            }
            await service.end()
        }
    }

    @Test("a backlog of many batches is handled in one poll, and what a policy ignores isn't decoded")
    func backlog() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            let account = AccountID.new()
            try await fixture.append(300, for: account)
            try await fixture.wait(for: "them to be posted", "SELECT count(*) FROM ledger.log") { $0 == 300 }
            await service.end()
            // One that nobody could decode.
            try await fixture.database.psql(
                """
                INSERT INTO ledger.log (partition, position, kind, type, version, key, body, message_id)
                SELECT partition, max(position) + 1, 'event', 'Unreadable', 1, max(key), '{}', gen_random_uuid()
                  FROM ledger.log GROUP BY partition
                """)
            try await running(
                fixture, ignoring: ["Unreadable"], { ($0.waitsForPolls, $0.idlePoll) = (true, .seconds(3600)) }
            ) {
                try await fixture.wait(
                    for: "all to be handled", "SELECT coalesce(max(position), 0) FROM ledger_client.batch"
                ) { $0 == 301 }
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger_client.parked") == 0)
            #expect(
                try await fixture.number(
                    "SELECT count(*) FROM ledger_client.ledger_commands WHERE body ->> 'client' = 'echo'") == 300)
        }
    }
}
