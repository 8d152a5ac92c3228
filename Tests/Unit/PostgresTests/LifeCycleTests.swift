import Dispatch
import Foundation
import Glibc
import Postgres
import TestKit
import Testing

/// Connections whose server is silent, frozen or held up, and what is left of them.
@Suite
struct LifeCycleTests {
    private static func connect(to postgres: PrivateCluster, statementTimeout: String) async throws -> Connection {
        var configuration = Configuration(try TestDatabase(name: "postgres", cluster: postgres.cluster()).url)
        configuration.settings["statement_timeout"] = statementTimeout
        return try await Connection.connect(configuration)
    }

    @Test("a server that doesn't answer is given up a little after its own time-out, and the connection with it")
    func frozenBackend() async throws {
        try await PrivateCluster.with { postgres in
            let connection = try await Self.connect(to: postgres, statementTimeout: "100ms")
            #expect(kill(connection.backendPID, SIGSTOP) == 0)
            do {
                try await connection.run { _ = try $0.execute("SELECT 1") }
                Issue.record("it answered")
            } catch PostgresError.connectionLost(let reason) { #expect(reason.contains("didn't answer")) }
            #expect(connection.isLost)
            await connection.close()
            kill(connection.backendPID, SIGCONT)
        }
    }

    @Test("a server that ignores a cancel request delays neither the answer nor the end of the connection")
    func frozenPostmaster() async throws {
        try await PrivateCluster.with { postgres in
            let connection = try await Self.connect(to: postgres, statementTimeout: "1s")
            postgres.send(.stop)
            let hasBegun = Observed(false)
            let task = Task {
                try await connection.run { database in
                    hasBegun.update { $0 = true }
                    _ = try database.query("SELECT pg_sleep(600)")
                }
            }
            try await hasBegun.wait("the query") { $0 ? true : nil }
            task.cancel()
            let result = await task.result
            #expect(throws: PostgresError.self) { try result.get() }
            await connection.close()
            postgres.send(.resume)
        }
    }

    @Test("a pool gives nobody a connection that is in a transaction", arguments: ["", "SELECT 1 / 0"])
    func transactionsLeftOpen(failing: String) async throws {
        try await TestDatabase.with(.empty) { database in
            try await database.psql("CREATE TABLE t (n int)")
            let pool = Pool("test", configuration: Configuration(try database.url), size: 1)
            for _ in 0..<2 {
                try? await pool.withConnection { database in
                    try database.execute("BEGIN")
                    try database.execute("INSERT INTO t VALUES (1)")
                    try database.executeScript(failing)
                }
                let (status, count) = try await pool.withConnection { database in
                    (
                        database.transactionStatus,
                        try database.query("SELECT count(*) FROM t").only?.decode(0, as: Int.self)
                    )
                }
                #expect(status == .idle && count == 0)
            }
            await pool.close()
        }
    }

    @Test("a failed transaction can be ended with as many statements prepared as are kept")
    func failedWithManyStatements() async throws {
        try await withDatabase { database in
            for n in 0..<255 { _ = try database.query("SELECT \(unescaped: "\(n)")") }
            try database.execute("BEGIN")
            #expect(throws: PostgresError.self) { try database.execute("SELECT 1 / 0") }
            try database.execute("ROLLBACK")
            #expect(database.transactionStatus == .idle)
        }
    }

    @Test("a connection that nobody refers to any more ends, and leaves neither a session nor a thread")
    func dropped() async throws {
        try await TestDatabase.with(.empty) { database in
            var configuration = Configuration(try database.url)
            configuration.parameters["application_name"] = "dropped"
            for _ in 0..<20 { _ = try await Connection.connect(configuration) }
            try await withDeadline(.patience, "the sessions to end") {
                while try await database.psql(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'dropped'"
                ).trimmingCharacters(in: .whitespacesAndNewlines) != "0" {}
            }
        }
    }

    // MARK: Blockers

    /// Has an impatient connection wait for the row that `holder` has locked, and returns how that ended for the holder.
    private func blocked(
        patience: Duration = .milliseconds(200),
        _ hold: @escaping @Sendable (Database, _ isLocked: () -> Void, _ waiterHasIt: DispatchSemaphore) throws -> Void
    ) async throws -> Result<Void, any Error> {
        try await TestDatabase.with(.empty) { database in
            try await database.psql("CREATE TABLE t (n int); INSERT INTO t VALUES (1)")
            var configuration = Configuration(try database.url)
            let holder = try await Connection.connect(configuration)
            configuration.blockerPatience = patience
            let waiter = try await Connection.connect(configuration)
            let isLocked = Observed(false)
            let waiterHasIt = DispatchSemaphore(value: 0)
            let holding = Task {
                try await holder.run { try hold($0, { isLocked.update { $0 = true } }, waiterHasIt) }
            }
            try await isLocked.wait("the lock") { $0 ? true : nil }
            try await waiter.run { _ = try $0.execute(Self.lock) }
            waiterHasIt.signal()
            let result = await holding.result
            await holder.close()
            await waiter.close()
            return result
        }
    }

    private static var lock: Query { "UPDATE t SET n = n + 1" }

    @Test("who holds up others while its own client is silent is ended, idle in its transaction or active")
    func silentBlockers() async throws {
        let idle = try await blocked { database, isLocked, waiterHasIt in
            try database.transaction { database in
                try database.execute(Self.lock)
                isLocked()
                waiterHasIt.wait()
            }
        }
        let active = try await blocked { database, isLocked, waiterHasIt in
            try database.pipeline { pipeline in
                let update = pipeline.query(Self.lock)
                try pipeline.receive()
                try update.check()
                isLocked()
                waiterHasIt.wait()
            }
        }
        for result in [idle, active] { #expect(throws: PostgresError.self) { try result.get() } }
    }

    @Test("who holds up others and works is left alone, however long it takes")
    func workingBlocker() async throws {
        // Between its statements it is silent for a moment, which is longer on a busy machine.
        let working = try await blocked(patience: .seconds(2)) { database, isLocked, _ in
            try database.transaction { database in
                try database.execute(Self.lock)
                isLocked()
                // Five times the waiter's patience.
                try database.execute("SELECT pg_sleep(10)")
            }
        }
        try working.get()
    }
}
