import EdgeClient
import TestKit
import Testing

/// Closing an account.
@Suite("End to end: closing an account", .timeLimit(.minutes(60)))
struct ClosingTests {
    private static let environment = ["RETENTION_INTERVAL": "1s", "PHONE_CODES": "log"]

    @Test(
        "a closed account is closed everywhere, its contacts hear of it, and nothing of the person is left (S18)",
        arguments: [false, true])
    func closed(isKilled: Bool) async throws {
        try await Quartet.with(services: []) { quartet in
            for service in Quartet.Service.allCases { try await quartet.start(service, environment: Self.environment) }
            let bob = try await Device.signUp("bob-the-builder", name: "Robert Builder", at: quartet.edge)
            let anna = try await quartet.signUp("anna")
            try await Self.leaveTraces(of: bob, and: anna, quartet)
            let annaSees = try await LiveView.open(anna)
            let bobSees = try await LiveView.open(bob)
            let before = try #require(annaSees.lastEventID)
            if isKilled {
                try await Self.closeThroughKills(bob, quartet)
            } else {
                if let closed = try await bob.close() {
                    #expect(closed["state"] == "done" && closed["result"]["account"].string == bob.account)
                }
                // A repetition that finds him signed out can't be told how it ends.
                try await quartet.wait(
                    for: "the operation to be done",
                    """
                    SELECT state || ' ' || (result ->> 'account')
                      FROM session_client.saga WHERE type = 'CloseAccount' AND account = '\(bob.account)'
                    """
                ) { $0 == "done \(bob.account)" }
                let end = try await bobSees.wait("the end") { $0.name == "end" }
                #expect(end.data == ["reason": "signedOut", "why": "closed"])
                try await annaSees.wait("the end of Bob's card") {
                    $0.name == "person.ended" && $0.data["account"].string == bob.account
                }
            }
            try await quartet.wait(
                for: "the report, and every service to have emptied its logs",
                """
                SELECT count(*) FROM session_client.closed_account
                 WHERE account = '\(bob.account)' AND session_emptied_at IS NOT NULL AND contacts_emptied_at IS NOT NULL
                   AND notifications_emptied_at IS NOT NULL AND session_client_emptied_at IS NOT NULL
                """
            ) { $0 == "1" }
            // Others' streams keep their events: someone who comes back now still hears it.
            let annaAgain = try await LiveView.open(anna, after: before)
            try await annaAgain.wait("ContactRemoved", in: "contacts")
            let kept = try await annaAgain.wait("contacts to go on") { $0.name == "contacts.resumed" }
            #expect(kept.data == [:])
            try await Self.expectClosed(bob, for: anna, quartet)
            try await Self.expectNoTraces(of: bob, quartet)
        }
    }

    @Test(
        "closing an account waits for none of its operations that rest: it ends them and empties what they learnt (S18)"
    )
    func restingOperation() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.ping(bob)
            let allow = try await quartet.refuse(step: "summary")
            let asked = Task {
                try? await bob.edge.send(
                    "POST", "/v1/operations/ClearAllReceivedPings", token: bob.token, key: EdgeClient.newKey())
            }
            try await quartet.waitForRest(of: "ClearAllReceivedPings", because: "not this step")
            // A step that a killed process asked for, and whose end nobody has seen.
            _ = try await quartet.psql(
                """
                INSERT INTO session_client.saga_step (saga, name, number)
                SELECT id, 'left', 99 FROM session_client.saga WHERE type = 'ClearAllReceivedPings'
                """)
            _ = try await bob.close()
            try await quartet.wait(
                for: "the account to be closed",
                "SELECT state FROM session_client.saga WHERE type = 'CloseAccount'"
            ) { $0 == "done" }
            let left = try await quartet.psql(
                """
                SELECT s.state, s.last_error, count(t.result), count(*) FILTER (WHERE t.outcome IS NULL)
                  FROM session_client.saga AS s JOIN session_client.saga_step AS t ON t.saga = s.id
                 WHERE s.type = 'ClearAllReceivedPings' GROUP BY s.state, s.last_error
                """)
            #expect(left == "failed|the account was closed|0|0")
            _ = await asked.value
            try await allow()
            // Nothing is tried any more, what was decided is told, and others' operations go on.
            try await quartet.waitUntilQuiet()
            let answers = try await anna.kinds().count { $0 == "pingAnswered" }
            #expect(answers == 1)
            let annas = try await anna.operate("RespondToAllPings")
            #expect(annas["state"] == "done")
        }
    }

    /// Has Bob leave something in every service, and something of his with Anna.
    private static func leaveTraces(of bob: Device, and anna: Device, _ quartet: Quartet) async throws {
        try await anna.add(bob)
        try await bob.act(
            "UpdateContact", ["contact": .string(anna.account), "expectedVersion": 1, "nickname": "Annabelle"])
        try await bob.act("UpdateProfile", ["expectedVersion": 1, "emergencyNote": "Penicillin allergy"])
        _ = try await AvatarTests.put(try AvatarTests.png(), bob)
        try await quartet.addPhone("+4930777777", to: bob)
        _ = try await Device.signIn("bob-the-builder", device: "Roberts tablet", at: quartet.edge)
        try await bob.act("ScheduleReminder", try await bob.reminder("Water the bonsai", inHours: 2))
        try await bob.act("CheckIn")
        try await bob.act("RaiseAlert")
        try await anna.ping(bob)
        try await quartet.waitUntilQuiet()
    }

    /// Closes an account while the saga's processes are killed between its steps, so that another one goes on with it.
    private static func closeThroughKills(_ bob: Device, _ quartet: Quartet) async throws {
        try await quartet.kill(.notifications)
        let asked = Task { try await bob.close() }
        try await quartet.wait(
            for: "contacts to have closed it",
            "SELECT count(*) FROM session_client.saga_step WHERE name = 'contacts' AND outcome = 'accepted'"
        ) { $0 == "1" }
        try await quartet.kill(.sessionClient)
        try await quartet.start(.sessionClient, environment: environment)
        try await quartet.start(.notifications, environment: environment)
        _ = try await asked.value
    }

    /// Everything that comes later is refused, and Anna heard of it once.
    private static func expectClosed(_ bob: Device, for anna: Device, _ quartet: Quartet) async throws {
        let token = try await bob.edge.send("GET", "/v1/account", token: bob.token)
        #expect(token.status == 401)
        let signIn = try await quartet.edge.insist(
            "/v1/sign-in", ["handle": "bob-the-builder", "password": "a long enough password"])
        #expect(signIn.status == 401)
        let ping = try await anna.ask("SendPing", ["contact": .string(bob.account)])
        #expect(ping.status == 410 || ping.status == 404, "\(ping)")
        let handle = try await quartet.edge.insist(
            "/v1/sign-up", ["handle": "bob-the-builder", "password": "a long enough password"])
        #expect(handle.status == 409 && handle.body["code"] == "handleTaken", "it is kept for a month")
        let left = try await anna.read("/v1/contacts")["contacts"].array
        #expect(left.isEmpty)
        let removals = try await anna.kinds().count { $0 == "contactRemoved" }
        #expect(removals == 1)
    }

    /// No table contains anything of the person; only the handle is kept for a while, where others can't read it.
    private static func expectNoTraces(of bob: Device, _ quartet: Quartet) async throws {
        for word in ["Robert Builder", "Roberts tablet", "Penicillin", "Annabelle", "4930777777", "bonsai"] {
            let found = try await quartet.tablesContaining(word)
            #expect(found.isEmpty, "\(word)")
        }
        let handles = try await quartet.tablesContaining("bob-the-builder")
        // Attempts to sign in with it are counted for a day, as with any handle.
        let mayHaveIt = [
            "session.account", "session.log", "session.sign_in_attempt", "session_client.session_commands",
        ]
        #expect(Set(handles).isSubset(of: mayHaveIt))
        let rows = try await quartet.psql(
            """
            SELECT (SELECT count(*) FROM session.device WHERE account = '\(bob.account)')
                 + (SELECT count(*) FROM session.credential WHERE account = '\(bob.account)')
                 + (SELECT count(*) FROM session.avatar_chunk WHERE account = '\(bob.account)')
                 + (SELECT count(*) FROM contacts.contact WHERE account = '\(bob.account)')
                 + (SELECT count(*) FROM notifications.notification WHERE account = '\(bob.account)')
            """)
        #expect(rows == "0")
    }
}

extension Quartet {
    /// The tables of the four schemas in which a text stands, in whichever column.
    func tablesContaining(_ text: String) async throws -> [String] {
        let tables = try await psql(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
             WHERE c.relkind = 'r' AND n.nspname IN ('session', 'contacts', 'notifications', 'session_client')
             ORDER BY 1
            """
        ).split(separator: "\n").map(String.init)
        var found: [String] = []
        for table in tables {
            let count = try await psql("SELECT count(*) FROM \(table) AS t WHERE t::text ILIKE '%\(text)%'")
            if count != "0" { found.append(table) }
        }
        return found
    }
}
