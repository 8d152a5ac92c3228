import EdgeClient
import TestKit
import Testing

/// The purpose of Quartet: a missed check-in is noticed by the right people, once.
@Suite("End to end: check-ins", .timeLimit(.minutes(60)))
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
                SELECT string_agg(name || ' ' || (due_at BETWEEN now() + interval '20 minutes'
                                                             AND now() + interval '30 minutes'), ' ')
                  FROM session.timer
                 WHERE key = 'account/\(bob.account)' AND name LIKE 'RepeatAlarm/%'
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
        after an outage, a check-in from before the deadline keeps the alarm from beginning, though its timer is first; one \
        from after it ends the alarm that had to begin, though the timer is last (S29)
        """,
        arguments: [true, false])
    func waited(isInTime: Bool) async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.session)
            if !isInTime { try await quartet.moveDeadline(of: bob, to: "-1 second") }
            let asked = Task {
                try await quartet.edge.send(
                    "POST", "/v1/commands/CheckIn", body: [:], token: bob.token, key: EdgeClient.newKey())
            }
            let check = "SELECT count(DISTINCT command_id) FROM session_client.session_commands WHERE type = 'CheckIn'"
            try await quartet.wait(for: "the check-in", check) { $0 == "1" }
            if isInTime { try await quartet.moveDeadline(of: bob) }
            // Another process has the one log for now, so that the other is handled first.
            let log = isInTime ? "session_client.session_commands" : "session.due"
            _ = try await quartet.psql(
                """
                UPDATE session.lease SET owner = gen_random_uuid(), released = false,
                                         lease_until = clock_timestamp() + interval '1 hour'
                 WHERE source = '\(log)'
                """)
            try await quartet.start(.session)
            let looked =
                isInTime
                ? "SELECT count(*) FROM session.account WHERE alarm_held_since IS NOT NULL OR missed_alarm IS NOT NULL"
                : "SELECT 0"
            // On a machine that is too busy, the other process seems dead before that, and the other log comes first.
            try await quartet.wait(
                for: "the first of the two",
                "SELECT (\(looked)) + (SELECT count(*) FROM session.log WHERE type = 'CheckedIn')"
            ) { $0 != "0" }
            _ = try await quartet.psql(
                "UPDATE session.lease SET owner = NULL, released = true, lease_until = NULL WHERE source = '\(log)'")
            try await quartet.waitUntilQuiet()
            try await quartet.waitUntilTimersAreDone()
            try await quartet.waitUntilQuiet()
            let told = try await quartet.psql(
                """
                SELECT string_agg(type, ' ' ORDER BY position) FROM session.log
                 WHERE key = 'account/\(bob.account)' AND type IN ('CheckInMissed', 'CheckedIn')
                """)
            #expect(told == (isInTime ? "CheckedIn" : "CheckInMissed CheckedIn"))
            let result = try await quartet.psql(
                "SELECT type || ' ' || (body::jsonb ? 'ended') FROM session.outcome WHERE type IN ('CheckInMissed', 'CheckedIn')"
            )
            #expect(isInTime ? result == "CheckedIn false" : result.contains("CheckedIn true"), "\(result)")
            let annas = Set(try await anna.kinds())
            for kind in ["dependentCheckInMissed", "dependentCheckedInLate"] {
                #expect(annas.contains(kind) == !isInTime, "\(annas)")
            }
            _ = try? await asked.value
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

    @Test(
        """
        a deadline that another process held past its time, and let go, is noticed though PostgreSQL stood still before \
        (S32)
        """)
    func stalledServer() async throws {
        try await PrivateCluster.with { cluster in
            try await Quartet.with(on: try cluster.cluster()) { quartet in
                let bob = try await quartet.signUp("bob")
                try await bob.act("CheckIn")
                try await quartet.waitUntilQuiet()
                for _ in 0..<3 {
                    try cluster.freeze()
                    // As long as the stall lasts: nothing happens that could be waited for.
                    try await Task.sleep(for: .seconds(4))
                    try cluster.thaw()
                    try await quartet.waitUntilQuiet()
                }
                try await quartet.moveDeadline(of: bob, to: "25 seconds")
                // A replica that takes the timer, stands still, and never commits.
                let letGo = try await quartet.hold(
                    "SELECT name FROM session.timer WHERE key = 'account/\(bob.account)' FOR UPDATE")
                try await quartet.wait(
                    for: "the deadline to be long past",
                    """
                    SELECT due_at < clock_timestamp() - interval '9 seconds'
                      FROM session.timer WHERE name = 'MissCheckIn'
                    """
                ) { $0 == "t" }
                await letGo()
                try await quartet.wait(
                    for: "the miss to be noticed",
                    "SELECT count(*) FROM session.account WHERE missed_alarm IS NOT NULL"
                ) { $0 == "1" }
            }
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
