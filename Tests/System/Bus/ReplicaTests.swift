import Bus
import Foundation
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// Several replicas share the work, hand it over, and survive whatever happens to each.
@Suite("Replicas of the ledger", .serialized, .timeLimit(.minutes(60)))
struct LedgerReplicaTests {
    /// How many partitions each process's workers hold, by the process's start: its workers' ids are of one moment.
    private static let shares = """
        SELECT coalesce(string_agg(held::text, ',' ORDER BY held), '') FROM (
          SELECT count(*) AS held FROM ledger.lease AS l
            JOIN pg_stat_activity AS a ON a.application_name = 'ledger/' || l.owner::text
           WHERE l.lease_until > clock_timestamp() GROUP BY l.owner) AS shares
        """

    private func waitForShares(_ wanted: String, _ fixture: LedgerFixture) async throws {
        var last = ""
        for _ in 0..<6000 {
            last = try await fixture.database.psql(Self.shares).trimmingCharacters(in: .whitespacesAndNewlines)
            if last == wanted { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        throw Unexpected("the shares are \(last), not \(wanted)")
    }

    /// Starts a replica with leases that last twice as long as anything is waited for: only a hand-over can be in time, not
    /// the end of a lease.
    private func start(_ fixture: LedgerFixture) async throws -> ChildProcess {
        try await fixture.startService(leaseMilliseconds: Int(Duration.patience * 2 / .milliseconds(1)), workers: 1)
    }

    /// Starts two, and waits until each has half of the partitions.
    private func startTwo(_ fixture: LedgerFixture) async throws -> (ChildProcess, ChildProcess) {
        let first = try await start(fixture)
        try await waitForShares("4", fixture)
        let second = try await start(fixture)
        try await waitForShares("2,2", fixture)
        return (first, second)
    }

    /// A command for each of sixteen accounts: some in every partition.
    private func postEverywhere(_ n: Int64, _ client: LedgerClient) async throws {
        for _ in 0..<16 {
            try await client.expectAccepted(n, for: .new())
        }
    }

    @Test(
        "a killed replica's partitions are taken over once its connection is gone, a paused one's when its lease ends")
    func takeover() async throws {
        try await LedgerFixture.with { fixture in
            let (first, second) = try await startTwo(fixture)
            try await fixture.withClient { client in
                try await postEverywhere(1, client)
                second.send(.kill)
                try await second.waitForExit(.killed(.kill))
                // Long before the lease runs out: nobody would be asked in the other half of the partitions until then.
                try await postEverywhere(2, client)
                try await waitForShares("4", fixture)

                // A paused one is still connected, and keeps its partitions.
                let third = try await start(fixture)
                try await waitForShares("2,2", fixture)
                third.send(.stop)
                // The others have looked several times since.
                let renewed = "SELECT (extract(epoch FROM max(alive_until)) * 1000)::bigint FROM ledger.member"
                let before = try await fixture.number(renewed)
                try await fixture.wait(for: "the other replica to look at who is there", renewed) {
                    $0 > before + 2000
                }
                try await waitForShares("2,2", fixture)
                third.send(.resume)
                try await postEverywhere(3, client)
                await third.end()
            }
            await first.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test("partitions are shared evenly and handed over when a replica joins or leaves, long before any lease ends")
    func handover() async throws {
        try await LedgerFixture.with { fixture in
            let (first, second) = try await startTwo(fixture)
            let third = try await start(fixture)
            try await waitForShares("1,1,2", fixture)
            try await fixture.withClient { client in
                try await postEverywhere(1, client)
                second.send(.terminate)
                try await second.waitForExit(.exited(0))
                try await waitForShares("2,2", fixture)
                try await postEverywhere(2, client)
                first.send(.terminate)
                try await first.waitForExit(.exited(0))
                try await waitForShares("4", fixture)
                try await postEverywhere(3, client)
            }
            await third.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    private static let commands = Soak.count(20_000, long: 200_000)

    @Test(
        """
        through random kills, pauses and dropped connections of two replicas, each command has one outcome and one \
        effect, in order, and every subscriber sees every event once
        """)
    func chaos() async throws {
        try await withRandom { random in
            let (callers, keys) = (64, 32)
            let perCaller = max(1, Self.commands / callers)
            let accounts = (0..<keys).map { _ in AccountID.new() }
            let seeds = (0..<callers).map { _ in random.fork() }
            let readers = (0..<16).map { _ in random.fork() }
            let trouble = random.fork()
            try await LedgerFixture.with { fixture in
                let (history, done) = (LedgerHistory(), Observed(0))
                try await fixture.withClient { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, seed) in seeds.enumerated() {
                            group.addTask {
                                try await history.call(
                                    client, as: "caller\(number)", account: accounts[number % keys], count: perCaller,
                                    random: seed, patience: .seconds(5), done: done)
                            }
                        }
                        for (number, seed) in readers.enumerated() {
                            group.addTask {
                                try await StreamTests.follow(
                                    client.streams, accounts[number], until: Int64(2 * perCaller), patience: 300,
                                    random: seed)
                            }
                        }
                        group.addTask {
                            try await Self.disturb(fixture, done, until: callers * perCaller, random: trouble)
                        }
                        try await group.waitForAll()
                    }
                }
                try await history.check(fixture)
            }
        }
    }

    private static func disturb(
        _ fixture: LedgerFixture, _ done: Observed<Int>, until total: Int, random: SeededRandom
    ) async throws {
        var random = random
        func start() async throws -> ChildProcess { try await fixture.startService(leaseMilliseconds: 700) }
        var replicas = [try await start(), try await start()]
        var goal = 0
        while done.value < total {
            goal = done.value + max(50, total / 40) * Int.random(in: 1...2, using: &random)
            let next = min(goal, total)
            try await done.wait("entries") { $0 >= next ? true : nil }
            let victim = Int.random(in: 0..<2, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0, 1:
                replicas[victim].send(.kill)
                await replicas[victim].end()
                replicas[victim] = try await start()
            case 2:
                replicas[victim].send(.stop)
                // Long enough for its lease to run out and the other to take over.
                let passed = min(done.value + total / 80, total)
                _ = try? await done.wait("entries", within: .seconds(3)) { $0 >= passed ? true : nil }
                replicas[victim].send(.resume)
            default:
                try await fixture.database.psql(
                    """
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                     WHERE datname = current_database() AND usename IN ('ledger', 'ledger_client') AND random() < 0.3
                    """)
            }
        }
        for replica in replicas { await replica.end() }
    }
}
