import EdgeClient
import TestKit
import Testing

/// Pings that raise an alert when they aren't answered, with the real processes.
@Suite("End to end: unanswered pings", .timeLimit(.minutes(60)))
struct EndToEndPingEscalationTests {
    private static let after: JSON = ["after": 1_800_000_000]

    @Test(
        """
        a ping that isn't answered warns its receiver, then raises one alert, kills or not; an answer gives everybody the all-clear, \
        once (A4)
        """)
    func raised() async throws {
        try await Quartet.with { quartet in
            let (anna, ben, cleo) = try await quartet.signUp("anna", "ben", "cleo")
            for responder in [ben, cleo] { try await anna.choose(responder) }
            #expect(try await anna.act("SetPingEscalation", Self.after)["after"] == 1_800_000_000)
            #expect(try await LiveView.open(anna).snapshot(of: "contacts")["pingEscalation"]["after"] == 1_800_000_000)
            #expect(try await LiveView.open(ben).snapshot(of: "contacts")["pingEscalation"] == .null)
            let sent = try #require(try await ben.act("SendPing", ["contact": .string(anna.account)])["at"].int)
            #expect(
                try await ben.card(of: anna)["contact"]["outgoingPingDue"].int.map { $0 - sent >= 1_790_000_000 }
                    == true)

            try await quartet.warnOfPings(to: anna)
            let warning = try #require(
                try await anna.warning { $0["details"]["pinger"].string == ben.account })["details"]
            #expect(warning["pinged"].int == sent && warning["alarm"] == nil)
            for service in [Quartet.Service.contacts, .session, .sessionClient] { try await quartet.restart(service) }
            try await quartet.waitUntilQuiet()
            for responder in [ben, cleo] {
                #expect(try await !responder.kinds().contains("dependentAlertRaised"))
            }

            try await quartet.endPings(to: anna)
            for service in [Quartet.Service.session, .contacts] { try await quartet.restart(service) }
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertRaised") }
            try await quartet.waitUntilQuiet()
            for responder in [ben, cleo] {
                let alerts = try await responder.alerts()
                #expect(alerts.count == 1)
                #expect(alerts.first?["details"]["pinged"].int == sent)
                // Whose ping it was is nobody's business.
                #expect(alerts.first?["details"]["pinger"].string == nil)
                #expect(try await responder.card(of: anna)["person"]["unanswered"] == ["pinged": .int(sent)])
            }
            let own = try await anna.read("/v1/account")
            #expect(own["unanswered"]["alarm"] == own["alertAlarm"] && own["alertAlarm"].string != nil)
            #expect(try await anna.kinds().count { $0 == "alertRaised" } == 1)
            #expect(try await !anna.kinds(unread: true).contains("checkInMissed"), "the warning isn't true any more")

            // Nothing comes of it any more, on either side, and the answer counts though it is taken back.
            #expect(try await anna.card(of: ben)["contact"]["incomingPingDue"].int == nil)
            #expect(try await ben.card(of: anna)["contact"]["outgoingPingDue"].int == nil)
            try await ben.act("CancelPing", ["contact": .string(anna.account)])
            try await anna.act("RespondToPing", ["contact": .string(ben.account), "sent": .int(sent)])
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertCleared") }
            try await quartet.waitUntilQuiet()
            let account = try await anna.read("/v1/account")
            #expect(account["unanswered"] == nil && account["alertRaised"] == nil)
            for responder in [ben, cleo] {
                #expect(try await responder.kinds().count { $0 == "dependentAlertCleared" } == 1)
            }
            // One a day.
            _ = try await quartet.psql("UPDATE contacts.relation SET low_last_ping_at = NULL, high_last_ping_at = NULL")
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            let due = try await anna.card(of: ben)["contact"]["incomingPingDue"].int
            #expect(due.map { $0 - sent > 86_000_000_000 } == true)
        }
    }

    @Test("an answer, a check-in, a cancellation and the end of the relation end it, and take the warning back (A4)")
    func ended() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let (ben, cleo, dora) = try await quartet.signUp("ben", "cleo", "dora")
            let eve = try await quartet.signUp("eve")
            let responders = [ben, cleo, dora, eve]
            for responder in responders { try await anna.choose(responder) }
            try await anna.act("SetPingEscalation", Self.after)
            for responder in responders { try await responder.act("SendPing", ["contact": .string(anna.account)]) }
            try await quartet.warnOfPings(to: anna)
            for responder in responders {
                _ = try await anna.warning { $0["details"]["pinger"].string == responder.account }
            }
            try await anna.act("RespondToPing", ["contact": .string(ben.account)])
            try await cleo.act("CancelPing", ["contact": .string(anna.account)])
            try await dora.act("RemoveContact", ["contact": .string(anna.account)])
            try await quartet.waitUntilQuiet()
            try await anna.act("CheckIn")
            try await quartet.waitUntilQuiet()
            #expect(try await !anna.kinds(unread: true).contains("checkInMissed"))
            try await quartet.endPings(to: anna)
            try await quartet.waitUntilQuiet()
            for responder in responders {
                #expect(try await !responder.kinds().contains("dependentAlertRaised"))
            }
            #expect(try await anna.read("/v1/account")["alertRaised"] == nil)
        }
    }

    @Test("several that are due are one alert, which a check-in ends; during an alert they are added to it (A4)")
    func several() async throws {
        try await Quartet.with { quartet in
            let (anna, ben, cleo) = try await quartet.signUp("anna", "ben", "cleo")
            for responder in [ben, cleo] { try await anna.choose(responder) }
            for responder in [ben, cleo] {
                try await anna.act(
                    "SetPingEscalation", ["contact": .string(responder.account), "after": 900_000_000])
                try await responder.act("SendPing", ["contact": .string(anna.account)])
            }
            try await quartet.endPings(to: anna)
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertRaised") }
            try await quartet.waitUntilQuiet()
            #expect(try await anna.read("/v1/account")["unanswered"]["pings"].array.count == 2)
            for responder in [ben, cleo] { #expect(try await responder.alerts().count == 1) }
            try await anna.act("CheckIn")
            for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertCleared") }
            #expect(try await anna.read("/v1/account")["alertRaised"] == nil)

            // By hand: an answer doesn't end it.
            let (dora, eve) = try await quartet.signUp("dora", "eve")
            try await dora.choose(eve)
            try await dora.act("SetPingEscalation", Self.after)
            try await dora.act("RaiseAlert")
            try await eve.act("SendPing", ["contact": .string(dora.account)])
            try await quartet.endPings(to: dora)
            try await quartet.wait(
                for: "the ping to be added",
                "SELECT unanswered #>> '{shown,isCalled}' FROM session.account WHERE account = '\(dora.account)'"
            ) { $0 == "true" }
            try await dora.act("RespondToPing", ["contact": .string(eve.account)])
            try await quartet.waitUntilQuiet()
            let account = try await dora.read("/v1/account")
            #expect(account["alertRaised"].int != nil && account["unanswered"] == nil, "it was answered")
            try await dora.act("ClearAlert")
            try await eve.wait(toHear: "dependentAlertCleared")
        }
    }

    @Test(
        """
        what falls due in quiet hours does so half an hour after their end, and its sender isn't told when; a ping from before the \
        choice raises nothing (A4)
        """)
    func quietHours() async throws {
        try await Quartet.with { quartet in
            let (anna, ben, cleo) = try await quartet.signUp("anna", "ben", "cleo")
            for responder in [ben, cleo] { try await anna.choose(responder) }
            try await cleo.act("SendPing", ["contact": .string(anna.account)])
            try await anna.act("SetPingEscalation", Self.after)
            let now = try #require(try await anna.read("/v1/time")["received"].int)
            // From before now until three hours after.
            let minute = Int64(now / 60_000_000 % 1440)
            let hours: JSON = ["from": .int((minute + 1380) % 1440), "to": .int((minute + 180) % 1440)]
            #expect(try await anna.act("SetPingQuietHours", ["quietHours": hours])["quietHours"] == hours)
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            let due = try #require(try await anna.card(of: ben)["contact"]["incomingPingDue"].int)
            #expect((due / 60_000_000 % 1440 - minute - 180 + 2880) % 1440 >= 30 && due - now > 10_000_000_000)
            #expect((due / 60_000_000 % 1440 - minute - 180 + 2880) % 1440 <= 36)
            let seen = try await ben.card(of: anna)["contact"]
            #expect(seen["outgoingPingDue"].int == nil && seen["isOutgoingPingLater"] == true)
            #expect(try await anna.card(of: cleo)["contact"]["incomingPingDue"].int == nil)
            try await quartet.endPings(to: anna)
            try await quartet.waitUntilQuiet()
            let pings = try await anna.read("/v1/account")["unanswered"]["pings"].array
            #expect(pings.map { $0["contact"].string } == [ben.account])
        }
    }

    @Test("an all-clear answers what was asked before, a used-up ping makes room, and only a call by hand is one (A4)")
    func allRight() async throws {
        try await Quartet.with { quartet in
            let (anna, ben) = try await quartet.signUp("anna", "ben")
            try await anna.choose(ben)
            try await anna.act("SetPingEscalation", Self.after)
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            try await quartet.waitUntilQuiet()
            try await anna.act("RaiseAlert")
            try await ben.wait(toHear: "dependentAlertRaised")
            try await anna.act("ClearAlert")
            try await ben.wait(toHear: "dependentAlertCleared")
            try await quartet.waitUntilQuiet()
            let used = try await ben.card(of: anna)["contact"]
            #expect(used["outgoingPing"].int != nil && used["outgoingPingDue"].int == nil)
            try await quartet.endPings(to: anna)
            try await quartet.waitUntilQuiet()
            #expect(try await anna.read("/v1/account")["alertRaised"] == nil)

            // Another takes its place.
            _ = try await quartet.psql("UPDATE contacts.relation SET low_last_ping_at = NULL, high_last_ping_at = NULL")
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            #expect(try await anna.card(of: ben)["contact"]["incomingPingDue"].int != nil)
            try await quartet.endPings(to: anna)
            try await quartet.wait(
                for: "the alert",
                "SELECT unanswered #>> '{shown,alarm}' IS NOT NULL FROM session.account WHERE account = '\(anna.account)'"
            ) { $0 == "t" }
            #expect(try await anna.read("/v1/account")["unanswered"]["isCalled"] == nil)
            try await anna.act("RaiseAlert")
            #expect(try await anna.read("/v1/account")["unanswered"]["isCalled"] == true)
        }
    }

    @Test(
        "after her all-clear an answer to an old ping hides no newer one; one of which nothing comes makes room (A4)")
    func laterPings() async throws {
        try await Quartet.with { quartet in
            let (anna, ben, cleo) = try await quartet.signUp("anna", "ben", "cleo")
            for responder in [ben, cleo] { try await anna.choose(responder) }
            try await anna.act("SetPingEscalation", Self.after)
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            try await quartet.endPings(to: anna)
            try await cleo.wait(toHear: "dependentAlertRaised")
            try await quartet.waitUntilQuiet()
            try await anna.act("ClearAlert")
            try await cleo.wait(toHear: "dependentAlertCleared")
            try await quartet.waitUntilQuiet()
            let sent = try #require(try await cleo.act("SendPing", ["contact": .string(anna.account)])["at"].int)
            try await anna.act("RespondToPing", ["contact": .string(ben.account), "pressed": .int(sent + 1_000_000)])
            try await quartet.endPings(to: anna)
            try await quartet.wait(
                for: "the alert",
                "SELECT unanswered #>> '{shown,alarm}' IS NOT NULL FROM session.account WHERE account = '\(anna.account)'"
            ) { $0 == "t" }
            let pings = try await anna.read("/v1/account")["unanswered"]["pings"]
            #expect(pings[0]["contact"].string == cleo.account && pings[0]["sent"].int == sent)
            try await anna.act("ClearAlert")
            try await quartet.waitUntilQuiet()

            // Session knows that she is all right, and contacts hasn't heard it, as a session-client of an earlier release leaves it.
            _ = try await quartet.psql(
                """
                UPDATE contacts.relation SET low_last_ping_at = NULL, high_last_ping_at = NULL,
                       low_ping_watch = NULL, high_ping_watch = NULL;
                """)
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            try await quartet.waitUntilQuiet()
            _ = try await quartet.psql(
                """
                UPDATE session.account
                   SET unanswered = json_build_object('said', session.microseconds(clock_timestamp()))
                 WHERE account = '\(anna.account)'
                """)
            try await quartet.endPings(to: anna)
            try await quartet.waitUntilQuiet()
            #expect(try await anna.read("/v1/account")["alertRaised"] == nil)
            #expect(try await ben.card(of: anna)["contact"]["outgoingPingDue"].int == nil)
            _ = try await quartet.psql("UPDATE contacts.relation SET low_last_ping_at = NULL, high_last_ping_at = NULL")
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            #expect(try await ben.card(of: anna)["contact"]["outgoingPingDue"].int != nil)
        }
    }

    @Test("an answer that waits to be handled holds the alert back (A4)")
    func waiting() async throws {
        try await Quartet.with { quartet in
            let (anna, ben) = try await quartet.signUp("anna", "ben")
            try await anna.choose(ben)
            try await anna.act("SetPingEscalation", Self.after)
            try await ben.act("SendPing", ["contact": .string(anna.account)])
            try await quartet.waitUntilQuiet()
            // Recorded, and handled by nobody: contacts keeps it parked, as after failures.
            try await quartet.parkAnswer(of: anna, to: ben)
            try await quartet.endPings(to: anna)
            try await quartet.wait(
                for: "the alert to be held back",
                """
                SELECT count(*) FROM contacts.relation
                 WHERE low_ping_watch -> 'hold' IS NOT NULL OR high_ping_watch -> 'hold' IS NOT NULL
                """
            ) { $0 == "1" }
            #expect(try await anna.read("/v1/account")["alertRaised"] == nil)
            // Nothing holds it back for long.
            _ = try await quartet.psql("DELETE FROM contacts.parked")
            try await ben.wait(toHear: "dependentAlertRaised")
        }
    }
}

extension Device {
    /// Makes somebody a responder. One who adds the person by a code raises nothing until that is chosen.
    fileprivate func choose(_ responder: Device) async throws {
        try await add(responder, isMyResponder: true, iAmResponder: false)
    }

    /// The notifications of a dependent's alert, the newest first.
    fileprivate func alerts() async throws -> [JSON] {
        try await notifications().filter { $0["kind"] == "dependentAlertRaised" }
    }

    /// Waits for what warns of a ping.
    fileprivate func warning(_ isMeant: (JSON) -> Bool) async throws -> JSON? {
        func find(_ all: [JSON]) -> JSON? {
            all.first { $0["kind"] == "checkInMissed" && $0["details"]["pinged"].int != nil && isMeant($0) }
        }
        try await wait("for the warning of a ping") { find([$0]) != nil }
        return find(try await notifications())
    }
}

extension Quartet {
    /// Lets it be time to warn of an account's pings: the clock can't be moved.
    fileprivate func warnOfPings(to person: Device) async throws {
        try await movePings(to: person, due: "clock_timestamp() + interval '4 minutes'", warned: nil)
    }

    /// Lets the time of an account's pings pass, of which it was warned.
    fileprivate func endPings(to person: Device) async throws {
        try await movePings(
            to: person, due: "clock_timestamp()", warned: "clock_timestamp() - interval '6 minutes'")
    }

    private func movePings(to person: Device, due: String, warned: String?) async throws {
        try await waitUntilQuiet()
        let warning = warned.map { "|| jsonb_build_object('warned', contacts.microseconds(\($0)))" } ?? ""
        let sides = [("low", "high"), ("high", "low")].map { sender, receiver in
            """
            UPDATE contacts.relation AS r
               SET \(sender)_ping_watch = (r.\(sender)_ping_watch::jsonb
                       || jsonb_build_object('due', contacts.microseconds(\(due)),
                                             'warning', contacts.microseconds(\(due) - interval '5 minutes')) \(warning))::json
             WHERE r.\(receiver) = '\(person.account)' AND r.\(sender)_ping_watch ->> 'due' IS NOT NULL;
            """
        }
        _ = try await psql(
            sides.joined(separator: "\n") + """
                UPDATE contacts.account SET next_ping_at = clock_timestamp() WHERE account = '\(person.account)' AND next_ping_at IS NOT NULL;
                UPDATE contacts.timer SET due_at = clock_timestamp()
                 WHERE key = 'account/\(person.account)' AND name = 'JudgePings';
                """)
        // Whatever was decided, the next look is later.
        try await wait(
            for: "the pings to be judged",
            """
            SELECT count(*) FROM contacts.account
             WHERE account = '\(person.account)' AND next_ping_at <= clock_timestamp()
            """
        ) { $0 == "0" }
    }

    /// Puts an answer among the messages that contacts couldn't handle.
    fileprivate func parkAnswer(of person: Device, to responder: Device) async throws {
        _ = try await psql(
            """
            INSERT INTO contacts.parked (source, partition, position, kind, type, version, key, account, body, message_id,
                                         command_id, recorded_at, cause, attempts, failing_since, retry_at, error)
            SELECT 'session_client.contacts_commands', session_client.contacts_commands_partition_of(k.key), 1000000, 'command',
                   'RespondToPing', 1, k.key, '\(person.account)', json_build_object('contact', '\(responder.account)'),
                   gen_random_uuid(), gen_random_uuid(), clock_timestamp(), 'trouble', 1, clock_timestamp(),
                   clock_timestamp() + interval '1 hour', 'held by a test'
              FROM (VALUES ('account/\(person.account)')) AS k(key)
            """)
    }
}
