import EdgeClient
import TestKit
import Testing

/// Pauses of check-ins, with the real processes.
@Suite("End to end: pauses", .timeLimit(.minutes(60)))
struct EndToEndPauseTests {
    @Test(
        """
        responders see a pause and hear once when it begins, gets another end and is over, kills or not; nobody is alarmed in \
        it, and everybody is after it (A5)
        """)
    func told() async throws {
        try await Quartet.with { quartet in
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            try await bob.act("CheckIn")
            let start = try #require(try await LiveView.open(bob).snapshot(of: "account")["checkIn"]["last"].int)
            let day: Int64 = 86_400_000_000
            let paused = try await bob.act("PauseCheckIns", ["until": .int(start + 3 * day)])
            #expect(paused["due"].int == start + 4 * day)
            for service in [Quartet.Service.contacts, .session, .sessionClient] { try await quartet.restart(service) }
            try await bob.act("PauseCheckIns", ["until": .int(start + 5 * day)])
            try await quartet.waitUntilQuiet()
            let card = try await anna.card(of: bob)["person"]["checkIn"]
            #expect(card["pausedUntil"].int == start + 5 * day && card["due"].int == start + 6 * day)
            let timers = try await quartet.timers(of: bob)
            #expect(timers == "RemindPause EndPause RemindCheckIn/twoHours RemindCheckIn/thirtyMinutes MissCheckIn")
            #expect(try await anna.pauses() == [start + 5 * day, start + 3 * day])

            try await bob.act("ResumeCheckIns")
            try await quartet.waitUntilQuiet()
            #expect(try await anna.pauses() == [nil, start + 5 * day, start + 3 * day])
            let after = try await anna.card(of: bob)["person"]["checkIn"]
            #expect(after["pausedUntil"] == nil && after["missed"] == false)
            #expect(
                try await quartet.timers(of: bob) == "RemindCheckIn/twoHours RemindCheckIn/thirtyMinutes MissCheckIn")
            try await quartet.missCheckIn(of: bob)
            try await anna.wait(toHear: "dependentCheckInMissed")
            let due = try await bob.ask("PauseCheckIns", ["until": .int(start + 3 * day)])
            #expect(due.status == 409 && due.body["code"] == "checkInDue")
        }
    }
}

extension Device {
    /// Until when somebody's check-ins are paused, by each notification about that, newest first; nil for the end of a pause.
    fileprivate func pauses() async throws -> [Int64?] {
        try await read("/v1/notifications?limit=200")["notifications"].array
            .filter { $0["kind"] == "system" && $0["details"]["text"].string?.contains("pause") == true }
            .map { $0["details"]["pausedUntil"].int }
    }
}
