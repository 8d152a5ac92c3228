import EdgeClient
import TestKit
import Testing

/// An alarm from its beginning to its all-clear, over HTTP and in the rows that it leaves.
@Suite("End to end: alarms", .timeLimit(.minutes(60)))
struct AlarmTests {
    @Test(
        """
        everyone who heard of a missed check-in hears of its end once, whatever their settings and role are by then; \
        one id joins all of it (A1, S32)
        """)
    func allClear() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            let (anna, carl, dora) = try await quartet.signUp("anna", "carl", "dora")
            for responder in [anna, carl] { try await responder.add(bob, isMyResponder: true) }
            try await bob.act("CheckIn")
            try await quartet.missCheckIn(of: bob)
            let annaSees = try await LiveView.open(anna)
            for responder in [anna, carl] { try await responder.wait(toHear: "dependentCheckInMissed") }

            // Dora becomes a responder while it is on, Anna wants to hear nothing any more, Carl is no responder any more.
            try await dora.add(bob)
            try await dora.wait(toHear: "dependentCheckInMissed")
            try await anna.act(
                "UpdateContact",
                [
                    "contact": .string(bob.account), "expectedVersion": 1, "notifyOnMissedCheckIn": false,
                    "notifyOnCheckIn": false,
                ])
            try await carl.act(
                "UpdateContact", ["contact": .string(bob.account), "expectedVersion": 1, "iAmResponder": false])
            let on = try await anna.card(of: bob)["person"]["checkIn"]
            try await bob.act("CheckIn")
            let cleared = try await annaSees.wait(notification: "dependentCheckedInLate")
            for responder in [anna, carl, dora] { try await responder.wait(toHear: "dependentCheckedInLate") }
            try await quartet.waitUntilQuiet()
            for responder in [anna, carl, dora] {
                let kinds = try await responder.kinds()
                #expect(kinds.count { $0 == "dependentCheckInMissed" } == 1)
                #expect(kinds.count { $0 == "dependentCheckedInLate" } == 1)
                // The one before it was missed, of which Dora didn't know.
                #expect(kinds.count { $0 == "dependentCheckedIn" } == (responder.account == dora.account ? 0 : 1))
            }
            // One id joins what session noticed, what contacts relayed and what everybody was notified of.
            let alarm = try #require(cleared["notification"]["details"]["alarm"].string)
            let after = try await anna.card(of: bob)["person"]["checkIn"]
            #expect(on["missed"] == true && on["alarm"].string == alarm)
            #expect(after["missed"] == false && after["alarm"] == .null)
            let joined = try await quartet.everything(aboutAlarm: alarm)
            #expect(
                joined
                    == "AlarmEnded 3, AlertRelayed 2, CheckInMissed 1, CheckedIn 1, ResponderAlerted 3, checkInMissed 1, "
                    + "dependentCheckInMissed 3, dependentCheckedInLate 3")
            let left = try await quartet.psql(
                "SELECT (SELECT count(*) FROM contacts.alarm) + (SELECT count(*) FROM contacts.alarm_recipient)")
            #expect(left == "0")
        }
    }

    @Test("an alert ends for a responder who is removed or blocked, and for all when the account closes (A1, S34)")
    func ended() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            let (anna, carl, dora) = try await quartet.signUp("anna", "carl", "dora")
            for responder in [anna, carl, dora] { try await responder.add(bob) }
            try await bob.act("RaiseAlert")
            for responder in [anna, carl, dora] { try await responder.wait(toHear: "dependentAlertRaised") }
            let (card, told) = try await (
                dora.card(of: bob)["person"], dora.read("/v1/notifications")["notifications"][0]
            )
            #expect(
                card["alertAlarm"].string != nil && card["alertAlarm"] == told["details"]["alarm"], "\(card) \(told)")
            try await anna.act("RemoveContact", ["contact": .string(bob.account)])
            try await bob.act("BlockContact", ["contact": .string(carl.account)])
            for responder in [anna, carl] { try await responder.wait(toHear: "dependentAlarmEnded") }
            let early = try await dora.kinds()
            #expect(!early.contains("dependentAlarmEnded"))
            try await bob.close()
            try await dora.wait(toHear: "dependentAlarmEnded")
            try await quartet.waitUntilQuiet()
            for responder in [anna, carl, dora] {
                let ends = try await responder.kinds().count { $0 == "dependentAlarmEnded" }
                #expect(ends == 1)
            }
        }
    }
}

@Suite("End to end: what commands are about", .timeLimit(.minutes(60)))
struct CommandSubjectTests {
    @Test(
        """
        an all-clear that arrives late ends no newer alarm, and nobody is told that its person is safe; they see that, \
        and end it (S34)
        """)
    func lateAllClear() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            let first = try await bob.act("RaiseAlert")
            let key = EdgeClient.newKey()
            let about: JSON = ["alarm": first["alarm"], "pressed": first["at"]]
            try await bob.act("ClearAlert", about, key: key)
            try await anna.wait(toHear: "dependentAlertCleared")
            let second = try await bob.act("RaiseAlert")
            // Copies of the old one: under its key it has its answer, and under another one it is about something else.
            try await bob.act("ClearAlert", about, key: key)
            for late: JSON in [about, ["alarm": first["alarm"]], ["pressed": first["at"]]] {
                let refused = try await bob.ask("ClearAlert", late)
                #expect(refused.status == 409 && refused.body["code"] == "alertChanged", "\(refused)")
            }
            let account = try await bob.read("/v1/account")
            #expect(account["alertAlarm"] == second["alarm"] && account["alertRaised"] == second["at"])
            try await quartet.waitUntilQuiet()
            let kinds = try await anna.kinds()
            #expect(kinds.count { $0 == "dependentAlertRaised" } == 2 && kinds.first == "dependentAlertRaised")
            #expect(kinds.count { $0 == "dependentAlertCleared" } == 1)
            let ended = try await bob.act("ClearAlert", ["alarm": second["alarm"], "pressed": second["at"]])
            #expect(ended["alarm"] == second["alarm"])
        }
    }

    @Test("whoever hears of a late call for help sees when it was made, and when the server had it (S34)")
    func lateCall() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            let signedIn = try #require(try await bob.read("/v1/account")["devices"][0]["signedIn"].int)
            let pressed = JSON.int(signedIn - 20 * 60_000_000)
            let raised = try await bob.act("RaiseAlert", ["pressed": pressed])
            let call = raised["lateCall"]
            #expect(call["pressed"] == pressed && call["received"] != pressed)
            try await anna.wait(toHear: "dependentAlertRaised")
            let details = try await anna.read("/v1/notifications")["notifications"][0]["details"]
            #expect(details["pressed"] == pressed && details["at"] == call["received"])
            let card = try await anna.card(of: bob)["person"]["lateCall"]
            let own = try await bob.read("/v1/account")["lateCall"]
            #expect(card == call && own == call)
        }
    }

    @Test("one takes one's own call for help back before one knows of it, though it arrived after that (S34)")
    func own() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            let now = try #require(try await bob.read("/v1/account")["devices"][0]["signedIn"].int)
            // Pressed twice, a moment apart; the first one took its time.
            try await bob.act("RaiseAlert", ["pressed": .int(now)])
            try await bob.act("ClearAlert", ["pressed": .int(now + 1)])
            let cleared = try await bob.read("/v1/account")
            #expect(cleared["alertRaised"] == .null)
            // Pressed again while it is on, it isn't over by what was pressed before.
            let raised = try await bob.act("RaiseAlert", ["pressed": .int(now)])
            let again = try await bob.ask("RaiseAlert", ["pressed": .int(.max)])
            #expect(again.status == 200 && again.body["event"] == "AlertRaisedAgain")
            let late = try await bob.ask("ClearAlert", ["alarm": raised["alarm"], "pressed": .int(now - 60_000_000)])
            #expect(late.body["code"] == "alertChanged", "\(late)")
            try await bob.act("ClearAlert")
        }
    }

    @Test("an answer to a ping that was seen answers no later one, whether it goes to one or to all (S15, S27)")
    func lateAnswer() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await anna.ping(bob)
            let seen = try await bob.card(of: anna)["contact"]["incomingPing"]
            try await bob.act("RespondToPing", ["contact": .string(anna.account), "sent": seen])
            // The pause between two pings is made to be over.
            _ = try await quartet.psql(
                """
                UPDATE contacts.relation SET low_last_ping_at = low_last_ping_at - interval '1 hour',
                                             high_last_ping_at = high_last_ping_at - interval '1 hour'
                """)
            try await anna.ping(bob)
            let late = try await bob.ask("RespondToPing", ["contact": .string(anna.account), "sent": seen])
            #expect(late.status == 200 && late.body["event"] == .null, "\(late)")
            for operation in ["RespondToAllPings", "ClearAllReceivedPings"] {
                let ended = try await bob.operate(operation, ["upTo": seen])
                #expect(ended["result"]["contacts"] == [], "\(ended)")
            }
            let waiting = try await bob.card(of: anna)["contact"]["incomingPing"]
            #expect(waiting != .null && waiting != seen)
            let ended = try await bob.operate("RespondToAllPings", ["upTo": waiting])
            #expect(ended["result"]["contacts"] == [.string(anna.account)], "\(ended)")
        }
    }
}

@Suite("End to end: floods of alerts", .timeLimit(.minutes(60)))
struct AlertFloodTests {
    @Test(
        """
        raising and clearing an alert again and again changes its state each time, but responders hear of three, and \
        a while later of one that is still on (S34)
        """)
    func flood() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            for _ in 0..<20 {
                try await bob.act("RaiseAlert")
                let card = try await bob.read("/v1/account")["alertRaised"]
                #expect(card.int != nil)
                try await bob.act("ClearAlert")
            }
            let expected = [3, 3]
            try await quartet.waitUntilQuiet()
            for (device, kinds) in [
                (bob, ["alertRaised", "alertCleared"]), (anna, ["dependentAlertRaised", "dependentAlertCleared"]),
            ] {
                let heard = try await device.kinds()
                #expect(kinds.map { kind in heard.count { $0 == kind } } == expected)
            }
            // Its minute can't be waited for, so it is made a moment, as an operator would: for all replicas at once.
            try await ChildProcess.with(
                "session", ["migrate", "--alert-pause", "100ms"],
                environment: ["DATABASE_URL": quartet.databaseURL]
            ) { try await $0.waitForExit(.exited(0)) }
            try await bob.act("RaiseAlert")
            try await quartet.wait(
                for: "Anna to hear of it",
                """
                SELECT count(*) FROM notifications.notification
                 WHERE account = '\(anna.account)' AND kind = 'dependentAlertRaised'
                """
            ) { $0 == "4" }
            try await bob.act("ClearAlert")
            try await quartet.waitUntilQuiet()
            let ends = try await anna.kinds().count { $0 == "dependentAlertCleared" }
            #expect(ends == 4)
        }
    }

    @Test("migrate refuses a number outside its limits and says what they are")
    func refused() async throws {
        try await Quartet.with(services: []) { quartet in
            for flag in [["--alert-pause", "2h"], ["--least-check-in-interval", "10ms"], ["--alert-burst", "0"]] {
                try await ChildProcess.with(
                    "session", ["migrate"] + flag, environment: ["DATABASE_URL": quartet.databaseURL]
                ) { process in
                    try await process.waitForExit(.exited(64))
                    #expect(process.lines(on: .error).contains { $0.contains("\(flag[0])") && $0.contains("must be") })
                }
            }
            let row = try await quartet.psql(
                "SELECT alert_pause, alert_burst, least_check_in_interval FROM session.limits")
            #expect(row == "00:01:00|3|01:00:00")
        }
    }
}

extension Quartet {
    /// How many events of each type and notifications of each kind are about an alarm.
    fileprivate func everything(aboutAlarm alarm: String) async throws -> String {
        try await psql(
            """
            SELECT string_agg(DISTINCT type || ' ' || count, ', ' ORDER BY type || ' ' || count)
              FROM (SELECT type, count(*)
                      FROM (SELECT type, body FROM session.log
                             UNION ALL
                            SELECT type, body FROM contacts.log) AS said
                     WHERE body ->> 'alarm' = '\(alarm)'
                     GROUP BY type
                     UNION ALL
                    SELECT kind, count(*) FROM notifications.notification
                     WHERE details ->> 'alarm' = '\(alarm)' GROUP BY kind) AS counted (type, count)
            """)
    }
}
