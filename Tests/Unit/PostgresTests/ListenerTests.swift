import Foundation
import Postgres
import TestKit
import Testing

@Suite
struct ListenerTests {
    @Test("a listener hears what is sent, reconnects after a loss, and says so each time")
    func reconnects() async throws {
        try await TestDatabase.with(.empty) { database in
            let heard = Observed<[String]>([])
            var configuration = Configuration(try database.url)
            configuration.parameters["application_name"] = "listener"
            let listener = Listener(configuration: configuration, channels: ["a b", "c"]) { event in
                heard.update { heard in
                    switch event {
                    case .connected: heard.append("connected")
                    case .notification(let channel, let payload): heard.append("\(channel): \(payload)")
                    case .lost: heard.append("lost")
                    }
                }
            }
            let running = Task { try await listener.run() }
            try await heard.wait("the connection") { $0.contains("connected") ? true : nil }
            try await database.psql(
                "SELECT pg_notify('a b', 'one'); SELECT pg_notify('other', 'x'); SELECT pg_notify('c', '2')")
            try await heard.wait("both") { $0.contains("c: 2") ? true : nil }
            try await database.psql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'listener'")
            try await heard.wait("the second connection") { $0.filter { $0 == "connected" }.count == 2 ? true : nil }
            try await database.psql("SELECT pg_notify('c', '3')")
            try await heard.wait("the last") { $0.contains("c: 3") ? true : nil }
            #expect(heard.value == ["connected", "a b: one", "c: 2", "lost", "connected", "c: 3"])
            running.cancel()
            _ = await running.result
        }
    }
}

@Suite
struct PoolTests {
    @Test("a pool opens no more than its size, makes the others wait, and replaces what was lost")
    func bounded() async throws {
        try await TestDatabase.with(.empty) { database in
            var configuration = Configuration(try database.url)
            configuration.parameters["application_name"] = "pool"
            let pool = Pool("test", configuration: configuration, size: 3)
            let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'pool'"
            for _ in 0..<2 {
                let seen = try await withThrowingTaskGroup(of: Int32.self) { group in
                    for _ in 0..<50 {
                        group.addTask {
                            try await pool.withConnection {
                                try $0.query("SELECT pg_backend_pid()").only?.decode(0, as: Int32.self) ?? 0
                            }
                        }
                    }
                    return try await group.reduce(into: Set()) { $0.insert($1) }
                }
                #expect(seen.count <= 3)
                #expect(pool.load.waiting == 0)
                let open = try await database.psql(count).trimmingCharacters(in: .whitespacesAndNewlines)
                #expect((Int(open) ?? .max) <= 3)
                try await database.psql(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'pool'")
                // Idle connections watch their sockets, so none of them is given out again.
                try await withDeadline(.patience, "a working connection") {
                    while (try? await pool.withConnection { _ = try $0.query("SELECT 1") }) == nil {}
                }
            }
            await pool.close()
            await #expect(throws: PostgresError.self) { try await pool.withConnection { _ = try $0.query("SELECT 1") } }
        }
    }

    @Test("when too many wait, the next is told at once")
    func exhausted() async throws {
        try await TestDatabase.with(.empty) { database in
            let pool = Pool("test", configuration: Configuration(try database.url), size: 1, waiters: 1)
            let sleepers = (0..<2).map { _ in
                Task { try await pool.withConnection { _ = try $0.query("SELECT pg_sleep(600)") } }
            }
            try await withDeadline(.patience, "one to wait") { while pool.load.waiting < 1 { await Task.yield() } }
            do {
                try await pool.withConnection { _ = try $0.query("SELECT 1") }
                Issue.record("it was let in")
            } catch let error as PostgresError { guard case .poolExhausted = error else { throw error } }
            for sleeper in sleepers {
                sleeper.cancel()
                _ = await sleeper.result
            }
            // Tasks cancelled while waiting or working left nothing behind.
            try await pool.withConnection { _ = try $0.query("SELECT 1") }
            await pool.close()
        }
    }
}

@Suite
struct BackoffTests {
    @Test("waits grow to the maximum and are spread")
    func table() {
        let backoff = Backoff(initial: .milliseconds(100), maximum: .seconds(1), multiplier: 2)
        let ceilings = (1...6).map { backoff.ceiling(attempt: $0) }
        #expect(
            ceilings == [
                .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800), .seconds(1),
                .seconds(1),
            ])
        var random = SeededRandom(seed: 1)
        let delays = (0..<1000).map { _ in backoff.delay(attempt: 3, using: &random) }
        #expect(delays.allSatisfy { $0 >= .milliseconds(40) && $0 <= .milliseconds(400) })
        #expect(Set(delays).count > 900)
        #expect(backoff.ceiling(attempt: .max) == .seconds(1))
    }
}
