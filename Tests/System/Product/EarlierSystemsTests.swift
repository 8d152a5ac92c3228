import EdgeClient
import Foundation
import TestKit
import Testing

/// Each mistake that systems of this kind made before, tried on the four executables.
@Suite("End to end: what earlier systems got wrong", .serialized, .timeLimit(.minutes(60)))
struct EarlierSystemsTests {
    // MARK: Deadlines

    @Test("a deadline is the check-in plus the interval, to the microsecond: no units are mixed (S30)")
    func mixedUnits() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await anna.act("CheckIn")
            let leads: [(name: String, lead: Int64)] = [
                ("RemindCheckIn/twoHours", 7_200_000_000), ("RemindCheckIn/thirtyMinutes", 1_800_000_000),
            ]
            // The shortest and the longest, what no whole second or millisecond is, and each side of a reminder's lead;
            // never so near to one that it comes while this runs.
            let intervals: [Int64] = [
                3_600_000_000, 3_600_000_001, 7_200_000_000, 8_100_000_001, 90_061_000_999, 604_800_000_000,
            ]
            for interval in intervals {
                let result = try await anna.act("SetCheckInInterval", ["interval": .int(interval)])
                let checkIn = try await anna.read("/v1/account")["checkIn"]
                let due = try #require(checkIn["last"].int) + interval
                #expect(checkIn["interval"].int == interval && checkIn["due"].int == due)
                #expect(result["due"].int == due)
                let timers = try await quartet.psql(
                    """
                    SELECT string_agg(name || ' ' || session.microseconds(due_at), ', ' ORDER BY due_at)
                      FROM session.timer
                    """)
                let wanted = leads.filter { $0.lead < interval }.map { "\($0.name) \(due - $0.lead)" }
                #expect(timers == (wanted + ["MissCheckIn \(due)"]).joined(separator: ", "))
                let others = try await quartet.psql(
                    "SELECT count(*) FROM session.timer WHERE (body ->> 'deadline')::bigint <> \(due)")
                #expect(others == "0")
            }

            // Where the last check-in plus the interval has passed, the interval begins now.
            _ = try await quartet.psql(
                """
                UPDATE session.account SET last_check_in_at = last_check_in_at - interval '3 days',
                                           due_at = due_at - interval '3 days'
                """)
            let day: Int64 = 86_400_000_000
            let shortened = try await anna.act("SetCheckInInterval", ["interval": .int(day)])
            let due = try #require(shortened["at"].int) + day
            #expect(shortened["due"].int == due)
            let expiry = try await quartet.psql(
                "SELECT session.microseconds(due_at) FROM session.timer WHERE name = 'MissCheckIn'")
            #expect(expiry == "\(due)")
        }
    }

    @Test(
        "a reminder whose time passed while nothing ran is sent once (S31)",
        arguments: [90, 10])
    func missedReminder(minutesLeft: Int) async throws {
        try await Quartet.with { quartet in
            let bob = try await quartet.signUp("bob")
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()
            try await quartet.kill(.session)
            // While nothing ran, the time of one reminder passed, or that of both.
            _ = try await quartet.psql(
                """
                WITH moved AS (
                    UPDATE session.account
                       SET last_check_in_at = clock_timestamp() - interval '22 hours',
                           due_at = date_trunc('milliseconds', clock_timestamp()) + interval '\(minutesLeft) minutes'
                     WHERE account = '\(bob.account)' RETURNING account, due_at
                )
                UPDATE session.timer AS t
                   SET due_at = m.due_at - CASE t.name WHEN 'RemindCheckIn/twoHours' THEN interval '2 hours'
                                                       WHEN 'RemindCheckIn/thirtyMinutes' THEN interval '30 minutes'
                                                       ELSE interval '0' END,
                       body = CASE WHEN t.name LIKE 'RemindCheckIn/%'
                                   THEN json_build_object('account', m.account,
                                                          'deadline', session.microseconds(m.due_at),
                                                          'lead', split_part(t.name, '/', 2))
                                   ELSE json_build_object('account', m.account,
                                                          'deadline', session.microseconds(m.due_at)) END
                  FROM moved AS m
                """)
            try await quartet.start(.session)
            let told = "SELECT count(*) FROM notifications.notification WHERE kind = 'checkInReminder'"
            try await quartet.wait(for: "the reminder", told) { $0 != "0" }
            // After a kill and a restart it isn't announced again.
            try await quartet.restart(.session)
            try await quartet.restart(.sessionClient)
            try await quartet.waitUntilTimersAreDone()
            try await quartet.waitUntilQuiet()

            let isLate = minutesLeft < 30
            let leads = try await bob.read("/v1/notifications")["notifications"].array
                .filter { $0["kind"].string == "checkInReminder" }.map { $0["details"]["lead"].int }
            // Of two that are due, only the later one is sent: it says more.
            let lead: Int64 = isLate ? 1_800_000_000 : 7_200_000_000
            #expect(leads == [lead])
            let timers = try await quartet.timers(of: bob)
            #expect(timers == (isLate ? "MissCheckIn" : "RemindCheckIn/thirtyMinutes MissCheckIn"))
            let checkIn = try await bob.read("/v1/account")["checkIn"]
            #expect(checkIn["missed"] == false)
        }
    }

    @Test(
        "an alarm that goes on is repeated to responders, once each time, and then closed (S32, S34, A2)",
        arguments: ["checkInMissed", "alertRaised"])
    func alertedForEver(alarm: String) async throws {
        try await Quartet.with { quartet in
            let isMissed = alarm == "checkInMissed"
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            if isMissed {
                try await bob.act("CheckIn")
                try await quartet.waitUntilQuiet()
                try await quartet.kill(.session)
                try await quartet.moveDeadline(of: bob, to: "-1 day")
                try await quartet.start(.session)
            } else {
                try await bob.act("RaiseAlert")
            }

            let waiting = "SELECT count(*) FROM session.timer WHERE name = 'RepeatAlarm/\(alarm)'"
            try await quartet.wait(for: "the first repetition to be wanted", waiting) { $0 == "1" }
            let times = 6
            for times in 1...times {
                try await quartet.ageAlarm(alarm, of: bob)
                // A service killed while it is due announces it all the same, and once.
                if times % 2 == 1 { try await quartet.restart(.session) }
                let expected = "\(times)"
                try await quartet.wait(
                    for: "repetition \(times)", "SELECT count(*) FROM session.log WHERE type = 'AlarmRepeated'"
                ) { $0 == expected }
                try await quartet.wait(for: "the next repetition to be wanted", waiting) { $0 == "1" }
            }
            try await quartet.endAlarm(alarm, of: bob)
            try await quartet.restart(.session)
            try await anna.wait(toHear: "dependentAlarmEnded")
            try await quartet.waitUntilQuiet()
            let account = try await bob.read("/v1/account")
            #expect(account["alertRaised"] == .null && account["checkIn"]["missed"] == false)
            let kind = isMissed ? "dependentCheckInMissed" : "dependentAlertRaised"
            let told = try await anna.read("/v1/notifications")["notifications"].array
                .filter { $0["kind"].string == kind }.map { $0["details"]["count"].int }
            // Newest first; the first time has no count.
            let wanted: [Int64?] = (0...times).map { $0 == 0 ? nil : Int64($0) }
            #expect(Array(told.reversed()) == wanted)
            let own = try await bob.read("/v1/notifications")["notifications"].array.filter {
                $0["kind"].string == alarm
            }
            #expect(own.count == 2, "the person who knows it is told once, and once that nobody is on it")
            #expect(own.first?["details"]["text"].string?.hasPrefix("Nobody is on your alarm yet") == true)
            let repeated = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'AlarmRepeated'")
            let timers = try await quartet.psql("SELECT count(*) FROM session.timer WHERE name LIKE '%Alarm/%'")
            #expect(repeated == "\(times)" && timers == "0", "nothing is wanted any more, so nothing can come")
        }
    }
}

extension Quartet {
    /// Moves an account's last alarm back by six hours, so that its repetition is due. The clock can't be moved.
    fileprivate func ageAlarm(_ alarm: String, of person: Device) async throws {
        let column = alarm == "checkInMissed" ? "missed_last_alarm_at" : "alert_last_alarm_at"
        _ = try await psql(
            """
            WITH moved AS (
                UPDATE session.account SET \(column) = \(column) - interval '361 minutes'
                 WHERE account = '\(person.account)' RETURNING account
            )
            UPDATE session.timer AS t SET due_at = t.due_at - interval '361 minutes'
              FROM moved AS m
             WHERE t.key = 'account/' || m.account AND t.name = 'RepeatAlarm/\(alarm)'
            """)
    }

    /// Moves an alarm's beginning back by a month, so that it is to be closed.
    fileprivate func endAlarm(_ alarm: String, of person: Device) async throws {
        let columns = alarm == "checkInMissed" ? ["last_check_in_at", "due_at"] : ["alert_raised_at"]
        let moves = columns.map { "\($0) = \($0) - interval '31 days'" }.joined(separator: ", ")
        _ = try await psql(
            """
            WITH moved AS (UPDATE session.account SET \(moves) WHERE account = '\(person.account)' RETURNING account)
            UPDATE session.timer AS t SET due_at = t.due_at - interval '31 days'
              FROM moved AS m
             WHERE t.key = 'account/' || m.account AND t.name = 'CloseAlarm/\(alarm)'
            """)
    }

    /// Ends one of the three owners by kill -9 and starts it again, over and over while `isOn`: each time when it has
    /// decided something since it was started, so that it is hit at work and not only kept from it.
    func killAgainAndAgain(_ service: Service, while isOn: Observed<Bool>) async throws {
        let decided = "SELECT count(*) FROM \(service.rawValue).outcome"
        while isOn.value {
            try await kill(service)
            let before = Int(try await psql(decided)) ?? 0
            try await start(service)
            // More than one: a command that is in hand alone at three kills in a row is given up, as it should be.
            try await wait(for: "\(service.rawValue) to decide something", decided) {
                !isOn.value || (Int($0) ?? 0) > before + 4
            }
        }
    }
}
