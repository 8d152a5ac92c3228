import Bus
import Foundation
import LedgerContract
import LedgerEdge
import LedgerService
import Postgres
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@Suite
struct FenceTests {
    /// Holds all callers until it is opened.
    private final class Gate: Sendable {
        private let open = DispatchSemaphore(value: 0)
        let waiting = Observed(0)
        private let isUsed = Mutex(true)

        func pass() {
            guard isUsed.withLock({ $0 }) else { return }
            waiting.update { $0 += 1 }
            open.wait()
        }

        func release() {
            isUsed.withLock { $0 = false }
            for _ in 0..<100 { open.signal() }
        }
    }

    /// The ledger's two logs.
    private func logs(_ fixture: LedgerFixture) async throws -> (commands: Log, log: Log) {
        let connection = try await Connection.connect(Configuration(fixture.serviceURL))
        let logs = try await connection.run { database in
            (
                try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
                try Log.open(LogName(schema: "ledger", table: "log"), database)
            )
        }
        await connection.close()
        return logs
    }

    private func consumer<Handler: BatchHandler>(
        of source: Log, schema: String, _ fixture: LedgerFixture, gate: Gate, handler: Handler
    ) throws -> Consumer<Handler> {
        let configuration = Configuration(try fixture.database.url(as: schema))
        var settings = ConsumerSettings()
        settings.workers = 1
        settings.leaseDuration = .seconds(30)
        settings.faultPoint = { if $0 == .beforeCommit { gate.pass() } }
        return Consumer(
            source: source, schema: schema, settings: settings, configuration: configuration,
            doorbells: Doorbells(configuration: configuration, logger: LedgerFixture.logger),
            logger: LedgerFixture.logger, handler: handler)
    }

    /// Has two consumers build on the same batch: the first holds its own, all but committed, and its lease is taken from
    /// it as if it had run out. Then runs `body` with both free to commit, and returns when both have ended.
    private func collide<Handler: BatchHandler>(
        _ make: (Gate) throws -> Consumer<Handler>, schema: String, _ fixture: LedgerFixture,
        _ body: () async throws -> Void
    ) async throws {
        let gate = Gate()
        let (first, second) = (try make(gate), try make(gate))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await first.run() }
            try await gate.waiting.wait("the first consumer at its commit") { $0 >= 1 ? true : nil }
            try await fixture.database.psql(
                """
                DELETE FROM \(schema).member;
                UPDATE \(schema).lease SET owner = NULL, lease_until = NULL, released = true
                """)
            group.addTask { try await second.run() }
            try await gate.waiting.wait("the second consumer at its commit") { $0 >= 2 ? true : nil }
            gate.release()
            try await body()
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
    }

    @Test("of two consumers that build on one batch, one commits and the other rolls back: nothing happens twice")
    func oneCommits() async throws {
        try await LedgerFixture.with { fixture in
            let (commands, log) = try await logs(fixture)
            try await fixture.withClient { client in
                async let outcome = client.post(
                    PostEntry(client: "a", n: 1, amount: 5), for: .new(), patience: .patience)
                try await collide(
                    {
                        try consumer(
                            of: commands, schema: "ledger", fixture, gate: $0,
                            handler: CommandHandler(LedgerStore(), log: log))
                    }, schema: "ledger", fixture
                ) {
                    try await fixture.wait(for: "one to commit", "SELECT count(*) FROM ledger.batch") { $0 >= 1 }
                }
                let ended = try await outcome
                #expect(ended.kind == .accepted)
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 1)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.batch") == 1)
            try await LedgerInvariants(fixture).check()
        }
    }

    /// When an entry is posted, post another: what it causes has no outcome that would be there only once.
    private struct Echo: Policy {
        let commands: LogName
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

    @Test("of two replicas that run a policy on one batch, one commits: its commands are in the log once, in order")
    func policyCommitsOnce() async throws {
        try await LedgerFixture.with { fixture in
            let (commands, log) = try await logs(fixture)
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let account = AccountID.new()
                for n in Int64(1)...3 {
                    try await client.expectAccepted(n, for: account)
                }
            }
            await service.end()
            try await collide(
                {
                    try consumer(
                        of: log, schema: "ledger_client", fixture, gate: $0,
                        handler: PolicyHandler(Echo(commands: commands.name), logs: [commands]))
                }, schema: "ledger_client", fixture
            ) {
                try await fixture.wait(
                    for: "the policy to have come to the log's end",
                    "SELECT coalesce(max(position), 0) FROM ledger_client.batch"
                ) { $0 == 3 }
            }
            let told = try await fixture.database.psql(
                """
                SELECT string_agg(body ->> 'n', ',' ORDER BY position) FROM ledger_client.ledger_commands
                 WHERE body ->> 'client' = 'echo'
                """
            ).trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(told == "1,2,3")
            #expect(try await fixture.number("SELECT count(*) FROM ledger_client.batch") == 1)
        }
    }

    @Test("a new owner ends all sessions of the previous one, even idle ones that hold no lock")
    func takeoverEndsSessions() async throws {
        try await LedgerFixture.with { fixture in
            let paused = try await fixture.startService(leaseMilliseconds: 1000, workers: 1)
            try await fixture.wait(
                for: "all leases to be taken", "SELECT count(*) FROM ledger.lease WHERE owner IS NOT NULL"
            ) { $0 == 4 }
            let owner = try await fixture.database.psql("SELECT DISTINCT owner FROM ledger.lease")
                .trimmingCharacters(in: .whitespacesAndNewlines)
            let sessions = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'ledger/\(owner)%'"
            #expect(try await fixture.number(sessions) > 0)
            paused.send(.stop)
            let other = try await fixture.startService(leaseMilliseconds: 1000, workers: 1)
            // Stopped, it can't close them itself, and no time-out of the server is on an idle session.
            try await fixture.wait(for: "the stopped owner's sessions to end", sessions) { $0 == 0 }
            paused.send(.resume)
            try await fixture.withClient { client in
                for _ in 0..<16 {
                    try await client.expectAccepted(1, for: .new())
                }
            }
            await paused.end()
            await other.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test(
        """
        a paused service loses its partitions within the lease time and can't commit when it wakes, even holding a \
        lock
        """,
        arguments: [false, true])
    func pausedServiceIsFenced(holdsLock: Bool) async throws {
        try await withRandom { random in
            let seeds = (0..<8).map { _ in random.fork() }
            try await LedgerFixture.with { fixture in
                let history = LedgerHistory()
                let done = Observed(0)
                // Stops itself in the middle of a batch; with the lock: after its append was sent, before its COMMIT.
                let paused = try await fixture.startService(
                    fault: "\(holdsLock ? "stopWithLock" : "stop"):5", leaseMilliseconds: 1000)
                try await fixture.withClient { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, seed) in seeds.enumerated() {
                            group.addTask {
                                try await history.call(
                                    client, as: "caller\(number)", account: .new(), count: 100, random: seed, done: done
                                )
                            }
                        }
                        try await paused.waitForLine(containing: "stops itself")
                        let before = done.value
                        let other = try await fixture.startService(leaseMilliseconds: 1000)
                        // All callers go on, even those that waited for the paused one's partitions and locks.
                        try await done.wait("all entries") { $0 >= 800 ? true : nil }
                        #expect(before < 800)
                        paused.send(.resume)
                        try await group.waitForAll()
                        // Awake again it takes part as before.
                        try await history.call(
                            client, as: "late", account: .new(), count: 20, random: SeededRandom(seed: 1), done: done)
                        await other.end()
                        try await history.call(
                            client, as: "later", account: .new(), count: 20, random: SeededRandom(seed: 2), done: done)
                    }
                }
                await paused.end()
                try await history.check(fixture)
            }
        }
    }

    @Test("when the answer to a COMMIT is lost, the result is looked up, not guessed")
    func unknownCommits() async throws {
        try await withRandom { random in
            let seeds = (0..<8).map { _ in random.fork() }
            try await PrivateCluster.with { postgres in
                var fixture = try LedgerFixture(try await TestDatabase.make(.ledger, on: postgres.cluster()))
                let relay = try Relay(to: try postgres.socketFolder())
                defer { relay.stop() }
                fixture.serviceURL += " host='\(relay.socketFolder)'"
                let history = LedgerHistory()
                let service = try await fixture.startService()
                let prepared = fixture
                try await prepared.withClient { client in
                    for cut in 1...20 {
                        relay.cut(cut.isMultiple(of: 2) ? .answer : .request, to: "COMMIT\u{0}")
                        try await withThrowingTaskGroup(of: Void.self) { group in
                            for (number, seed) in seeds.enumerated() {
                                group.addTask {
                                    try await history.call(
                                        client, as: "caller\(number)/\(cut)", account: .new(), count: 5, random: seed)
                                }
                            }
                            try await group.waitForAll()
                        }
                        try await relay.waitForCut(cut)
                    }
                }
                await service.end()
                try await history.check(fixture)
            }
        }
    }
}
