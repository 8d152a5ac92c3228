import EdgeClient
import ServiceKit
import TestKit
import Testing

/// PostgreSQL is there and says nothing.
@Suite("End to end: patience", .serialized, .timeLimit(.minutes(60)))
struct PatienceTests {
    /// More than the ten seconds that the API promises, by what a busy machine may take. Without the promise, there is no answer
    /// while PostgreSQL is frozen, which it is until all have come.
    private static let guardTime: Duration = .seconds(90)
    /// A time is promised here, so a time is measured, although tests assert none otherwise. It is that of the fastest answer of
    /// each kind, since a busy machine may hold up any of them, and twice the promise, since it may hold up all.
    private static let fastest: Duration = .seconds(20)

    @Test(
        """
        while PostgreSQL is frozen, commands are answered by 202 and reads by 503; afterwards each command is done \
        once
        """)
    func frozen() async throws {
        try await PrivateCluster.with { cluster in
            let server = try cluster.cluster()
            try await server.psql("CREATE DATABASE quartet TEMPLATE template0 ENCODING 'UTF8'")
            try await server.psql(
                file: Products.deploy("bootstrap.sql"), variables: ["database": "quartet"], database: "quartet")
            let url = try server.url(database: "quartet")
            try await Quartet.migrate(url)
            try await Quartet.with(databaseURL: url) { quartet in
                let anna = try await quartet.signUp("anna")
                let other = try await Device.signIn("anna", at: quartet.edge)
                let commands = Self.commands.map {
                    (name: $0.name, body: $0.body, service: $0.service, key: EdgeClient.newKey())
                }
                let operationKey = EdgeClient.newKey()

                try cluster.freeze()
                let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                    for command in commands {
                        group.addTask {
                            try await Self.answer(
                                anna, "POST", "/v1/commands/\(command.name)", command.body, command.key)
                        }
                    }
                    group.addTask {
                        try await Self.answer(anna, "POST", "/v1/operations/RespondToAllPings", [:], operationKey)
                    }
                    // Her other device isn't known to this edge yet, so it has to be looked up.
                    for path in ["/v1/contacts", "/v1/account", "/v1/notifications", "/v1/operations"] {
                        for device in [anna, other] { group.addTask { try await Self.answer(device, "GET", path) } }
                    }
                    return try await group.reduce(into: [Answer]()) { $0.append($1) }
                }
                try cluster.thaw()

                for status in [202, 503] {
                    let times = answers.filter { $0.reply.status == status }.map(\.time)
                    #expect(try #require(times.min(), "\(status)") < Self.fastest, "\(status): \(times)")
                }
                let posts = answers.map(\.reply)
                let accepted = posts.filter { $0.status == 202 }
                #expect(accepted.allSatisfy { $0.body["code"] == "noOutcomeYet" && $0.headers["retry-after"] == "1" })
                #expect(Set(accepted.compactMap { $0.headers["idempotency-key"] }) == Set(commands.map(\.key)))
                let refused = posts.filter { $0.status != 202 }
                #expect(refused.count == 9, "\(posts)")
                for reply in refused {
                    #expect(reply.status == 503 && reply.headers["retry-after"] == "1", "\(reply)")
                    #expect(reply.body["code"] == "databaseUnavailable")
                }

                for command in commands {
                    let reply = try await anna.ask(command.name, command.body, key: command.key)
                    #expect(reply.status == 200, "\(reply)")
                    let rows = try await server.psql(
                        """
                        SELECT count(*) FROM \(command.service).log
                         WHERE command_id = '\(reply.body["command"].string ?? "")' AND outcome = 'accepted'
                        """, database: "quartet")
                    #expect(rows.hasPrefix("1"), "\(command.name): \(rows)")
                }
                _ = try await anna.operate("RespondToAllPings", key: operationKey)
            }
        }
    }

    @Test("while every connection for reads waits, a command of a device that the edge doesn't know yet is answered")
    func lookUps() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.sessionClient)
            // Longer than a read may take.
            let role = "ALTER ROLE session_client IN DATABASE \(try await quartet.psql("SELECT current_database()"))"
            for setting in ["statement_timeout", "lock_timeout"] {
                _ = try await quartet.psql("\(role) SET \(setting) = '10min'")
            }
            try await quartet.start(.sessionClient, environment: ["DATABASE_POOL": "2"])

            let release = try await quartet.hold("LOCK TABLE contacts.contact IN ACCESS EXCLUSIVE MODE")
            let ended = Observed(0)
            let reads = (0..<4).map { _ in
                Task {
                    _ = try? await bob.edge.send("GET", "/v1/contacts", token: bob.token)
                    ended.update { $0 += 1 }
                }
            }
            try await quartet.wait(
                for: "all connections for reads to wait",
                """
                SELECT count(*) FROM pg_stat_activity
                 WHERE datname = current_database() AND application_name LIKE '% reads' AND wait_event_type = 'Lock'
                """
            ) { $0 == "2" }
            let reply = try await anna.edge.send(
                "POST", "/v1/commands/UpdateProfile", body: ["expectedVersion": 1, "name": "Anne"], token: anna.token,
                key: EdgeClient.newKey())
            #expect(reply.status == 200, "\(reply)")
            #expect(ended.value == 0, "the command waited until a read was given up")
            await release()
            for read in reads { await read.value }
        }
    }

    private static let commands: [(name: String, body: JSON, service: String)] = [
        ("UpdateProfile", ["expectedVersion": 1, "name": "Anne"], "session"),
        ("SetContactApproval", ["isRequired": true], "contacts"),
        ("CheckIn", [:], "session"),
    ]

    private struct Answer: Sendable {
        let reply: EdgeClient.Reply
        /// How long it took.
        let time: Duration
    }

    private static func answer(
        _ device: Device, _ method: String, _ path: String, _ body: JSON? = nil, _ key: String? = nil
    ) async throws -> Answer {
        let begun = ContinuousClock.now
        let reply = try await withDeadline(guardTime, "an answer to \(method) \(path)") {
            try await device.edge.send(method, path, body: body, token: device.token, key: key)
        }
        return Answer(reply: reply, time: ContinuousClock.now - begun)
    }
}
