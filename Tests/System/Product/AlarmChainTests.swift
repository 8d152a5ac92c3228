import EdgeClient
import TestKit
import Testing

/// What `:chain` of `make psql` says of one alarm, with the real processes.
@Suite("End to end: the chain of an alarm", .timeLimit(.minutes(60)))
struct AlarmChainTests {
    @Test(
        """
        :chain has who was told of an alarm and of which tier, who got, was shown and read what, what they answered, what that \
        held back, each repetition and the end, in order of time, and reads no table as a whole (A2, A10, A13)
        """)
    func chain() async throws {
        try await Quartet.with(pushingTo: PushReceiver { _, _ in 200 }) { quartet in
            let (anna, ben, cleo) = try await quartet.signUp("anna", "ben", "cleo")
            for responder in [ben, cleo] { try await responder.add(anna) }
            try await ben.act("RegisterPush", ["token": "secret-of-bens-phone", "platform": "ios"])
            try await anna.act(
                "SetResponderTiers", ["tiers": [["after": 900_000_000, "responders": [.string(cleo.account)]]]])
            let alarm = try await Self.play(quartet, anna, ben, cleo)

            let lines = try await quartet.chain("\\set alarm \(alarm)\n:chain")
            var rest = lines[...]
            for line in Self.expected {
                let place = rest.firstIndex { $0.text.hasPrefix(line) }
                #expect(place != nil, "\(line) isn't where it should be in \(lines.map(\.text))")
                if let place { rest = rest[(place + 1)...] }
            }
            for line in [
                "anna|notified|checkInMissed", "ben|pushed|dependentCheckInMissed", "ben|shown|dependentCheckInMissed",
                "ben|read|dependentCheckInMissed", "cleo|notified|dependentCheckedInLate",
                "cleo|told the end|checkedIn",
            ] { #expect(lines.contains { $0.text.hasPrefix(line) }, "there is no \(line) in \(lines.map(\.text))") }
            #expect(lines.map(\.at) == lines.map(\.at).sorted() && lines.first?.since == "00:00:00")
            #expect(!lines.contains { $0.text.contains("not searched") })
            // The newest is meant if none is named.
            #expect(try await quartet.chain(":chain").map(\.text) == lines.map(\.text))

            // Told to search less, it says where it stopped.
            let less = try await quartet.named(
                "SELECT what, details FROM session_client.alarm_chain('\(alarm)', 1) WHERE what = 'not searched';")
            #expect(less.contains("not searched|contacts.log, partition "), "\(less)")

            let scanned = try await quartet.named(
                """
                BEGIN;
                \\set alarm \(alarm)
                :chain
                SELECT 'used ' || count(*) FROM pg_stat_xact_user_tables WHERE idx_scan > 0;
                SELECT 'scanned ' || schemaname || '.' || relname FROM pg_stat_xact_user_tables WHERE seq_scan > 0;
                COMMIT;
                """)
            #expect(
                scanned.contains("used ") && !scanned.contains("used 0") && !scanned.contains("scanned "), "\(scanned)")
        }
    }

    /// What follows one upon the other.
    private static let expected = [
        "anna|check-in due|", "anna|miss noticed|", "ben|told|tier 1", "ben|notified|dependentCheckInMissed",
        "anna|repeated|repetition 1", "ben|told again|repetition 1", "ben|can't|", "anna|tier began|tier 2, told: 1",
        "cleo|told|tier 2", "cleo|notified|dependentCheckInMissed", "cleo|on it|until ",
        "anna|to be held back|at most until ",
        "cleo|reached, safe|", "ben|not so: help is needed|", "anna|held back no longer|", "anna|ended|checked in",
        "ben|told the end|checkedIn",
    ]

    /// One alarm of Anna's from its beginning to its end. Cleo hears later than Ben.
    /// - Returns: Its id.
    private static func play(
        _ quartet: Quartet, _ anna: Device, _ ben: Device, _ cleo: Device
    ) async throws -> String {
        try await quartet.missCheckIn(of: anna)
        try await ben.wait(toHear: "dependentCheckInMissed")
        let notification = try #require(
            try await ben.read("/v1/notifications")["notifications"].array.first {
                $0["kind"].string == "dependentCheckInMissed"
            })
        let alarm = notification["details"]["alarm"]
        try await ben.act("ShowNotifications", ["ids": [notification["id"]]])
        try await ben.act("MarkRead", ["id": notification["id"]])
        try await quartet.wait(
            for: "the push to be recorded", "SELECT count(*) FROM notifications.push_attempt WHERE result = 'done'"
        ) { $0 != "0" }
        // The clock can't be moved.
        _ = try await quartet.psql(
            """
            UPDATE session.account SET missed_last_alarm_at = missed_last_alarm_at - interval '31 minutes'
             WHERE account = '\(anna.account)';
            UPDATE session.timer SET due_at = clock_timestamp()
             WHERE key = 'account/\(anna.account)' AND name = 'RepeatAlarm/checkInMissed';
            """)
        try await quartet.wait(
            for: "the repetition",
            "SELECT count(*) FROM notifications.notification WHERE kind = 'dependentCheckInMissed' AND details ->> 'count' = '1'"
        ) { $0 == "1" }
        func answer(_ responder: Device, _ answer: JSON) async throws {
            try await responder.act(
                "AcknowledgeAlarm", ["contact": .string(anna.account), "alarm": alarm, "answer": answer])
        }
        try await answer(ben, "cannot")
        try await cleo.wait(toHear: "dependentCheckInMissed")
        try await answer(cleo, "onIt")
        try await answer(cleo, "safe")
        try await answer(ben, "needsHelp")
        try await anna.act("CheckIn")
        for responder in [ben, cleo] { try await responder.wait(toHear: "dependentCheckedInLate") }
        try await quartet.waitUntilQuiet()
        return try #require(alarm.string)
    }
}

extension Quartet {
    /// The lines of a chain: when, how long after the first, and who, what and the details.
    fileprivate func chain(_ query: String) async throws -> [(at: String, since: String, text: String)] {
        try await named(query).split(separator: "\n").compactMap { line in
            let columns = line.split(separator: "|", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            guard columns.count == 3, columns[0].wholeMatch(of: /\d{4}-\d\d-\d\d [\d:.]+/) != nil else { return nil }
            return (columns[0], columns[1], columns[2])
        }
    }
}
