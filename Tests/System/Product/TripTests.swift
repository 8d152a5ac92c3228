import EdgeClient
import TestKit
import Testing

/// Trips, with the real processes.
@Suite("End to end: trips", .timeLimit(.minutes(60)))
struct EndToEndTripTests {
    @Test(
        """
        when a trip's grace is over, kill or not, responders are told once of a late arrival and read the note; once help is called for \
        by hand they are told that, and only the end of the alert ends the trip (A7)
        """)
    func missed() async throws {
        try await Quartet.with { quartet in
            let (bob, anna, carl) = try await quartet.signUp("bob", "anna", "carl")
            for responder in [anna, carl] { try await responder.add(bob) }
            try await quartet.waitUntilQuiet()
            let bobSees = try await LiveView.open(bob)
            let now = try #require(try await bob.read("/v1/time")["received"].int)
            let trip = try await bob.act(
                "StartTrip",
                ["name": "Lake", "eta": .int(now + 3_600_000_000), "note": "The blue car", "grace": 600_000_000])[
                    "trip"]["id"]
            #expect(try await quartet.timers(of: bob).contains("RemindTrip"))
            try await quartet.endTrip(of: bob)
            let told = try await bobSees.wait(notification: "checkInMissed")["notification"]["details"]
            let ends = try #require(told["graceEnds"].int)
            #expect(told["trip"] == trip && told["alarm"] == nil)
            for service in [Quartet.Service.session, .sessionClient] { try await quartet.restart(service) }
            try await quartet.waitUntilQuiet()
            for responder in [anna, carl] {
                #expect(try await !responder.kinds().contains("dependentAlertRaised"))
                #expect(try await responder.card(of: bob)["person"]["trip"] == nil)
            }
            let own = try await LiveView.open(bob).snapshot(of: "account")["trip"]
            #expect(own["graceEnds"].int == ends && own["alarm"] == nil && own["note"] == "The blue car")

            try await quartet.endGrace(ofTrip: bob)
            for responder in [anna, carl] { try await responder.wait(toHear: "dependentAlertRaised") }
            try await quartet.waitUntilQuiet()
            for responder in [anna, carl] {
                let seen = try await responder.card(of: bob)["person"]["trip"]
                #expect(seen["note"] == "The blue car" && seen["name"] == "Lake" && seen["isCalled"] == nil)
                let alerts = try await responder.alerts()
                #expect(alerts.count == 1 && alerts[0]["details"]["deadline"] == told["deadline"])
            }
            #expect(try await !bob.kinds(unread: true).contains("checkInMissed"), "the grace is over")

            let pressed = try #require(try await bob.read("/v1/time")["received"].int)
            try await bob.act("RaiseAlert", ["pressed": .int(pressed)])
            try await quartet.waitUntilQuiet()
            for responder in [anna, carl] {
                #expect(try await responder.card(of: bob)["person"]["trip"]["isCalled"] == true)
                let alerts = try await responder.alerts()
                #expect(alerts.count == 2 && alerts[0]["details"]["deadline"] == nil, "it is no late arrival")
            }

            let refused = try await bob.ask("EndTrip", ["trip": trip, "end": "arrived"])
            #expect(refused.status == 409 && refused.body["code"] == "alertChanged")
            try await bob.act("ClearAlert")
            for responder in [anna, carl] {
                try await responder.wait(toHear: "dependentAlertCleared")
                #expect(try await responder.card(of: bob)["person"]["trip"] == nil)
            }
            #expect(try await bob.read("/v1/account")["trip"] == nil)
        }
    }

    @Test(
        "who arrives in time, or only is told of the grace, isn't talked of; arriving afterwards is the all-clear, once (A7)"
    )
    func arrived() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            func start(grace: Int64 = 0) async throws -> JSON {
                let now = try #require(try await bob.read("/v1/time")["received"].int)
                let trip: JSON = ["name": "Lake", "eta": .int(now + 3_600_000_000), "grace": .int(grace)]
                return try await bob.act("StartTrip", trip)["trip"]["id"]
            }
            for grace in [0, 600_000_000] as [Int64] {
                let trip = try await start(grace: grace)
                if grace > 0 {
                    try await quartet.endTrip(of: bob)
                    try await bob.wait(toHear: "checkInMissed")
                }
                try await bob.act("EndTrip", ["trip": trip, "end": "arrived"])
            }
            try await quartet.waitUntilQuiet()
            #expect(try await anna.kinds().allSatisfy { !$0.hasPrefix("dependentAl") })
            #expect(try await !bob.kinds(unread: true).contains("checkInMissed"))

            let trip = try await start()
            try await quartet.endTrip(of: bob)
            try await anna.wait(toHear: "dependentAlertRaised")
            try await bob.act("EndTrip", ["trip": trip, "end": "arrived"])
            try await anna.wait(toHear: "dependentAlertCleared")
            try await quartet.waitUntilQuiet()
            #expect(try await anna.kinds().count { $0 == "dependentAlertCleared" } == 1)
            let person = try await anna.card(of: bob)["person"]
            #expect(person["trip"] == nil && person["alertRaised"] == nil)
        }
    }

    @Test(
        """
        whoever isn't a responder any more is neither told of a missed trip nor sees it; whoever becomes one is told of a late arrival \
        and sees it (A7)
        """)
    func others() async throws {
        try await Quartet.with { quartet in
            let (bob, anna, carl) = try await quartet.signUp("bob", "anna", "carl")
            for responder in [anna, carl] { try await responder.add(bob) }
            let now = try #require(try await bob.read("/v1/time")["received"].int)
            let start: JSON = ["name": "Lake", "eta": .int(now + 3_600_000_000), "note": "The blue car"]
            try await bob.act("StartTrip", start)
            try await anna.act("RemoveContact", ["contact": .string(bob.account)])
            try await quartet.endTrip(of: bob)
            try await carl.wait(toHear: "dependentAlertRaised")
            try await quartet.waitUntilQuiet()
            #expect(try await carl.card(of: bob)["person"]["trip"]["note"] == "The blue car")
            #expect(try await !anna.kinds().contains("dependentAlertRaised"))
            try await anna.add(bob)
            try await anna.wait(toHear: "dependentAlertRaised")
            #expect(try await anna.alerts().first?["details"]["deadline"].int != nil)
            #expect(try await anna.card(of: bob)["person"]["trip"]["note"] == "The blue car")
        }
    }
}

extension Device {
    /// The notifications of a dependent's alert, the newest first.
    fileprivate func alerts() async throws -> [JSON] {
        try await read("/v1/notifications")["notifications"].array.filter { $0["kind"] == "dependentAlertRaised" }
    }
}

extension Quartet {
    /// Lets the time of an account's trip pass now: the clock can't be moved.
    func endTrip(of device: Device) async throws {
        _ = try await psql(
            """
            WITH moved AS (
                UPDATE session.account
                   SET trip = jsonb_set(trip::jsonb, '{shown,eta}', to_jsonb(session.microseconds(clock_timestamp())))::json
                 WHERE account = '\(device.account)' RETURNING account, trip)
            UPDATE session.timer AS t
               SET due_at = clock_timestamp(),
                   body = json_build_object('account', m.account, 'trip', m.trip #>> '{shown,id}',
                                            'eta', (m.trip #>> '{shown,eta}')::bigint)
              FROM moved AS m
             WHERE t.key = 'account/' || m.account AND t.name = 'MissTrip'
            """)
    }

    /// Lets the grace of an account's trip end now.
    fileprivate func endGrace(ofTrip device: Device) async throws {
        _ = try await psql(
            """
            UPDATE session.account
               SET trip = jsonb_set(trip::jsonb, '{shown,grace}', '1')::json WHERE account = '\(device.account)';
            UPDATE session.timer SET due_at = clock_timestamp()
             WHERE key = 'account/\(device.account)' AND name = 'MissTrip';
            """)
    }
}
