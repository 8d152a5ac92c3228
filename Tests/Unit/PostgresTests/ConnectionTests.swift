import Foundation
import Postgres
import Synchronization
import TestKit
import Testing

@Suite
struct ConnectionTests {
    private func withConnection<Value: Sendable>(
        _ body: (Connection, TestDatabase) async throws -> Value
    ) async throws -> Value {
        try await TestDatabase.with(.empty) { database in
            let connection = try await Connection.connect(Configuration(try database.url))
            do {
                let value = try await body(connection, database)
                await connection.close()
                return value
            } catch {
                await connection.close()
                throw error
            }
        }
    }

    @Test("SQLSTATE, detail, hint, constraint and table reach the error")
    func serverErrors() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                try database.executeScript(
                    "CREATE TABLE t (n int CONSTRAINT n_is_unique UNIQUE); INSERT INTO t VALUES (1)")
                do {
                    try database.execute("INSERT INTO t VALUES (1)")
                    Issue.record("twice")
                } catch PostgresError.server(let error) {
                    #expect(error.sqlState == "23505" && error.constraint == "n_is_unique" && error.table == "t")
                    #expect(error.detail == "Key (n)=(1) already exists.")
                }
                do {
                    try database.execute("SELECT nothing_like_this(1)")
                    Issue.record("found")
                } catch PostgresError.server(let error) { #expect(error.sqlState == "42883" && error.hint != nil) }
                // The connection is as good as before.
                #expect(try database.query("SELECT count(*) FROM t").only?.decode(0, as: Int.self) == 1)
            }
        }
    }

    @Test("a transaction commits when its body returns and rolls back when it throws")
    func transactions() async throws {
        struct Stop: Error {}
        try await withConnection { connection, _ in
            try await connection.run { database in
                try database.execute("CREATE TABLE t (n int)")
                try database.transaction { _ = try $0.execute("INSERT INTO t VALUES (1)") }
                #expect(throws: Stop.self) {
                    try database.transaction { database in
                        try database.execute("INSERT INTO t VALUES (2)")
                        throw Stop()
                    }
                }
                #expect(database.transactionStatus == .idle)
                #expect(try database.query("SELECT count(*) FROM t").only?.decode(0, as: Int.self) == 1)
                #expect(throws: PostgresError.self) {
                    try database.transaction(readOnly: true) { _ = try $0.execute("INSERT INTO t VALUES (3)") }
                }
            }
        }
    }

    @Test("in a pipeline an error skips to the sync; the skipped know its cause; what comes after is done")
    func pipelineErrors() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                try database.execute("CREATE TABLE t (n int)")
                try database.pipeline { pipeline in
                    pipeline.query("BEGIN")
                    let good = pipeline.query("INSERT INTO t VALUES (1)")
                    let bad = pipeline.query("INSERT INTO t VALUES (\("x")::int)")
                    let skipped = pipeline.query("SELECT \(1)")
                    let commit = pipeline.commit()
                    pipeline.sync()
                    let rollback = pipeline.query("ROLLBACK")
                    pipeline.sync()
                    let after = pipeline.query("SELECT \(1)")
                    try pipeline.flush()
                    try good.check()
                    #expect(throws: PostgresError.self) { try bad.check() }
                    for pending in [skipped, commit] {
                        do {
                            try pending.check()
                            Issue.record("not skipped")
                        } catch let error as PostgresError { #expect(error.sqlState == "22P02") }
                    }
                    try rollback.check()
                    // The statement whose preparation was skipped is prepared again.
                    #expect(try after.rows().only?.decode(0, as: Int.self) == 1)
                }
                #expect(try database.query("SELECT count(*) FROM t").only?.decode(0, as: Int.self) == 0)
            }
        }
    }

    @Test("a COMMIT that the server turns into a rollback fails by the error that led to it")
    func commitTag() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                try database.pipeline { pipeline in
                    pipeline.query("BEGIN")
                    pipeline.query("SELECT 1 / \(0)")
                    pipeline.sync()
                    let commit = pipeline.commit()
                    try pipeline.flush()
                    do {
                        try commit.check()
                        Issue.record("committed")
                    } catch let error as PostgresError { #expect(error.sqlState == "22012") }
                }
            }
        }
    }

    @Test("what an aborted transaction refuses fails by the error that aborted it, until it is rolled back")
    func abortedTransaction() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                try database.pipeline { pipeline in
                    pipeline.query("BEGIN")
                    pipeline.query("SELECT 1 / \(0)")
                    try pipeline.flush()
                    let refused = pipeline.query("SELECT \(1)")
                    let skipped = pipeline.commit()
                    try pipeline.flush()
                    for pending in [refused, skipped] {
                        let error = #expect(throws: PostgresError.self) { try pending.check() }
                        #expect(error?.sqlState == "22012")
                    }
                    pipeline.query("ROLLBACK")
                    pipeline.query("SELECT 2 / \(0)")
                    pipeline.sync()
                    pipeline.query("BEGIN")
                    pipeline.query("INSERT INTO nowhere VALUES (\(1))")
                    pipeline.sync()
                    let later = pipeline.query("SELECT \(2)")
                    pipeline.sync()
                    pipeline.query("ROLLBACK")
                    try pipeline.flush()
                    let error = #expect(throws: PostgresError.self) { try later.check() }
                    #expect(error?.sqlState == "42P01")
                }
            }
        }
    }

    @Test("ten thousand queued statements with large bodies and large answers don't block each other")
    func fullBuffers() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                let body = String(repeating: "x", count: 10_000)
                let total = try database.pipeline { pipeline in
                    let pendings = (0..<10_000).map { _ in pipeline.query("SELECT \(body)") }
                    try pipeline.flush()
                    return try pendings.reduce(0) {
                        try $0 + ($1.rows().only?.decode(0, as: String.self).utf8.count ?? 0)
                    }
                }
                #expect(total == 100_000_000)
            }
        }
    }

    @Test("more different statements than are kept prepared work, in pipelines and out of them")
    func manyStatements() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                for n in 0..<600 {
                    #expect(try database.query("SELECT \(unescaped: "\(n)")").only?.decode(0, as: Int.self) == n)
                }
                let kept = try database.query("SELECT count(*) FROM pg_prepared_statements").only?.decode(
                    0, as: Int.self)
                #expect((kept ?? .max) <= 257)
            }
        }
    }

    @Test("a table that changes under a prepared statement costs one error, not the statement")
    func changedTable() async throws {
        try await withConnection { connection, _ in
            try await connection.run { database in
                try database.execute("CREATE TABLE t (n int)")
                _ = try database.query("SELECT * FROM t")
                try database.execute("ALTER TABLE t ADD COLUMN m int")
                try database.execute("INSERT INTO t VALUES (1, 2)")
                _ = try? database.query("SELECT * FROM t")
                #expect(try database.query("SELECT * FROM t").only?.decode(1, as: Int.self) == 2)
            }
        }
    }

    @Test("cancelling a task cancels its statement on the server")
    func cancels() async throws {
        try await withConnection { connection, database in
            let task = Task { try await connection.run { _ = try $0.query("SELECT pg_sleep(600)") } }
            try await withDeadline(.patience, "the statement to run") {
                while try await database.psql(
                    "SELECT count(*) FROM pg_stat_activity WHERE pid = \(connection.backendPID) AND wait_event = 'PgSleep'"
                ).trimmingCharacters(in: .whitespacesAndNewlines) != "1" {}
            }
            task.cancel()
            let result = await task.result
            #expect(throws: PostgresError.self) { try result.get() }
            let isAlive = try await connection.run { try $0.query("SELECT 1").only?.decode(0, as: Int.self) }
            #expect(isAlive == 1)
        }
    }

    @Test("a storm of cancellations never hits the statement after the cancelled one")
    func cancelStorm() async throws {
        try await withRandom { random in
            var source = random.fork()
            try await withConnection { connection, _ in
                for _ in 0..<200 {
                    let rows = Int.random(in: 1...200_000, using: &source)
                    let task = Task {
                        try await connection.run {
                            _ = try $0.query("SELECT count(*) FROM generate_series(1, \(rows))")
                        }
                    }
                    let victim = Task {
                        try await connection.run {
                            try $0.query("SELECT count(*) FROM generate_series(1, 3000)").only?.decode(0, as: Int.self)
                        }
                    }
                    if Bool.random(using: &source) { await Task.yield() }
                    task.cancel()
                    _ = await task.result
                    let count = try await victim.value
                    #expect(count == 3000)
                }
            }
        }
    }

    @Test("a terminated backend is a lost connection, noticed also by one that is idle")
    func lost() async throws {
        try await withConnection { connection, database in
            let busy = try await Connection.connect(Configuration(try database.url))
            let task = Task { try await busy.run { _ = try $0.query("SELECT pg_sleep(600)") } }
            try await database.psql("SELECT pg_terminate_backend(\(connection.backendPID), 10000)")
            try await withDeadline(.patience, "the idle one to notice") {
                while !connection.isLost { await Task.yield() }
            }
            try await database.psql("SELECT pg_terminate_backend(\(busy.backendPID), 10000)")
            do {
                try await task.value
                Issue.record("it slept")
            } catch let error as PostgresError { #expect(error.isConnectionLost, "\(error)") }
            await busy.close()
        }
    }

    @Test(
        "a COMMIT whose answer is lost is unknown, whether it was done or not",
        arguments: [Relay.Loss.answer, .request])
    func unknownCommit(loss: Relay.Loss) async throws {
        try await PrivateCluster.with { postgres in
            let database = try await TestDatabase.make(.empty, on: postgres.cluster())
            try await database.psql("CREATE TABLE t (n int)")
            let relay = try Relay(to: try postgres.socketFolder())
            defer { relay.stop() }
            let connection = try await Connection.connect(
                Configuration(try database.url + " host='\(relay.socketFolder)'"))
            // Prepared before, so that COMMIT is one message; with its end, since READ COMMITTED is not meant.
            try await connection.run { try $0.transaction { _ = try $0.query("SELECT") } }
            relay.cut(loss, to: "COMMIT\u{0}")
            do {
                try await connection.run { database in
                    try database.transaction { _ = try $0.execute("INSERT INTO t VALUES (1)") }
                }
                Issue.record("it was told")
            } catch let error as PostgresError {
                guard case .commitUnknown = error else { throw error }
            }
            await connection.close()
            let count = try await database.psql("SELECT count(*) FROM t").trimmingCharacters(
                in: .whitespacesAndNewlines)
            #expect(count == (loss == .answer ? "1" : "0"))
        }
    }

    @Test("several hosts: the first that answers is taken; a server that isn't there is an error that says so")
    func hosts() async throws {
        try await TestDatabase.with(.empty) { database in
            let url = try database.url
            let second = try #require(url.firstMatch(of: /host='([^']*)'/)?.1)
            var configuration = Configuration(url)
            configuration.parameters["host"] = "/nowhere,\(second)"
            let connection = try await Connection.connect(configuration)
            await connection.close()
            configuration.parameters["host"] = "/nowhere"
            do {
                _ = try await Connection.connect(configuration)
                Issue.record("connected")
            } catch PostgresError.connectFailed {}
        }
    }

    @Test("settings begin with the session, whatever is in them; a password is never shown")
    func configuration() async throws {
        try await TestDatabase.with(.empty) { database in
            var configuration = Configuration(try database.url)
            configuration.settings = ["statement_timeout": "1234ms", "application_name": "a b\\c"]
            let connection = try await Connection.connect(configuration)
            let (timeout, name) = try await connection.run {
                try $0.query("SELECT current_setting('statement_timeout'), current_setting('application_name')").only?
                    .decode(String.self, String.self) ?? ("", "")
            }
            #expect(timeout == "1234ms" && name == "a b\\c")
            await connection.close()
        }
        #expect(!"\(Configuration("postgresql://me:secret@host/db"))".contains("secret"))
        #expect(!"\(Configuration("host=h password=secret"))".contains("secret"))
        for unreadable in ["postgresql://me:secret%@host/db", "postgres:/me:secret@host/db?sslmode=disable"] {
            let error = await #expect(throws: PostgresError.self) {
                _ = try await Connection.connect(Configuration(unreadable))
            }
            guard case .connectFailed(let reason)? = error else {
                Issue.record("\(error.map { "\($0)" } ?? "connected")")
                continue
            }
            #expect(!reason.contains("secret"), "\(reason)")
        }
    }
}
