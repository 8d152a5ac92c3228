import EdgeClient
import RPCClient
import TestKit
import Testing

/// What the chain of an alarm refuses, and what it takes, over each transport.
@Suite("End to end: what answers and pauses are refused", .timeLimit(.minutes(60)))
struct AlarmRefusalTests {
    @Test("answers to alarms are refused to who wasn't told, isn't a responder any more or answers too often (A2)")
    func answers() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let anna = try await carrier.signUp("anna", at: quartet)
                let ben = try await carrier.signUp("ben", at: quartet)
                let cleo = try await carrier.signUp("cleo", at: quartet)
                try await ben.add(anna, isMyResponder: true, iAmResponder: true)
                try await cleo.add(anna)
                let alarm = try await anna.act("RaiseAlert")["alarm"]
                for responder in [ben, cleo] { try await responder.wait(toHear: "dependentAlertRaised") }
                func answer(_ alarm: JSON) -> JSON {
                    ["contact": .string(anna.account), "alarm": alarm, "answer": "onIt", "minutes": 5]
                }
                for _ in 0..<5 { _ = try await carrier.act("AcknowledgeAlarm", answer(alarm), token: ben.token) }
                try await carrier.expect("tooSoon", of: "AcknowledgeAlarm", answer(alarm), token: ben.token)
                try await carrier.expect(
                    "notFound", of: "AcknowledgeAlarm", answer("01a1fc74-0000-7000-8000-000000000000"),
                    token: ben.token)
                _ = try await quartet.psql(
                    """
                    INSERT INTO contacts.alarm_recipient (account, alarm, responder, alerted_at, answer, answered_at, pressed_at)
                    SELECT r.account, r.alarm, gen_random_uuid(), now(), 'cannot', now(), now()
                      FROM contacts.alarm_recipient AS r, generate_series(1, 49)
                     WHERE r.account = '\(anna.account)' AND r.responder = '\(ben.account)'
                    """)
                let crowded = try await carrier.expect(
                    "limitReached", of: "AcknowledgeAlarm", answer(alarm), token: cleo.token)
                #expect(crowded.field == "answer")
                try await ben.act(
                    "UpdateContact",
                    ["contact": .string(anna.account), "expectedVersion": 1, "iAmResponder": false])
                try await carrier.expect("notDependent", of: "AcknowledgeAlarm", answer(alarm), token: ben.token)
            }
        }
    }

    @Test("tiers of responders are taken, and refused where somebody in them isn't one (A10)")
    func tiers() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let anna = try await carrier.signUp("anna", at: quartet)
                let ben = try await carrier.signUp("ben", at: quartet)
                let eve = try await carrier.signUp("eve", at: quartet)
                try await ben.add(anna)
                func tiers(_ responder: Device) -> JSON {
                    ["tiers": [["after": 900_000_000, "responders": [.string(responder.account)]]]]
                }
                _ = try await carrier.act("SetResponderTiers", tiers(ben), token: anna.token)
                let refused = try await carrier.expect(
                    "notContact", of: "SetResponderTiers", tiers(eve), token: anna.token)
                #expect(refused.field == "tiers")
                _ = try await carrier.act("SetResponderTiers", ["tiers": []], token: anna.token)
            }
        }
    }

    @Test("how long pings may stay unanswered is taken, and refused of somebody who is no responder (A4)")
    func pingEscalation() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let anna = try await carrier.signUp("anna", at: quartet)
                let ben = try await carrier.signUp("ben", at: quartet)
                let eve = try await carrier.signUp("eve", at: quartet)
                try await ben.add(anna)
                func set(_ responder: Device) -> JSON {
                    ["contact": .string(responder.account), "after": 1_800_000_000]
                }
                _ = try await carrier.act("SetPingEscalation", set(ben), token: anna.token)
                for (account, other) in [(anna, eve), (ben, anna)] {
                    let refused = try await carrier.expect(
                        "notContact", of: "SetPingEscalation", set(other), token: account.token)
                    #expect(refused.field == "contact")
                }
                _ = try await carrier.act("SetPingEscalation", ["after": 1_800_000_000], token: anna.token)
                _ = try await carrier.act(
                    "SetPingQuietHours", ["quietHours": ["from": 1320, "to": 420]], token: anna.token)
                _ = try await carrier.act("SetPingQuietHours", token: anna.token)
            }
        }
    }

    @Test(
        "a grace and a pause are taken, and refused when they are too long, too many, unconfirmed or come too late (A3, A5)"
    )
    func pauses() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let dora = try await carrier.signUp("dora", at: quartet)
                let due = try #require(try await dora.read("/v1/account")["checkIn"]["due"].int)
                func pause(_ days: Int64) -> JSON { ["until": .int(due + days * 86_400_000_000)] }
                _ = try await carrier.act("SetCheckInGrace", ["grace": 600_000_000], token: dora.token)
                _ = try await carrier.act("PauseCheckIns", pause(3), token: dora.token)
                _ = try await carrier.act("ResumeCheckIns", token: dora.token)
                let long = try await carrier.expect("limitReached", of: "PauseCheckIns", pause(60), token: dora.token)
                #expect(long.field == "until")
                _ = try await quartet.psql(
                    "UPDATE session.account SET pauses = 6, pauses_counted_since = now() WHERE account = '\(dora.account)'"
                )
                try await carrier.expect("tooSoon", of: "PauseCheckIns", pause(3), token: dora.token)
                _ = try await quartet.psql(
                    """
                    UPDATE session.account SET is_confirmation_required = true WHERE account = '\(dora.account)';
                    UPDATE session.device SET confirmed_until = NULL WHERE account = '\(dora.account)';
                    """)
                try await carrier.expect("confirmationRequired", of: "PauseCheckIns", pause(3), token: dora.token)
                let eve = try await carrier.signUp("eve", at: quartet)
                try await quartet.missCheckIn(of: eve)
                try await carrier.expect("checkInDue", of: "PauseCheckIns", pause(3), token: eve.token)
            }
        }
    }

    @Test("daily times are taken, and refused in a zone that there isn't, too near each other, and too often (A6)")
    func daily() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let fay = try await carrier.signUp("fay", at: quartet)
                func times(_ minutes: [Int64], in zone: String = "Europe/Berlin") -> JSON {
                    ["times": .array(minutes.map { .int($0) }), "weekdays": ["monday"], "zone": .string(zone)]
                }
                let set = try await carrier.act("SetDailyCheckIns", times([480, 1200]), token: fay.token)["result"]
                #expect(set["daily"] == times([480, 1200]) && set["opens"].int != nil)
                let nowhere = try await carrier.expect(
                    "invalidField", of: "SetDailyCheckIns", times([480], in: "Europe/Nowhere"), token: fay.token)
                #expect(nowhere.field == "zone")
                let near = try await carrier.expect(
                    "invalidField", of: "SetDailyCheckIns", times([480, 539]), token: fay.token)
                #expect(near.field == "times")
                for minute in 1...9 as ClosedRange<Int64> {
                    _ = try await carrier.act("SetDailyCheckIns", times([minute]), token: fay.token)
                }
                try await carrier.expect("tooSoon", of: "SetDailyCheckIns", times([600]), token: fay.token)
            }
        }
    }

    @Test(
        "a drill is taken, answered and reported, and refused without responders, twice a day, and from 75 minutes before a deadline or a trip's end on (A11)"
    )
    func drills() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let gwen = try await carrier.signUp("gwen", at: quartet)
                let hal = try await carrier.signUp("hal", at: quartet)
                try await carrier.expect("notFound", of: "GetDrill", token: gwen.token)
                try await carrier.expect("noResponder", of: "RunDrill", token: gwen.token)
                try await hal.add(gwen)
                try await quartet.waitUntilQuiet()
                _ = try await carrier.act("RunDrill", token: gwen.token)
                try await carrier.expect("tooSoon", of: "RunDrill", token: gwen.token)
                try await hal.wait(toHear: "system")
                let report = try await carrier.act("GetDrill", token: gwen.token)
                #expect(report["responders"].array.map { $0["account"].string } == [hal.account])
                #expect(report["responders"][0]["notified"].int != nil && report["drill"]["ends"].int != nil)
                let told = try await hal.read("/v1/notifications")["notifications"].array
                let drill = try #require(told.first { $0["details"]["drillEnds"].int != nil })["id"]
                _ = try await carrier.act("AnswerDrill", ["id": drill], token: hal.token)
                try await carrier.expect("notFound", of: "AnswerDrill", ["id": .string(hal.account)], token: hal.token)
                let forget = "UPDATE session.account SET drill = NULL WHERE account = '\(gwen.account)'"
                _ = try await quartet.psql(forget)
                try await gwen.act("RaiseAlert")
                try await carrier.expect("alarmOn", of: "RunDrill", token: gwen.token)
                try await gwen.act("ClearAlert")
                _ = try await quartet.psql(
                    """
                    UPDATE contacts.account SET responder_reach = 'unreachable' WHERE account = '\(gwen.account)'
                    """)
                try await carrier.expect("noResponder", of: "RunDrill", token: gwen.token)
                _ = try await quartet.psql(
                    "UPDATE contacts.account SET responder_reach = 'reachable' WHERE account = '\(gwen.account)'")
                let now = try #require(try await gwen.read("/v1/time")["received"].int)
                try await gwen.act(
                    "StartTrip", ["name": "Lake", "eta": .int(now + 3_600_000_000), "grace": 600_000_000])
                try await carrier.expect("deadlineNear", of: "RunDrill", token: gwen.token)
                try await quartet.endTrip(of: gwen)
                try await gwen.wait(toHear: "checkInMissed")
                try await carrier.expect("tripMissed", of: "RunDrill", token: gwen.token)
                let ina = try await carrier.signUp("ina", at: quartet)
                try await hal.add(ina)
                _ = try await ina.act("SetCheckInGrace", ["grace": 3_600_000_000])
                try await quartet.waitUntilQuiet()
                try await quartet.moveDeadline(of: ina)
                try await ina.wait(toHear: "checkInMissed")
                try await carrier.expect("checkInDue", of: "RunDrill", token: ina.token)
                _ = try await quartet.psql(
                    """
                    UPDATE session.account SET is_confirmation_required = true WHERE account = '\(ina.account)';
                    UPDATE session.device SET confirmed_until = NULL WHERE account = '\(ina.account)';
                    """)
                try await carrier.expect("confirmationRequired", of: "RunDrill", token: ina.token)
            }
        }
    }

    @Test(
        """
        a trip is taken, and refused when another is on, its end is too near, it is over or missed, and it was moved too often \
        (A7)
        """)
    func trips() async throws {
        try await Quartet.with { quartet in
            try await quartet.overEach { carrier in
                let fay = try await carrier.signUp("fay", at: quartet)
                let now = try #require(try await fay.read("/v1/time")["received"].int)
                let (hour, nobody): (Int64, JSON) = (3_600_000_000, "01a1fc74-0000-7000-8000-000000000000")
                func start(_ hours: Int64) -> JSON { ["name": "Lake", "eta": .int(now + hours * hour)] }
                let near = try await carrier.expect("invalidField", of: "StartTrip", start(0), token: fay.token)
                #expect(near.field == "eta")
                _ = try await carrier.act("StartTrip", start(1), token: fay.token)
                let trip = try await fay.read("/v1/account")["trip"]["id"]
                try await carrier.expect("tripOn", of: "StartTrip", start(1), token: fay.token)
                func extend(_ hours: Int64, _ trip: JSON) -> JSON { ["trip": trip, "eta": .int(now + hours * hour)] }
                _ = try await carrier.act("ExtendTrip", extend(2, trip), token: fay.token)
                try await carrier.expect("notFound", of: "ExtendTrip", extend(3, nobody), token: fay.token)
                try await carrier.expect(
                    "notFound", of: "EndTrip", ["trip": nobody, "end": "arrived"], token: fay.token)
                _ = try await quartet.psql(
                    """
                    UPDATE session.account SET trip_starts = 30, trip_moves = 30, trips_counted_since = now()
                     WHERE account = '\(fay.account)'
                    """
                )
                try await carrier.expect("tooSoon", of: "ExtendTrip", extend(3, trip), token: fay.token)
                _ = try await carrier.act("EndTrip", ["trip": trip, "end": "cancelled"], token: fay.token)
                try await carrier.expect("tooSoon", of: "StartTrip", start(1), token: fay.token)
                _ = try await quartet.psql("UPDATE session.limits SET least_trip = interval '1 second'")
                _ = try await quartet.psql(
                    "UPDATE session.account SET trip_starts = 0 WHERE account = '\(fay.account)'")
                let gone = try #require(try await fay.read("/v1/time")["received"].int)
                let short: JSON = ["name": "Lake", "eta": .int(gone + 2_000_000)]
                _ = try await carrier.act("StartTrip", short, token: fay.token)
                let missed = try await fay.read("/v1/account")["trip"]["id"]
                try await fay.wait(toHear: "alertRaised")
                try await carrier.expect("tripMissed", of: "ExtendTrip", extend(3, missed), token: fay.token)
                let early = try await carrier.expect(
                    "alertChanged", of: "EndTrip", ["trip": missed, "end": "arrived", "pressed": .int(now)],
                    token: fay.token)
                #expect(early.field == "pressed")
                _ = try await quartet.psql("UPDATE session.limits SET least_trip = interval '5 minutes'")
            }
        }
    }
}
