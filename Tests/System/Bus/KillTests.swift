import Bus
import Foundation
import LedgerEdge
import Postgres
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@Suite(.serialized)
struct KillTests {
    /// Callers that work through the disturbance, and the check of everything at the end.
    private func load(
        _ fixture: LedgerFixture, callers: Int, count: Int, random: inout SeededRandom,
        disturb: @escaping @Sendable (Observed<Int>, Int) async throws -> Void
    ) async throws {
        let history = LedgerHistory()
        let done = Observed(0)
        let accounts = (0..<max(1, callers / 2)).map { _ in AccountID.new() }
        let seeds = (0..<callers).map { _ in random.fork() }
        try await fixture.withClient { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (number, seed) in seeds.enumerated() {
                    group.addTask {
                        // Two callers share each account: their entries are mixed, each one's own stay in order.
                        try await history.call(
                            client, as: "caller\(number)", account: accounts[number % accounts.count], count: count,
                            random: seed, done: done)
                    }
                }
                group.addTask { try await disturb(done, callers * count) }
                try await group.waitForAll()
            }
        }
        try await history.check(fixture)
    }

    @Test("every entry is posted once, in order, through 200 kills at random and at named points of a batch")
    func killedTwoHundredTimes() async throws {
        try await withRandom { random in
            let seed = random.fork()
            try await LedgerFixture.with { fixture in
                try await load(fixture, callers: 16, count: 400, random: &random) { done, total in
                    var random = seed
                    for kill in 1...200 {
                        let point = FaultPoint.allCases.randomElement(using: &random) ?? .beforeCommit
                        let isNamed = kill % 2 == 0
                        let service = try await fixture.startService(
                            fault: isNamed ? "\(point.rawValue):\(Int.random(in: 1...6, using: &random))" : nil,
                            leaseMilliseconds: 300, batch: 8)
                        let before = done.value
                        if isNamed, before < total {
                            // Dies by itself as soon as it has work; idle polls keep it coming to the points.
                            _ = try? await service.waitForExit(within: .seconds(3))
                        } else {
                            let goal = before + Int.random(in: 1...20, using: &random)
                            _ = try? await done.wait("some entries", within: .seconds(3)) {
                                $0 >= min(goal, total) ? true : nil
                            }
                        }
                        service.send(.kill)
                        await service.end()
                    }
                    let last = try await fixture.startService()
                    try await done.wait("all entries") { $0 >= total ? true : nil }
                    await last.end()
                }
            }
        }
    }

    @Test("every entry is posted once, in order, while backends of service and client are terminated at random")
    func terminatedBackends() async throws {
        try await withRandom { random in
            let seed = random.fork()
            try await LedgerFixture.with { fixture in
                let service = try await fixture.startService()
                try await load(fixture, callers: 16, count: 300, random: &random) { done, total in
                    var random = seed
                    var goal = 0
                    while done.value < total, goal < total {
                        goal += Int.random(in: 20...120, using: &random)
                        let next = min(goal, total)
                        try await done.wait("entries") { $0 >= next ? true : nil }
                        // Listener, worker, appender, tail and pool alike, whatever they are in the middle of.
                        try await fixture.database.psql(
                            """
                            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                             WHERE datname = current_database() AND usename IN ('ledger', 'ledger_client')
                               AND random() < 0.5
                            """)
                    }
                }
                await service.end()
            }
        }
    }

    @Test("nothing acknowledged is lost and nothing happens twice when PostgreSQL is stopped and killed under load")
    func crashedServer() async throws {
        try await withRandom { random in
            try await PrivateCluster.with(isDurable: true) { postgres in
                let fixture = try LedgerFixture(try await TestDatabase.make(.ledger, on: postgres.cluster()))
                let service = try await fixture.startService()
                try await load(fixture, callers: 16, count: 250, random: &random) { done, total in
                    for (part, isKilled) in [(4, false), (2, true)] {
                        try await done.wait("entries") { $0 >= total / part ? true : nil }
                        if isKilled { try await postgres.crash() } else { try await postgres.stop(.immediate) }
                        try await postgres.start()
                    }
                }
                await service.end()
            }
        }
    }

    @Test("a service that never hears a doorbell is slower and loses nothing")
    func doorbellsOff() async throws {
        try await withRandom { random in
            let seeds = (0..<8).map { _ in random.fork() }
            try await LedgerFixture.with { fixture in
                let service = try await fixture.startService(listens: false)
                let history = LedgerHistory()
                try await fixture.withClient(listens: false) { client in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for (number, seed) in seeds.enumerated() {
                            group.addTask {
                                try await history.call(
                                    client, as: "caller\(number)", account: .new(), count: 3, random: seed,
                                    patience: .seconds(20))
                            }
                        }
                        try await group.waitForAll()
                    }
                }
                await service.end()
                try await history.check(fixture)
            }
        }
    }
}
