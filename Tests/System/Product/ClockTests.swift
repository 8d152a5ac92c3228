import EdgeClient
import TestKit
import Testing

/// Machines whose clocks are wrong.
@Suite("End to end: clocks", .timeLimit(.minutes(60)))
struct ClockTests {
    @Test(
        "an edge ten minutes slow and one ten minutes fast work together, tell the same time, and report how far off they are (M8)"
    )
    func skewedEdges() async throws {
        try await Quartet.with { quartet in
            let slow = try await quartet.startAnother(.sessionClient, environment: Products.clock(aheadBy: -600))
            let fast = try await quartet.startAnother(.sessionClient, environment: Products.clock(aheadBy: 600))
            for (number, replica) in [slow, fast].enumerated() {
                try await replica.waitForLine(containing: "this machine's clock and the database's differ")
                let others = try await quartet.edge(of: number == 0 ? fast : slow)
                let here = try await Device.signUp("anna-\(number)", at: try await quartet.edge(of: replica))
                // A token lasts fifteen minutes; the other edge's clock is twenty away.
                for device in [here, Device(here, at: others), Device(here, at: quartet.edge)] {
                    _ = try await device.read("/v1/account")
                    let reply = try await EdgeClient.untilFinal {
                        try await device.edge.send(
                            "POST", "/v1/commands/SetCheckInInterval", body: ["interval": 3_600_000_000],
                            token: device.token)
                    }
                    #expect(reply.status == 200, "\(reply)")
                    try await device.operate("RespondToAllPings")
                    try await Self.checkTime(of: device, in: quartet)
                    let sees = try await LiveView.open(device)
                    try await device.act("ResetContactCode")
                    try await sees.wait("ContactCodeReset", in: "contacts")
                }
            }
            await slow.end()
            await fast.end()
        }
    }

    @Test(
        """
        an edge whose clock is two days off signs people up and in, runs operations and says who is in a session, and \
        judges a request's age by the database's clock (M8)
        """, arguments: [-2, 2])
    func daysOff(days: Int) async throws {
        try await Quartet.with { quartet in
            let replica = try await quartet.startAnother(
                .sessionClient, environment: Products.clock(aheadBy: days * 86_400))
            let edge = try await quartet.edge(of: replica)
            let anna = try await Device.signUp("anna", name: "Anna", at: edge)
            for device in [anna, try await Device.signIn("anna", at: edge)] {
                try await device.operate("RespondToAllPings")
                // Keys that the edge makes up.
                for path in ["operations/RespondToAllPings", "commands/MarkAllRead"] {
                    let reply = try await EdgeClient.untilFinal {
                        try await edge.send("POST", "/v1/\(path)", token: device.token)
                    }
                    #expect(reply.status == 200, "\(path): \(reply)")
                }
            }
            let group = try await Group.create(by: anna)
            let view = try await LiveView.open(anna, following: [group])
            try await quartet.wait(
                for: "the connection to be known",
                "SELECT count(*) FROM session.group_connection WHERE group_id = '\(group.id)'"
            ) { $0.hasPrefix("1") }
            await view.close()

            let early = try await edge.insist(
                "/v1/operations/RespondToAllPings", nil, token: anna.token, key: EdgeClient.newKey(daysFromNow: 2))
            #expect(early.body["code"] == "idTooOld", "\(early)")
            let late = try await edge.insist(
                "/v1/sign-in", ["handle": "anna", "password": "a long enough password", "deviceName": "tablet"],
                key: EdgeClient.newKey(daysFromNow: -2))
            #expect(late.body["code"] == "idTooOld", "\(late)")
            await replica.end()
        }
    }

    /// Positions that devices compute at different edges would otherwise differ by what the edges' clocks do.
    private static func checkTime(of device: Device, in quartet: Quartet) async throws {
        func databaseTime() async throws -> Int64 {
            try #require(Int64(try await quartet.psql("SELECT session.microseconds(clock_timestamp())")))
        }
        let before = try await databaseTime()
        let time = try await device.read("/v1/time")
        let after = try await databaseTime()
        let (received, sent) = (try #require(time["received"].int), try #require(time["sent"].int))
        #expect(received <= sent)
        // Asked for the time, a database takes a second at most to be believed.
        #expect((before - 500_000...after + 500_000).contains(received), "\(before) \(received) \(sent) \(after)")
    }

    @Test("operations of one account run in the order of the requests, even when the clock goes back")
    func lanes() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await quartet.kill(.contacts)
            let asked = ["ClearAllReceivedPings", "RespondToAllPings"]
            var waiting: [Task<Void, Never>] = []
            for (number, operation) in asked.enumerated() {
                waiting.append(
                    Task {
                        _ = try? await quartet.edge.send(
                            "POST", "/v1/operations/\(operation)", token: anna.token, key: EdgeClient.newKey())
                    })
                try await quartet.wait(for: "it to be written down", "SELECT count(*) FROM session_client.saga") {
                    $0.hasPrefix("\(number + 1)")
                }
            }
            try await quartet.wait(
                for: "the first one's command",
                "SELECT count(*) FROM session_client.contacts_commands WHERE type = 'ClearReceivedPings'"
            ) { $0 == "1" }
            // The one that was asked for later was written down by a clock that had been set back.
            try await quartet.kill(.sessionClient)
            for task in waiting { await task.value }
            _ = try await quartet.psql(
                """
                UPDATE session_client.saga
                   SET started_at = started_at - interval '1 hour', next_attempt = next_attempt - interval '1 hour'
                 WHERE type = 'RespondToAllPings'
                """)
            try await quartet.start(.contacts)
            // So the first one needn't rest, and gives way to nothing.
            try await quartet.wait(
                for: "its outcome",
                """
                SELECT count(*) FROM contacts.outcome AS o
                  JOIN session_client.contacts_commands AS c ON c.command_id = o.command_id
                 WHERE c.type = 'ClearReceivedPings'
                """
            ) { $0 == "1" }
            try await quartet.start(.sessionClient)
            try await quartet.wait(
                for: "both to be done", "SELECT count(*) FROM session_client.saga WHERE state = 'done'"
            ) { $0.hasPrefix("2") }
            let order = try await quartet.psql(
                "SELECT string_agg(type, ',' ORDER BY ended_at) FROM session_client.saga")
            #expect(order.hasPrefix(asked.joined(separator: ",")), "\(order)")
        }
    }
}
