import Foundation
import TestKit
import Testing

@Suite("Test databases")
struct TestDatabaseTests {
    private static let template = DatabaseTemplate(
        "kit", services: [.init("kit"), .init("kit_reader", readers: ["kit"])]
    ) {
        try await $0.psql("CREATE TABLE kit.thing AS SELECT 42 AS number")
    }

    @Test("each test has its own, with what the template has", arguments: 1...4)
    func own(number: Int) async throws {
        try await TestDatabase.with(Self.template) { database in
            #expect(try await database.psql("SELECT number FROM kit.thing") == "42")
            try await database.psql("UPDATE kit.thing SET number = \(number)")
            #expect(try await database.psql("SELECT number FROM kit.thing") == "\(number)")
        }
    }

    @Test("the roles that may connect are the product's")
    func privileges() async throws {
        try await TestDatabase.with(Self.template) { database in
            let mayConnect = try await database.psql(
                """
                SELECT string_agg(rolname, ' ' ORDER BY rolname) FROM pg_roles
                WHERE rolname LIKE 'kit%' AND has_database_privilege(rolname, current_database(), 'CONNECT')
                """)
            #expect(mayConnect == "kit kit_reader")
            let maySee = try await database.psql("SELECT has_schema_privilege('kit', 'kit_reader', 'USAGE')")
            #expect(maySee == "t")
        }
    }

    @Test("it is gone afterwards, even after a failure and with a connection open")
    func gone() async throws {
        struct Failed: Error {}
        let name = Observed("")
        await #expect(throws: Failed.self) {
            try await TestDatabase.with(Self.template) { database in
                name.update { $0 = database.name }
                throw Failed()
            }
        }
        let left = try await TestCluster.shared().psql(
            "SELECT count(*) FROM pg_database WHERE datname = '\(name.value)'")
        #expect(left == "0")
    }

    @Test("a script that fails says where")
    func failingScript() async throws {
        let error = await #expect(throws: TestCluster.Failure.self) {
            try await TestCluster.shared().psql("SELECT 1/0 AS no")
        }
        #expect(error?.description.contains("division by zero") == true)
    }

    @Test("a private cluster survives kill -9 with what was committed, and leaves nothing")
    func privateCluster() async throws {
        let folder = try await PrivateCluster.with { postgres in
            let database = try await TestDatabase.make(Self.template, on: postgres.cluster())
            try await database.psql("INSERT INTO kit.thing VALUES (43)")
            try await postgres.crash()
            try await postgres.start()
            #expect(try await database.psql("SELECT sum(number) FROM kit.thing") == "85")
            try await postgres.stop(.immediate)
            try await postgres.start()
            #expect(try await database.psql("SELECT sum(number) FROM kit.thing") == "85")
            return try postgres.socketFolder()
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }

    @Test("the relay loses the answer to a COMMIT that was done")
    func lostAnswer() async throws {
        try await PrivateCluster.with { postgres in
            let database = try await TestDatabase.make(Self.template, on: postgres.cluster())
            let relay = try Relay(to: postgres.socketFolder())
            defer { relay.stop() }
            let throughRelay = TestDatabase(
                name: database.name, cluster: TestCluster(superuserURL: "host=\(relay.socketFolder) user=postgres"))
            #expect(try await throughRelay.psql("SELECT number FROM kit.thing") == "42")

            relay.cut(.answer, to: "COMMIT")
            await #expect(throws: TestCluster.Failure.self) {
                try await throughRelay.psql("BEGIN; UPDATE kit.thing SET number = 1; COMMIT")
            }
            try await relay.waitForCut()
            #expect(try await database.psql("SELECT number FROM kit.thing") == "1")

            relay.cut(.request, to: "COMMIT")
            await #expect(throws: TestCluster.Failure.self) {
                try await throughRelay.psql("BEGIN; UPDATE kit.thing SET number = 2; COMMIT")
            }
            try await relay.waitForCut(2)
            #expect(try await database.psql("SELECT number FROM kit.thing") == "1")
        }
    }
}

@Suite("Seeds")
struct SeedTests {
    @Test("the same seed gives the same numbers, another seed others")
    func repeats() {
        func numbers(_ seed: UInt64) -> [UInt64] {
            var random = SeededRandom(seed: seed)
            return (0..<10).map { _ in random.next() }
        }
        #expect(numbers(1) == numbers(1))
        #expect(numbers(1) != numbers(2))
    }

    @Test("a failure names its seed")
    func named() async throws {
        struct Failed: Error {}
        let error = await #expect(throws: FailedWithSeed.self) {
            try await withRandom(seed: 7) { _ in throw Failed() }
        }
        #expect(error?.description.contains("TEST_SEED=7") == true)
    }
}
