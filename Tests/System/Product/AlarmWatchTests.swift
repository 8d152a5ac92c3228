import EdgeClient
import TestKit
import Testing

/// The system times its own alarms, and says so when one is stuck.
@Suite("End to end: alarms that are late", .timeLimit(.minutes(60)))
struct AlarmWatchTests {
    @Test(
        """
        an alarm that isn't handed on within seconds is reported where it is stuck, without making the edge unready, until \
        it is delivered; each leg of its way is timed (A1)
        """)
    func stuck() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = (try await quartet.signUp("bob"), try await quartet.signUp("anna"))
            try await anna.add(bob, isMyResponder: true)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.contacts)
            try await quartet.missCheckIn(of: bob)
            // On a busy machine it may be late on its way there, too.
            let late = try await quartet.waitForAlarms { $0.contains("session_client.contacts_commands") }
            #expect(late.status == 200, "\(late)")
            let reason = late.body["checks"]["alarms"].string ?? ""
            #expect(reason.hasPrefix("ready, but: an alarm has waited for "), "\(late)")

            try await quartet.start(.contacts)
            try await anna.wait(toHear: "dependentCheckInMissed")
            let well = try await quartet.waitForAlarms { $0 == "ready" }
            #expect(well.status == 200)
            // The edge reads by itself, after notifications delivered it.
            let counts = ["due", "decided", "relayed", "notified"].map {
                #"quartet_alarm_seconds_count{leg="\#($0)"} 1"#
            }
            let metrics = try await quartet.waitForMetrics("each leg to be timed, once") {
                Set(counts).isSubset(of: $0)
            }
            // It waited for contacts.
            #expect(metrics.contains(#"quartet_alarm_seconds_bucket{leg="relayed",le="2.5"} 0"#))
            #expect(metrics.contains("quartet_alarm_dead_letters 0"))
        }
    }

    @Test(
        """
        alarms that keep failing in the services are each reported as parked there, so that none hides another, without making \
        the edge unready, until they are delivered (A1)
        """)
    func parked() async throws {
        try await Quartet.with { quartet in
            let (anna, dora) = try await quartet.signUp("anna", "dora")
            let (bob, carl, ed) = try await quartet.signUp("bob", "carl", "edgar")
            for (responder, person) in [(anna, bob), (anna, carl), (dora, ed)] {
                try await responder.add(person)
                try await person.act("CheckIn")
            }
            try await quartet.waitUntilQuiet()
            let failing = [
                ("session", "session.log", "NEW.type = 'CheckInMissed' AND NEW.key = 'account/\(bob.account)'"),
                ("contacts", "contacts.alarm", "NEW.account = '\(carl.account)'"),
                (
                    "notifications", "notifications.notification",
                    "NEW.kind = 'dependentCheckInMissed' AND NEW.account = '\(dora.account)'"
                ),
            ]
            for (_, table, condition) in failing { try await quartet.fail("INSERT ON \(table)", when: condition) }
            for person in [bob, carl, ed] { try await quartet.moveDeadline(of: person) }
            let late = try await quartet.waitForAlarms { reason in
                failing.allSatisfy { reason.contains(" in \($0.0).parked: ") }
            }
            #expect(late.status == 200, "\(late)")
            for (_, table, _) in failing { _ = try await quartet.psql("DROP TRIGGER fail ON \(table)") }
            try await dora.wait(toHear: "dependentCheckInMissed")
            for person in [bob, carl] {
                try await anna.wait("to hear of \(person.account)") {
                    $0["kind"].string == "dependentCheckInMissed" && $0["subject"].string == person.account
                }
            }
            _ = try await quartet.waitForAlarms { $0 == "ready" }
        }
    }

    @Test(
        """
        a deadline that nobody notices, one that session doesn't come to, and a call for help that it doesn't come to are each \
        reported where they wait, in the check and in the metric, and so is that nobody can look in another service (A1)
        """)
    func unnoticed() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let (bob, carl, dora) = try await quartet.signUp("bob", "carl", "dora")
            for person in [bob, carl, dora] {
                try await anna.add(person)
                try await person.act("CheckIn")
            }
            try await quartet.waitUntilQuiet()
            let definition = try await quartet.psql(
                "SELECT pg_get_functiondef('notifications.waiting_alarms(interval)'::regprocedure)")
            _ = try await quartet.psql("DROP FUNCTION notifications.waiting_alarms(interval)")
            try await quartet.kill(.session)
            for person in [bob, carl] { try await quartet.moveDeadline(of: person) }
            let timer = "session.timer WHERE key = 'account/\(carl.account)' AND name = 'MissCheckIn'"
            try await quartet.append(
                "MissCheckIn", try await quartet.psql("SELECT body FROM \(timer)"), to: "session.due", for: carl)
            _ = try await quartet.psql("DELETE FROM \(timer)")
            try await quartet.append("RaiseAlert", "{}", to: "session_commands", for: dora)
            let places = ["session.timer", "session.due", "session_client.session_commands"]
            let late = try await quartet.waitForAlarms { reason in
                places.allSatisfy { reason.contains(" in \($0): ") }
                    && reason.contains("can't look for alarms in notifications: ")
            }
            #expect(late.status == 200, "\(late)")
            let metrics = try await quartet.metrics(of: .sessionClient)
            for place in places {
                let waits = metrics.filter { $0.hasPrefix(#"quartet_alarm_waiting_seconds{place="\#(place)"} "#) }
                    .compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }
                #expect(waits.count == 1 && waits.allSatisfy { $0 > 5 }, "\(place): \(waits)")
            }
            _ = try await quartet.psql(
                """
                SET ROLE notifications_owner;
                \(definition);
                GRANT EXECUTE ON FUNCTION notifications.waiting_alarms(interval) TO session_client
                """)
            try await quartet.start(.session)
            try await anna.wait(toHear: "dependentAlertRaised")
            try await anna.wait(toHear: "dependentCheckInMissed")
            _ = try await quartet.waitForAlarms { $0 == "ready" }
        }
    }

    @Test("an alarm that session-client can't hand on is reported as parked there, also one of unanswered pings (A1)")
    func handingOn() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            try await quartet.waitUntilQuiet()
            try await quartet.fail(
                "INSERT ON session_client.session_commands", when: "NEW.type = 'RaiseUnansweredAlert'")
            try await quartet.append(
                "PingsUnanswered", #"{"account":"\#(bob.account)","pings":[],"at":1}"#, kind: "event",
                to: "contacts.log", for: bob)
            let late = try await quartet.waitForAlarms { $0.contains(" in session_client.parked: ") }
            #expect(late.status == 200, "\(late)")
            _ = try await quartet.psql("DROP TRIGGER fail ON session_client.session_commands")
            _ = try await quartet.waitForAlarms { $0 == "ready" }
            let handed = "SELECT count(*) FROM session_client.session_commands WHERE type = 'RaiseUnansweredAlert'"
            #expect(try await quartet.psql(handed) == "1")
        }
    }

    @Test(
        "an alarm that was given up is reported until somebody decides about it, without making the edge unready (A1)")
    func givenUp() async throws {
        try await Quartet.with { quartet in
            let letter =
                try await quartet.psql(
                    """
                    INSERT INTO contacts.dead_letter (message_id, source, partition, position, kind, type, version, key, body,
                                                      code, error, attempts)
                    SELECT gen_random_uuid(), 'session_client.contacts_commands', 0, n, 'command', 'RelayAlert', 1, 'account/x',
                           json_build_object('kind', (ARRAY['checkInMissed', 'checkedIn'])[n]), 'error', 'a bug', 3
                      FROM generate_series(1, 2) AS n
                    RETURNING message_id
                    """
                ).split(separator: "\n").first.map(String.init) ?? ""
            let given = try await quartet.waitForAlarms("dead letters of alarms") { $0 != "ready" }
            #expect(given.status == 200, "\(given)")
            let reason = given.body["checks"]["dead letters of alarms"].string ?? ""
            #expect(reason.hasPrefix("ready, but: a message about an alarm was given up"), "\(given)")
            _ = try await quartet.waitForMetrics("the dead letter") { $0.contains("quartet_alarm_dead_letters 1") }
            _ = try await quartet.psql(
                """
                INSERT INTO session_client.dead_letter_decision (message_id, decision, reason)
                VALUES ('\(letter)', 'discarded', 'they were called')
                """)
            _ = try await quartet.waitForAlarms("dead letters of alarms") { $0 == "ready" }
        }
    }
}

extension Quartet {
    /// Waits until session-client's metrics are as wanted.
    fileprivate func waitForMetrics(_ what: String, until isWanted: ([String]) -> Bool) async throws -> [String] {
        var last: [String] = []
        for _ in 0..<1200 {
            last = try await metrics(of: .sessionClient)
            if isWanted(last) { return last }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw TimedOut("waited two minutes for \(what): \(last.filter { $0.contains("_alarm_") })")
    }

    /// Waits until a check of session-client reads as wanted.
    fileprivate func waitForAlarms(
        _ check: String = "alarms", until isWanted: (String) -> Bool
    ) async throws -> EdgeClient.Reply {
        var last: EdgeClient.Reply?
        for _ in 0..<1200 {
            let reply = try await readiness(of: .sessionClient)
            if isWanted(reply.body["checks"][check].string ?? "") { return reply }
            last = reply
            try await Task.sleep(for: .milliseconds(100))
        }
        throw TimedOut("waited two minutes for the check \(check) to change; last: \(last.map { "\($0)" } ?? "none")")
    }
}
