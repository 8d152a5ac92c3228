import EdgeClient
import ServiceKit
import TestKit
import Testing

/// PostgreSQL goes and comes back.
@Suite("End to end: outages", .serialized, .timeLimit(.minutes(10)))
struct OutageTests {
    @Test(
        "PostgreSQL is stopped and started under load: what was accepted is there, and everybody recovers by themselves"
    )
    func databaseRestarts() async throws {
        try await PrivateCluster.with { cluster in
            let server = try cluster.cluster()
            try await server.psql("CREATE DATABASE quartet TEMPLATE template0 ENCODING 'UTF8'")
            let url = try server.url(database: "quartet")
            try await Quartet.with(databaseURL: url, services: []) { quartet in
                // Without roles and schemas: what to do is said, and nothing gives up.
                try await quartet.startUnready(.session)
                let lacking = try await quartet.process(of: .session).waitForLine(
                    containing: "waiting for the database")
                #expect(lacking.text.contains("deploy/bootstrap.sql"))
                let unready = try await quartet.readiness(of: .session)
                #expect(unready.status == 503)

                try await server.psql(
                    file: Products.deploy("bootstrap.sql"), variables: ["database": "quartet"], database: "quartet")
                for service in Quartet.Service.allCases {
                    try await ChildProcess.with(
                        service.rawValue, ["migrate"], environment: ["DATABASE_URL": url]
                    ) { try await $0.waitForExit(.exited(0)) }
                }
                for service in Quartet.Service.allCases where service != .session { try await quartet.start(service) }
                let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
                let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
                try await anna.add(bob)
                let bobSees = try await LiveView.open(bob)

                var version: Int64 = 1
                for outage in 0..<3 {
                    try await outage == 1 ? cluster.crash() : cluster.stop(.immediate)
                    let down = try await quartet.edge.send("GET", "/v1/contacts", token: anna.token)
                    #expect(down.status == 503 && down.body["code"] == "databaseUnavailable")
                    #expect(down.headers["retry-after"] == "1")
                    for service in Quartet.Service.allCases {
                        let answer = try await quartet.waitForReadiness(of: service, status: 503)
                        #expect("\(answer.body)".contains("out of reach"), "\(answer)")
                    }
                    // Asked while it is away, done when it is back, once.
                    let asked = version
                    async let change = bob.act(
                        "UpdateContact",
                        [
                            "contact": .string(anna.account), "expectedVersion": .int(asked),
                            "nickname": .string("Anna \(outage)"),
                        ])
                    try await cluster.start()
                    _ = try await change
                    version += 1
                    for service in Quartet.Service.allCases {
                        _ = try await quartet.waitForReadiness(of: service, status: 200)
                    }
                    try await bobSees.wait("the change, on the same stream") {
                        $0.data["body"]["contact"]["nickname"].string == "Anna \(outage)"
                    }
                }
                let card = try await bob.card(of: anna)
                #expect(card["contact"]["version"] == 4)
                let changes = bobSees.all.filter { $0.data["type"] == "ContactUpdated" }
                #expect(changes.count == 3)
            }
        }
    }
}

extension Quartet {
    /// Starts a service that won't be ready.
    func startUnready(_ service: Service) async throws { try await start(service) }

    /// Waits until a service's readiness is as expected.
    func waitForReadiness(of service: Service, status: Int) async throws -> EdgeClient.Reply {
        for _ in 0..<600 {
            let reply = try await readiness(of: service)
            if reply.status == status { return reply }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("\(service.rawValue) did not answer \(status) within 30 seconds")
    }
}
