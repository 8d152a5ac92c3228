import EdgeClient
import TestKit
import Testing

/// The time after a deadline in which only the person is told, with the real processes.
@Suite("End to end: a grace after the deadline", .timeLimit(.minutes(60)))
struct EndToEndGraceTests {
    @Test(
        """
        at the deadline only the person is told, loudly and with the minute at which others hear; these see nothing until \
        then, a kill or not, and are told once, by the end of the grace (A3)
        """)
    func over() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await bob.act("CheckIn")
            #expect(try await bob.act("SetCheckInGrace", ["grace": 600_000_000])["grace"] == 600_000_000)
            let (bobSees, annaSaw) = (try await LiveView.open(bob), try await LiveView.open(anna))
            try await quartet.moveDeadline(of: bob, to: "500 milliseconds")
            let told = try await bobSees.wait(notification: "checkInMissed")["notification"]
            let (deadline, ends) = (try #require(told["details"]["deadline"].int), told["details"]["graceEnds"].int)
            #expect(ends == deadline + 600_000_000 && told["details"]["alarm"] == nil)
            let own = try await LiveView.open(bob).snapshot(of: "account")["checkIn"]
            #expect(own["graceEnds"].int == ends && own["missed"] == false && own["grace"] == 600_000_000)

            let before = try #require(annaSaw.lastEventID)
            for service in [Quartet.Service.session, .sessionClient] { try await quartet.restart(service) }
            try await quartet.waitUntilQuiet()
            let card = try await anna.card(of: bob)["person"]["checkIn"]
            #expect(card["missed"] == false && card["due"].int == deadline)
            #expect(card["grace"] == nil && card["graceEnds"] == nil)
            #expect(try await !anna.kinds().contains("dependentCheckInMissed"))

            let annaSees = try await LiveView.open(anna, after: before)
            try await quartet.endGrace(of: bob)
            let heard = try await annaSees.wait(notification: "dependentCheckInMissed")["notification"]
            #expect(heard["details"]["deadline"].int == deadline && heard["details"]["graceEnds"] == nil)
            try await quartet.waitUntilQuiet()
            #expect(try await bob.kinds().count { $0 == "checkInMissed" } == 2)
            #expect(try await anna.kinds().count { $0 == "dependentCheckInMissed" } == 1)
            #expect(!(annaSaw.all + annaSees.all).contains { $0.data["type"] == "CheckInGraceBegan" })
            let unread = try await bob.kinds(unread: true)
            #expect(unread.count { $0 == "checkInMissed" } == 1, "what was said of the grace is over")
            // How late others heard counts from the end of the grace, not from the deadline.
            let late = try await quartet.psql(
                """
                SELECT every((t.told ->> 'noticedMs')::numeric
                                 < session_client.milliseconds((t.told ->> 'noticed')::timestamptz - r.due_at)
                             AND (t.told ->> 'graceEnded')::timestamptz > r.due_at
                             AND r.notified_after < r.notified_at - r.due_at)
                  FROM session_client.alarm_receipts AS r
                 CROSS JOIN LATERAL (SELECT session_client.told(r.alarm) AS told) AS t
                """)
            #expect(late == "t")
        }
    }

    @Test("a check-in within the grace ends it, and nobody else hears that anything was late (A3)")
    func unnoticed() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await bob.act("SetCheckInGrace", ["grace": 600_000_000])
            let bobSees = try await LiveView.open(bob)
            try await quartet.moveDeadline(of: bob, to: "500 milliseconds")
            try await bobSees.wait(notification: "checkInMissed")
            let checkedIn = try await bob.act("CheckIn")
            #expect(checkedIn["ended"] == nil && checkedIn["alarm"] == nil)
            try await quartet.waitUntilQuiet()
            #expect(try await !bob.kinds(unread: true).contains("checkInMissed"))
            #expect(try await anna.kinds().allSatisfy { !$0.hasPrefix("dependentCheck") || $0 == "dependentCheckedIn" })
            #expect(try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'CheckInMissed'") == "0")
            let timers = try await quartet.timers(of: bob)
            #expect(timers == "RemindCheckIn/twoHours RemindCheckIn/thirtyMinutes MissCheckIn")
        }
    }
}

extension Quartet {
    /// Lets the grace of an account end now: the clock can't be moved.
    fileprivate func endGrace(of device: Device) async throws {
        _ = try await psql(
            """
            UPDATE session.account SET grace_ends_at = clock_timestamp() WHERE account = '\(device.account)';
            UPDATE session.timer SET due_at = clock_timestamp()
             WHERE key = 'account/\(device.account)' AND name = 'MissCheckIn';
            """)
    }
}
