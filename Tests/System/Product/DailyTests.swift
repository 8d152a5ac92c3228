import EdgeClient
import Foundation
import TestKit
import Testing

/// Check-ins at daily times, with the real processes.
@Suite("End to end: daily times", .timeLimit(.minutes(60)))
struct EndToEndDailyTests {
    /// A minute of the day in UTC, so many from now.
    private static func minute(_ distance: Int64, from now: Int64) -> Int64 {
        let minutes = now / 60_000_000 + distance
        return (minutes % 1440 + 1440) % 1440
    }

    /// A folder of time zones, each with the data of another one.
    private static func withZones(_ zones: [String: String], _ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "zones-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        for (name, other) in zones {
            let file = folder.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(contentsOf: Products.zones.appending(path: other)).write(to: file)
        }
        try Data("# version 2099z\n".utf8).write(to: folder.appending(path: "tzdata.zi"))
        try await body(folder.path)
    }

    private static let weekdays: JSON = [
        "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ]

    @Test(
        """
        a check-in that comes too early for a daily time is shown, moves nothing and is answered with from when on it counts; responders see \
        the deadline, and neither the times nor the zone; newer data of the zone move it, kills or not, and the person is told (A6)
        """)
    func early() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            let now = try #require(try await bob.read("/v1/time")["received"].int)
            let hour: Int64 = 3_600_000_000
            // More than twelve hours ahead, so that other data of the zone may move it.
            let due = Self.minute(20 * 60, from: now)
            let set = try await bob.act(
                "SetDailyCheckIns", ["times": [.int(due)], "weekdays": Self.weekdays, "zone": "Etc/UTC"])
            let first = try #require(set["due"].int)
            #expect(first > now + 19 * hour && first <= now + 20 * hour + hour && set["opens"].int == first - 6 * hour)
            let early = try await bob.act("CheckIn")
            #expect(early["isEarly"] == true && early["due"].int == first && early["opens"].int == first - 6 * hour)
            try await quartet.waitUntilQuiet()
            let mine = try await bob.read("/v1/account")["checkIn"]
            #expect(mine["last"].int == early["at"].int && mine["daily"]["zone"] == "Etc/UTC")
            let card = try await anna.card(of: bob)["person"]["checkIn"]
            #expect(card["due"].int == first && card["daily"] == nil && card["opens"] == nil)
            let timers = try await quartet.timers(of: bob)
            #expect(timers == "RemindCheckIn/twoHours RemindCheckIn/thirtyMinutes MissCheckIn")

            // The zone turns out to be three hours ahead.
            try await Self.withZones(["Etc/UTC": "Etc/GMT-3"]) { folder in
                try await ChildProcess.with(
                    "session", ["migrate", "--zones-dir", folder], environment: ["DATABASE_URL": quartet.databaseURL]
                ) { try await $0.waitForExit(.exited(0)) }
            }
            let version = try await quartet.psql("SELECT zones || ' ' || zones_name FROM session.limits")
            #expect(version == "2 2099z")
            try await quartet.restart(.session)
            try await bob.wait(toHear: "system")
            let moved = try await bob.read("/v1/account")["checkIn"]
            #expect(moved["due"].int == first - 3 * hour && moved["opens"].int == first - 9 * hour)
            #expect(try await quartet.timers(of: bob) == timers)
            let interval = try await bob.act("SetCheckInInterval", ["interval": .int(24 * hour)])
            #expect(interval["interval"].int == 24 * hour)
            #expect(try await bob.read("/v1/account")["checkIn"]["daily"] == nil)
        }
    }

    @Test("a daily time that nobody checks in for begins the alarm, once, and a late check-in ends it (A6)")
    func missed() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            let now = try #require(try await bob.read("/v1/time")["received"].int)
            let due = Self.minute(20 * 60, from: now)
            try await bob.act("SetDailyCheckIns", ["times": [.int(due)], "weekdays": Self.weekdays, "zone": "Etc/UTC"])
            try await quartet.waitUntilQuiet()
            // The next deadline, and what daily times know of it, as if it had come.
            _ = try await quartet.psql(
                """
                WITH due AS MATERIALIZED (SELECT date_trunc('milliseconds', clock_timestamp()) AS at), moved AS (
                    UPDATE session.account AS a
                       SET due_at = due.at, last_check_in_at = due.at - interval '3 days',
                           daily = jsonb_set(a.daily::jsonb, '{deadline}', to_jsonb(session.microseconds(due.at)))::json
                      FROM due
                     WHERE a.account = '\(bob.account)' RETURNING a.account, a.due_at
                ), gone AS (DELETE FROM session.timer WHERE key = 'account/\(bob.account)' AND name LIKE 'RemindCheckIn/%')
                UPDATE session.timer AS t
                   SET due_at = m.due_at,
                       body = json_build_object('account', m.account, 'deadline', session.microseconds(m.due_at))
                  FROM moved AS m
                 WHERE t.key = 'account/' || m.account AND t.name = 'MissCheckIn'
                """)
            try await anna.wait(toHear: "dependentCheckInMissed")
            let checkedIn = try await bob.act("CheckIn")
            #expect(checkedIn["alarm"].string != nil && checkedIn["isEarly"] == nil)
            try await anna.wait(toHear: "dependentCheckedInLate")
        }
    }
}
