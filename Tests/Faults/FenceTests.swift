import Bus
import Foundation
import Ledger
import Postgres
import Synchronization
import TestKit
import Testing
import Vocabulary

@Suite
struct FenceTests {
    /// Holds whoever comes, until it is opened.
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

    private func consumer(
        _ fixture: LedgerFixture, gate: Gate, lease: Duration = .seconds(30)
    ) async throws -> Consumer<CommandHandler<LedgerStore>> {
        let configuration = Configuration(fixture.serviceURL)
        let connection = try await Connection.connect(configuration)
        let (commands, log) = try await connection.run { database in
            (
                try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
                try Log.open(LogName(schema: "ledger", table: "log"), database)
            )
        }
        await connection.close()
        var settings = ConsumerSettings()
        settings.workers = 1
        settings.leaseDuration = lease
        settings.faultPoint = { if $0 == .beforeCommit { gate.pass() } }
        return Consumer(
            source: commands, schema: "ledger", settings: settings, configuration: configuration,
            doorbells: Doorbells(configuration: configuration, logger: LedgerFixture.logger),
            logger: LedgerFixture.logger,
            handler: CommandHandler(LedgerStore(), log: log))
    }

    @Test(
        "of two consumers that build on the same batch one commits; the other loses everything and nothing happens twice"
    )
    func oneCommits() async throws {
        try await LedgerFixture.with { fixture in
            let gate = Gate()
            let first = try await consumer(fixture, gate: gate)
            let second = try await consumer(fixture, gate: gate)
            try await fixture.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    let outcome = Observed<Outcome?>(nil)
                    group.addTask {
                        let result = try await client.post(
                            PostEntry(client: "a", n: 1, amount: 5), for: .new(), patience: .seconds(30))
                        outcome.update { $0 = result }
                    }
                    group.addTask { try await first.run() }
                    // The first holds its batch, all but committed, and its lease is taken from it as if it had run out.
                    try await gate.waiting.wait("the first consumer at its commit") { $0 >= 1 ? true : nil }
                    try await fixture.database.psql(
                        "DELETE FROM ledger.member; UPDATE ledger.lease SET owner = NULL, lease_until = NULL, released = true"
                    )
                    group.addTask { try await second.run() }
                    try await gate.waiting.wait("the second consumer at its commit") { $0 >= 2 ? true : nil }
                    gate.release()
                    let ended = try await outcome.wait("the outcome") { $0 }
                    #expect(ended.kind == .accepted)
                    group.cancelAll()
                    while let result = await group.nextResult() {
                        if case .failure(let error) = result, !(error is CancellationError) { throw error }
                    }
                }
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 1)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.batch") == 1)
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test(
        "a paused service is taken over within the lease time and can't commit when it wakes, also with a lock in its hands",
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
                        // Everybody goes on: whoever waited for the paused one's partitions and locks too.
                        try await done.wait("all entries", within: .seconds(30)) { $0 >= 800 ? true : nil }
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

    @Test("a commit whose answer is lost is looked up, not guessed")
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
