import EdgeClient
import Postgres
import Synchronization
import TestKit
import Testing

/// A doorbell is a hint from anybody who may connect.
@Suite("End to end: doorbells", .timeLimit(.minutes(60)))
struct DoorbellTests {
    /// Payloads that no service sends: numbers outside the partitions, too many of them, or nonsense.
    private static let payloads =
        [
            "8", "-1", "0,8", "0,-1", "2147483647", "2147483648", "-2147483648", "9223372036854775807",
            "99999999999999999999999", "", ",", "0,", ",0", "0,,0", " 0", "0 ", "+0", "-0", "00", "0x1", "1e3", "0.5",
            "NaN", "nil", "session.log", "contacts.member", "🛎️", "١", "e\u{301}", "\u{202E}0", "'; --",
            "{\"partition\": 8}",
        ] + [
            String(repeating: "0,", count: 3999) + "0", String(repeating: "9", count: 7999),
            String(repeating: ",", count: 7999), String(repeating: "é", count: 3999),
        ]

    @Test("all four services go on and answer, whatever a NOTIFY says on whichever channel")
    func fuzz() async throws {
        try await Quartet.with { quartet in
            let (anna, bob) = try await quartet.signUp("anna", "bob")
            try await anna.add(bob)
            let bobSees = try await LiveView.open(bob)
            // Every log's, and those by which workers of one service hear of each other.
            let channels = try await quartet.psql(
                """
                SELECT n.nspname || '.' || left(c.relname, -length('_partition'))
                  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE c.relkind = 'r' AND c.relname LIKE '%\\_partition'
                 UNION SELECT n.nspname || '.member' FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE c.relkind = 'r' AND c.relname = 'member'
                """
            ).split(whereSeparator: \.isNewline).map(String.init)
            #expect(
                Set(channels).isSuperset(of: ["session.log", "session_client.session_commands", "contacts.member"]))

            let ringer = try await Connection.connect(Configuration(quartet.databaseURL(as: "quartet_reader")))
            for payload in Self.payloads {
                try await ringer.run { database in
                    for channel in channels { try database.execute("SELECT pg_notify(\(channel), \(payload))") }
                }
            }
            try await withRandom { random in
                let seed = random.fork()
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    group.addTask {
                        var random = seed
                        while !Task.isCancelled {
                            let (channel, payload) = try #require(Self.ring(channels, &random))
                            try await ringer.run { _ = try $0.execute("SELECT pg_notify(\(channel), \(payload))") }
                        }
                        return false
                    }
                    for service in Quartet.Service.allCases {
                        let process = try quartet.process(of: service)
                        group.addTask {
                            let status = try await process.waitForExit(within: .seconds(600))
                            throw ServiceEnded(service: service, status: status)
                        }
                    }
                    group.addTask {
                        try await Self.live(anna, bob, bobSees)
                        return true
                    }
                    while try await group.next() == false {}
                    group.cancelAll()
                }
            }
            await ringer.close()
        }
    }

    /// Commands of each service, followed on a stream to their ends.
    private static func live(_ anna: Device, _ bob: Device, _ bobSees: LiveView) async throws {
        for version in 1...40 {
            let nickname = "Anna \(version)"
            try await bob.act(
                "UpdateContact",
                [
                    "contact": .string(anna.account), "expectedVersion": .int(Int64(version)),
                    "nickname": .string(nickname),
                ])
            try await anna.act(
                "UpdateProfile",
                [
                    "expectedVersion": .int(Int64(version)),
                    "name": version.isMultiple(of: 2) ? "Anna" : "Annabella",
                ])
            try await bobSees.wait("the change") { $0.data["body"]["contact"]["nickname"].string == nickname }
        }
        // Through a policy to notifications, and an operation through all of them.
        try await anna.act("SendPing", ["contact": .string(bob.account)])
        try await bobSees.wait(notification: "pingReceived")
        let operation = try await bob.operate("ClearAllReceivedPings", ["checkIn": true])
        #expect(operation["state"] == "done")
    }

    private struct ServiceEnded: Error {
        let service: Quartet.Service
        let status: ChildProcess.ExitStatus
    }

    /// One of the payloads above, or numbers in a list.
    private static func ring(_ channels: [String], _ random: inout SeededRandom) -> (String, String)? {
        guard let channel = channels.randomElement(using: &random) else { return nil }
        if random.oneIn(2) { return payloads.randomElement(using: &random).map { (channel, $0) } }
        let numbers = (0..<Int.random(in: 1...20, using: &random)).map { _ in
            Int64.random(in: random.oneIn(4) ? .min ... .max : -2...20, using: &random)
        }
        return (channel, numbers.map(String.init).joined(separator: ","))
    }
}
