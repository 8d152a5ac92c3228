import EdgeClient
import TestKit
import Testing

/// The purpose of Quartet: a missed check-in is noticed by the right people, once.
@Suite("End to end: check-ins", .timeLimit(.minutes(30)))
struct EndToEndCheckInTests {
    @Test(
        """
        the person and every responder who wants it hear of a missed check-in once, even if nothing ran at the \
        deadline (S29, S32, S33)
        """,
        arguments: [false, true])
    func missed(isDown: Bool) async throws {
        try await Quartet.with { quartet in
            let (bob, anna, carl) = try await quartet.signUp("bob", "anna", "carl")
            for friend in [anna, carl] { try await friend.add(bob) }
            // Carl is a responder who doesn't want to hear of it.
            try await carl.act(
                "UpdateContact",
                ["contact": .string(bob.account), "expectedVersion": 1, "notifyOnMissedCheckIn": false])
            let annaSees = try await LiveView.open(anna)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            let timers = try await quartet.timers(of: bob)
            #expect(timers == "RemindCheckIn/twoHours RemindCheckIn/thirtyMinutes MissCheckIn")

            if isDown { try await quartet.kill(.session) }
            // The clock can't be moved, so the deadline is: to the past when nobody is there to see it pass.
            try await quartet.moveDeadline(of: bob, to: isDown ? "-1 day" : "500 milliseconds")
            if isDown { try await quartet.start(.session) }
            let told = try await annaSees.wait(notification: "dependentCheckInMissed")
            #expect(told["notification"]["subject"].string == bob.account)
            try await annaSees.wait("Bob's card, which says so") {
                $0.name == "person" && $0.data["checkIn"]["missed"].isTrue
            }
            // After a kill and a restart it isn't announced again.
            try await quartet.restart(.session)
            try await quartet.restart(.sessionClient)
            try await quartet.waitUntilQuiet()
            let bobs = try await bob.kinds().count { $0 == "checkInMissed" }
            let annas = try await anna.kinds().count { $0 == "dependentCheckInMissed" }
            let carls = try await carl.kinds().count { $0 == "dependentCheckInMissed" }
            #expect(bobs == 1 && annas == 1 && carls == 0)
            let missed = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'CheckInMissed'")
            #expect(missed == "1")
            // It goes on: the next timer is the repetition, half an hour after this, however old the deadline is.
            let next = try await quartet.psql(
                """
                SELECT string_agg(name || ' ' || (due_at BETWEEN now() + interval '29 minutes'
                                                             AND now() + interval '30 minutes'), ' ')
                  FROM session.timer
                 WHERE key = 'account/\(bob.account)'
                """)
            #expect(next == "RepeatAlarm/checkInMissed true")

            // Checking in ends it, and the next deadline waits.
            let card = try await anna.card(of: bob)
            #expect(card["person"]["checkIn"]["missed"] == true)
            try await bob.act("CheckIn")
            let later = try await quartet.timers(of: bob)
            #expect(later == "RemindCheckIn/twoHours RemindCheckIn/thirtyMinutes MissCheckIn")
            let safe = try await anna.card(of: bob)
            #expect(safe["person"]["checkIn"]["missed"] == false)
        }
    }

    @Test(
        """
        a deadline that had passed when its timer fired counts as missed, though the clock went back in a failover \
        (S32)
        """)
    func clockWentBack() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.session)
            // As left by a server whose clock was an hour ahead.
            _ = try await quartet.psql(
                """
                WITH moved AS (
                    UPDATE session.account SET due_at = date_trunc('milliseconds', clock_timestamp()) + interval '59 minutes'
                     WHERE account = '\(bob.account)' RETURNING account, due_at
                ), gone AS (DELETE FROM session.timer)
                INSERT INTO session.due (partition, position, kind, type, version, key, body, message_id, command_id,
                                         recorded_at)
                SELECT session.due_partition_of('account/' || account), 1, 'command', 'MissCheckIn', 1,
                       'account/' || account,
                       json_build_object('account', account, 'deadline', session.microseconds(due_at)),
                       '\(EdgeClient.newKey())', '\(EdgeClient.newKey())', clock_timestamp() + interval '1 hour'
                  FROM moved
                """)
            try await quartet.start(.session)
            try await quartet.wait(
                for: "the command to end",
                "SELECT count(*) FROM session.outcome WHERE type IN ('CheckInMissed', 'Rejected')"
            ) { $0 == "1" }
            let missed = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'CheckInMissed'")
            #expect(missed == "1")
        }
    }

    @Test(
        "a deadline whose timer was lost is noticed once, even if it has passed (S32)",
        arguments: [false, true])
    func lostTimer(isPast: Bool) async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            let annaSees = try await LiveView.open(anna)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.session)
            _ = try await quartet.psql(
                """
                UPDATE session.account
                   SET last_check_in_at = clock_timestamp() - interval '3 days', reminds_two_hours = false,
                       reminds_thirty_minutes = false,
                       due_at = date_trunc('milliseconds', clock_timestamp())
                                + interval '\(isPast ? "-1 hour" : "5 seconds")'
                 WHERE account = '\(bob.account)';
                DELETE FROM session.timer WHERE key = 'account/\(bob.account)';
                """)
            try await quartet.start(.session)
            try await annaSees.wait(notification: "dependentCheckInMissed")
            try await quartet.waitUntilQuiet()
            let metrics = try await quartet.metrics(of: .session)
            #expect(metrics.contains(#"quartet_timers_healed_total{schema="session"} 1"#), "\(metrics)")
            // A replica that starts now finds nothing to repair: the timer of the repetition is there.
            try await quartet.restart(.session)
            try await quartet.waitUntilQuiet()
            let annas = try await anna.kinds().count { $0 == "dependentCheckInMissed" }
            let missed = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'CheckInMissed'")
            #expect(annas == 1 && missed == "1")
        }
    }

    @Test("each timer fires once with two replicas, while both are killed in turn (S32)")
    func replicas() async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            try await bob.act("CheckIn")
            let second = try await quartet.startAnother(.session)
            try await quartet.addStrangers(500, deadlinesEvery: "4 milliseconds")
            try await quartet.restart(.session)
            second.send(.kill)
            try await quartet.wait(
                for: "all deadlines to be told", "SELECT count(*) FROM session.log WHERE type = 'CheckInMissed'"
            ) { $0 == "500" }
            try await quartet.wait(
                for: "all commands to have ended",
                """
                SELECT count(*) FROM session.due AS d
                 WHERE NOT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = d.command_id)
                """
            ) { $0 == "0" }
            let sent = try await quartet.psql(
                "SELECT count(*) || ' ' || count(DISTINCT key) FROM session.due WHERE type = 'MissCheckIn'")
            #expect(sent == "500 500")
            let told = try await quartet.psql(
                "SELECT count(*) || ' ' || count(DISTINCT key) FROM session.log WHERE type = 'CheckInMissed'")
            #expect(told == "500 500")
            await second.end()
        }
    }
}
