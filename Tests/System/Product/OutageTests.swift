import EdgeClient
import ServiceKit
import TestKit
import Testing

/// PostgreSQL goes and comes back.
@Suite("End to end: outages", .serialized, .timeLimit(.minutes(60)))
struct OutageTests {
    @Test("when PostgreSQL restarts under load, everything accepted is there and every service recovers by itself")
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
                try await Quartet.migrate(url)
                for service in Quartet.Service.allCases where service != .session { try await quartet.start(service) }
                let (anna, bob) = try await quartet.signUp("anna", "bob")
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
                        #expect("\(answer.body)".contains("can't reach the database"), "\(answer)")
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

/// Events that the policies can't read.
@Suite("End to end: events from a newer sender", .timeLimit(.minutes(60)))
struct NewerSenderTests {
    @Test("an unknown event holds back nothing else of its key, and waits until an operator discards it")
    func unknownEvent() async throws {
        try await Quartet.with { quartet in
            let (anna, bob, carla) = try await quartet.signUp("anna", "bob", "carla")
            let carlaSees = try await LiveView.open(carla)
            let key = "account/\(anna.account)"
            _ = try await quartet.psql(
                """
                SELECT contacts.log_append(
                    ARRAY[contacts.log_partition_of('\(key)')], ARRAY[1], ARRAY[1], ARRAY['event'], ARRAY['ContactForetold'], ARRAY[7::smallint],
                    ARRAY['\(key)'], ARRAY['\(anna.account)'::uuid], ARRAY['{}'::json], ARRAY[gen_random_uuid()],
                    ARRAY[NULL::uuid], ARRAY[NULL::text], ARRAY[NULL::uuid], ARRAY[NULL::uuid], ARRAY[NULL::uuid],
                    ARRAY[NULL::text], ARRAY[NULL::bigint]);
                SELECT pg_notify('contacts.log', '');
                """)
            let parked = "SELECT count(*) FROM session_client.parked WHERE key = '\(key)' AND attempts"
            try await quartet.wait(for: "the event to be parked", "\(parked) > 0") { $0.hasPrefix("1") }
            try await anna.add(bob)
            try await carla.add(bob)
            try await carlaSees.wait("being told of her contact") { $0.data["type"] == "NotificationDelivered" }
            try await quartet.wait(
                for: "Anna to be told",
                "SELECT count(*) FROM notifications.notification WHERE account = '\(anna.account)'"
            ) { $0.hasPrefix("1") }
            let waiting = try await quartet.psql("SELECT string_agg(type, ' ') FROM session_client.parked")
            #expect(waiting == "ContactForetold")

            _ = try await quartet.psql("SELECT session_client.discard_parked('contacts.log', '\(key)', 'a test')")
            try await quartet.wait(
                for: "the event to be given up", "SELECT count(*) FROM session_client.dead_letter WHERE kind = 'event'"
            ) { $0.hasPrefix("1") }
            let letter = try await quartet.psql(
                "SELECT code, type, version FROM session_client.dead_letter WHERE kind = 'event'")
            #expect(letter.hasPrefix("discarded|ContactForetold|7"))
            #expect(try await quartet.psql("SELECT count(*) FROM session_client.parked").hasPrefix("0"))
        }
    }
}

extension Quartet {
    /// Starts a service that won't be ready.
    func startUnready(_ service: Service) async throws { try await start(service) }

    /// Waits until a service's readiness is as expected.
    func waitForReadiness(of service: Service, status: Int) async throws -> EdgeClient.Reply {
        for _ in 0..<2400 {
            let reply = try await readiness(of: service)
            if reply.status == status { return reply }
            try await Task.sleep(for: .milliseconds(50))
        }
        throw TimedOut("\(service.rawValue) did not answer \(status) within two minutes")
    }
}
