import Foundation
import Postgres
import ServiceKit
import TestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("A service's executable")
struct ServiceProgramTests {
    private static let bootstrapped = DatabaseTemplate("example", services: [.init("example")])
    private static let migrated = DatabaseTemplate("example_migrated", services: [.init("example")]) { database in
        try await ChildProcess.with("example", ["migrate"], environment: ["DATABASE_URL": try database.url]) {
            try await $0.waitForExit(.exited(0))
        }
    }

    private func run(
        _ database: TestDatabase, _ arguments: [String] = [], environment: [String: String] = [:],
        _ body: (ChildProcess) async throws -> Void
    ) async throws {
        let environment = environment.merging(["DATABASE_URL": try database.url]) { $1 }
        try await ChildProcess.with("example", ["run"] + arguments, environment: environment, body)
    }

    private func get(_ path: String, of child: ChildProcess) async throws -> (status: Int, body: String) {
        let line = try await child.waitForLine(containing: "serving health and metrics")
        let start = try #require(line.text.firstRange(of: "http://"))
        let served = try #require(URL(string: String(line.text[start.lowerBound...].prefix { $0 != " " })))
        let (data, response) = try await URLSession.shared.data(
            from: try #require(URL(string: path, relativeTo: served)))
        let status = try #require((response as? HTTPURLResponse)?.statusCode)
        return (status, String(decoding: data, as: UTF8.self))
    }

    @Test("--help tells commands, settings and their variables")
    func help() async throws {
        try await ChildProcess.with("example", ["--help"]) { child in
            try await child.waitForExit(.exited(0))
            let text = child.lines(on: .output).joined(separator: "\n")
            for part in ["migrate", "--greeting TEXT", "GREETING", "--database-url URL", "DATABASE_PASSWORD_FILE"] {
                #expect(text.contains(part))
            }
        }
    }

    @Test(
        "what is wrong on the command line ends it with a sentence", arguments: [[], ["fly"], ["run", "--port", "1"]])
    func usage(arguments: [String]) async throws {
        try await ChildProcess.with("example", arguments) { child in
            try await child.waitForExit(.exited(64))
            #expect(child.lines(on: .error).allSatisfy { $0.contains("--help") })
        }
    }

    @Test("a password in a flag is refused, and not repeated")
    func passwordInFlag() async throws {
        try await ChildProcess.with("example", ["run", "--database-url", "postgresql://me:hunter2@db/x"]) { child in
            try await child.waitForExit(.exited(64))
            #expect(!child.logTail().contains("hunter2"))
        }
    }

    @Test("runs when the schema is there, is ready, and ends gracefully")
    func graceful() async throws {
        try await TestDatabase.with(Self.migrated) { database in
            try await run(database, ["--greeting", "good morning"], environment: ["LOG_FORMAT": "text"]) { child in
                try await child.waitForLine(containing: "text=\"good morning\"")
                let ready = try await get("/health/ready", of: child)
                #expect(ready.status == 200)
                #expect(ready.body == #"{"checks":{"database":"ready","greeter":"ready"},"status":"ready"}"# + "\n")
                child.send(.terminate)
                try await child.waitForExit(.exited(0))
                try await child.waitForLine(containing: "goodbye")
            }
        }
    }

    @Test("it isn't ready before its services have said what they check")
    func readyLast() async throws {
        try await TestDatabase.with(Self.migrated) { database in
            try await run(database) { try await $0.waitForLine(containing: "beginning ready=false") }
        }
    }

    @Test("a second signal ends it at once")
    func impatient() async throws {
        try await TestDatabase.with(Self.migrated) { database in
            try await run(database, ["--greeting", "stubborn"]) { child in
                try await child.waitForLine(containing: "text=stubborn")
                child.send(.interrupt)
                try await child.waitForLine(containing: "stopping")
                child.send(.interrupt)
                try await child.waitForExit(.exited(130))
            }
        }
    }

    @Test("waits for its schema, says what to do, is alive but not ready, and recovers by itself")
    func waitsForMigrations() async throws {
        try await TestDatabase.with(Self.bootstrapped) { database in
            try await run(database) { child in
                try await child.waitForLine(
                    containing: "schema example lacks 0001-thing.sql; apply them: example migrate")
                let ready = try await get("/health/ready", of: child)
                #expect(ready.status == 503)
                #expect(ready.body.contains("apply them: example migrate"))
                #expect(try await get("/health/live", of: child).status == 200)
                try await ChildProcess.with("example", ["migrate"], environment: ["DATABASE_URL": try database.url]) {
                    try await $0.waitForExit(.exited(0))
                }
                try await child.waitForLine(containing: "greeting")
                #expect(try await get("/health/ready", of: child).status == 200)
            }
        }
    }

    @Test("waits for PostgreSQL, says so once, and can be ended while it waits")
    func waitsForServer() async throws {
        try await PrivateCluster.with { postgres in
            let database = try await TestDatabase.make(Self.migrated, on: postgres.cluster())
            try await postgres.stop()
            try await run(database) { child in
                try await child.waitForLine(containing: "waiting for the database: can't connect to PostgreSQL")
                try await postgres.start()
                try await child.waitForLine(containing: "greeting")
                let said = child.lines().filter { $0.contains("waiting for the database") }
                #expect(Set(said.map { $0.dropFirst(24) }).count == said.count)
            }
            try await postgres.stop()
            try await run(database) { child in
                try await child.waitForLine(containing: "waiting for the database")
                child.send(.terminate)
                try await child.waitForExit(.exited(0))
            }
        }
    }

    @Test("a PostgreSQL before 15 is refused with what to do, by migrate and by run, which goes on when it is upgraded")
    func tooOld() async throws {
        try await PrivateCluster.with { postgres in
            let database = try await TestDatabase.make(Self.migrated, on: postgres.cluster())
            let relay = try Relay(to: try postgres.socketFolder())
            defer { relay.stop() }
            relay.pretend(majorVersion: "14")
            let environment = ["DATABASE_URL": "dbname=\(database.name) port=5432 host='\(relay.socketFolder)'"]
            try await ChildProcess.with("example", ["migrate"], environment: environment) { child in
                try await child.waitForExit(.exited(1))
                #expect(child.lines().contains { $0.contains("PostgreSQL 15 or newer; this server is") })
            }
            try await ChildProcess.with("example", ["run"], environment: environment) { child in
                try await child.waitForLine(
                    containing: "waiting for the database: Quartet needs PostgreSQL 15 or newer")
                let ready = try await get("/health/ready", of: child)
                #expect(ready.status == 503 && ready.body.contains("15 or newer"))
                relay.pretend(majorVersion: nil)
                try await child.waitForLine(containing: "greeting")
            }
        }
    }

    @Test("a port in use ends it with a sentence")
    func portInUse() async throws {
        try await TestDatabase.with(Self.migrated) { database in
            try await run(database) { first in
                let line = try await first.waitForLine(containing: "serving health and metrics")
                let url = try #require(line.text.split(separator: "url=").last.flatMap { URL(string: String($0)) })
                try await run(database, ["--admin-port", "\(try #require(url.port))"]) { second in
                    #expect(try await second.waitForExit() == .exited(1))
                    try await second.waitForLine(containing: "in use or forbidden; choose another: --admin-port")
                }
            }
        }
    }
}
