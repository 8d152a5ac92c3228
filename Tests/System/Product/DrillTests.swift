import EdgeClient
import TestKit
import Testing

/// Drills, with the real processes.
@Suite("End to end: drills", .timeLimit(.minutes(60)))
struct EndToEndDrillTests {
    @Test(
        """
        every responder hears of a drill once, kills or not, as of no alarm, and the person on all devices; the report says for \
        whom it was ready and who answered, and nothing of what they read and on what; it is over by itself, and taken back \
        without an all-clear (A11)
        """)
    func report() async throws {
        let receiver = PushReceiver { _, _ in 200 }
        try await Quartet.with(pushingTo: receiver) { quartet in
            let (eve, anna, ben) = try await quartet.signUp("eve", "anna", "ben")
            let carl = try await quartet.signUp("carl")
            #expect(try await eve.status(of: "/v1/drill") == 404)
            let lonely = try await eve.ask("RunDrill")
            #expect(lonely.status == 409 && lonely.body["code"] == "noResponder")
            for responder in [anna, ben] { try await responder.add(eve) }
            try await carl.add(eve, isMyResponder: true, iAmResponder: false)
            try await anna.act("RegisterPush", ["token": "phone-of-anna", "platform": "ios"])
            try await quartet.waitUntilQuiet()
            let before = try await anna.kinds().count

            let key = EdgeClient.newKey()
            let began = try await eve.act("RunDrill", key: key)
            for service in [Quartet.Service.session, .contacts, .sessionClient] { try await quartet.restart(service) }
            #expect(try await eve.act("RunDrill", key: key)["drill"] == began["drill"], "it is the same one")
            for responder in [anna, ben] { try await responder.waitForDrill(began["drill"]) }
            try await quartet.waitUntilQuiet()
            try await quartet.waitUntilPushed()
            #expect(try await eve.drills().map { $0["details"]["isOwnDrill"] } == [true])
            for responder in [anna, ben] {
                #expect(try await responder.drills().count == 1)
                #expect(try await responder.card(of: eve)["person"]["alertRaised"] == nil)
            }
            #expect(try await anna.kinds().count == before + 1)
            #expect(try await carl.drills().isEmpty)
            let pushes = receiver.received.value.map { $0.body["notification"] }.filter { $0["kind"] == "system" }
            #expect(Set(pushes.map { $0["id"] }).count == 1 && pushes.allSatisfy { $0["priority"] == "normal" })
            #expect(pushes.allSatisfy { $0["details"]["drill"] == began["drill"] })
            #expect(pushes.allSatisfy { $0["details"]["text"].string?.hasPrefix("Drill") == true })

            let id = try #require(try await anna.drills().first)["id"]
            try await anna.act("ShowNotifications", ["ids": [id]])
            try await anna.act("MarkRead", ["id": id])
            let seen = try await eve.read("/v1/drill").receipt(of: anna)
            #expect(seen["notified"].int != nil && seen["answered"] == nil, "reading is no answer")
            try await anna.act("AnswerDrill", ["id": id])
            try await quartet.waitUntilQuiet()
            let report = try await eve.read("/v1/drill")
            #expect(report["drill"]["id"] == began["drill"] && report["responders"].array.count == 2)
            let (first, second) = (report.receipt(of: anna), report.receipt(of: ben))
            let start = try #require(began["began"].int) / 1_000_000
            for receipt in [first, second] {
                let ready = try #require(receipt["notified"].int)
                #expect(ready / 1_000_000 >= start && ready % 1_000_000 == 0)
            }
            let answered = try #require(first["answered"].int)
            #expect(answered / 1_000_000 >= start && answered % 1_000_000 == 0 && second["answered"] == nil)
            #expect(first["pushes"] == nil && first["shown"] == nil && first["read"] == nil)

            try await quartet.endDrill(of: eve)
            try await eve.wait("to hear that the drill is over") {
                $0["details"]["isOwnDrill"] == true && $0["details"]["drillEnds"] == nil
            }
            try await quartet.waitUntilQuiet()
            let over = try await eve.read("/v1/account")["drill"]
            #expect(over["end"] == "over" && over["ended"].int != nil)
            #expect(try await anna.kinds().count == before + 2, "there is no all-clear")
            #expect(
                try await anna.notifications().filter {
                    $0["cleared"].int == nil && $0["details"]["drillEnds"].int != nil
                }.isEmpty)
            let later = try await eve.read("/v1/drill")
            #expect(later["responders"] == report["responders"], "it says the same as while it was on")
        }
    }

    @Test(
        """
        an alarm ends a drill at once: responders hear of it as of any alarm, and don't see the drill any more; during it nobody \
        runs one (A11)
        """)
    func alarm() async throws {
        try await Quartet.with { quartet in
            let (eve, anna, ben) = try await quartet.signUp("eve", "anna", "ben")
            for responder in [anna, ben] { try await responder.add(eve) }
            let began = try await eve.act("RunDrill")
            for responder in [anna, ben] { try await responder.waitForDrill(began["drill"]) }
            let alarm = try await eve.act("RaiseAlert")["alarm"]
            for service in [Quartet.Service.contacts, .sessionClient, .notifications] {
                try await quartet.restart(service)
            }
            for responder in [anna, ben] { try await responder.wait(toHear: "dependentAlertRaised") }
            try await quartet.waitUntilQuiet()
            #expect(try await eve.read("/v1/account")["drill"]["end"] == "alarm")
            for responder in [anna, ben] {
                #expect(try await responder.drills(unread: true).isEmpty)
                let ends = try await responder.notifications().filter { $0["details"]["drill"] == began["drill"] }
                #expect(ends.count == 2 && ends.contains { $0["details"]["drillEnds"] == nil && $0["cleared"] == nil })
                let alerts = try await responder.notifications().filter { $0["kind"] == "dependentAlertRaised" }
                #expect(alerts.count == 1 && alerts[0]["details"]["alarm"] == alarm)
                #expect(alerts[0]["details"]["drill"] == nil && alerts[0]["details"]["text"] == nil)
                #expect(try await responder.card(of: eve)["person"]["alertRaised"].int != nil)
            }
            let refused = try await eve.ask("RunDrill")
            #expect(refused.status == 409 && refused.body["code"] == "alarmOn")
            try await eve.act("ClearAlert")
            for responder in [anna, ben] { try await responder.wait(toHear: "dependentAlertCleared") }
        }
    }

    @Test("an alarm of somebody else takes a drill back as well, since no push says whose it is (A11)")
    func another() async throws {
        try await Quartet.with { quartet in
            let (eve, mia, anna) = try await quartet.signUp("eve", "mia", "anna")
            for dependent in [eve, mia] { try await anna.add(dependent) }
            try await quartet.waitUntilQuiet()
            let began = try await mia.act("RunDrill")
            try await anna.waitForDrill(began["drill"])
            try await eve.act("RaiseAlert")
            try await anna.wait(toHear: "dependentAlertRaised")
            #expect(try await anna.drills(unread: true).isEmpty, "it is gone in the alarm's own transaction")
            try await mia.act("RaiseAlert")
            try await quartet.waitUntilQuiet()
            let ends = try await anna.notifications().filter {
                $0["details"]["drill"] == began["drill"] && $0["details"]["drillEnds"] == nil
            }
            #expect(ends.count == 1)
        }
    }

    @Test("whoever stops being a responder keeps no drill that they could take an alarm for, and isn't reported (A11)")
    func past() async throws {
        try await Quartet.with { quartet in
            let (eve, anna) = try await quartet.signUp("eve", "anna")
            try await anna.add(eve)
            try await quartet.waitUntilQuiet()
            let began = try await eve.act("RunDrill")
            try await anna.waitForDrill(began["drill"])
            try await eve.act("RemoveContact", ["contact": .string(anna.account)])
            try await quartet.waitUntilQuiet()
            let drill = try #require(try await anna.drills().first)
            #expect(drill["cleared"].int != nil)
            #expect(try await anna.ask("AnswerDrill", ["id": drill["id"]]).status == 404)
            #expect(try await eve.read("/v1/drill")["responders"].array.isEmpty)
        }
    }
}

extension JSON {
    /// Of a report.
    fileprivate func receipt(of device: Device) -> JSON {
        self["responders"].array.first { $0["account"].string == device.account } ?? .null
    }
}

extension Device {
    /// What is said of drills that are on.
    fileprivate func drills(unread: Bool = false) async throws -> [JSON] {
        try await notifications(unread: unread).filter { $0["details"]["drillEnds"].int != nil }
    }

    fileprivate func waitForDrill(_ drill: JSON) async throws {
        try await wait("to hear of a drill") {
            $0["details"]["drill"] == drill && $0["details"]["drillEnds"].int != nil
        }
    }

    fileprivate func status(of path: String) async throws -> Int {
        try await edge.send("GET", path, token: token).status
    }
}

extension Quartet {
    /// Lets the time of an account's drill be over now: the clock can't be moved.
    fileprivate func endDrill(of device: Device) async throws {
        _ = try await psql(
            """
            UPDATE session.account
               SET drill = jsonb_set(drill::jsonb, '{ends}', to_jsonb(session.microseconds(clock_timestamp())))::json
             WHERE account = '\(device.account)';
            UPDATE session.timer SET due_at = clock_timestamp()
             WHERE key = 'account/\(device.account)' AND name = 'EndDrill';
            """)
    }
}
