import EdgeClient
import TestKit
import Testing

/// Responders who hear of a missed check-in later than others, with the real processes.
@Suite("End to end: tiers of responders", .timeLimit(.minutes(60)))
struct EndToEndTierTests {
    @Test(
        """
        who hears later hears when it is their turn, kills or not, or at once when those before can't do anything; who wasn't \
        told before it was over hears nothing (A10)
        """)
    func turns() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            let (ben, cleo, dora) = try await quartet.signUp("ben", "cleo", "dora")
            for responder in [ben, cleo, dora] { try await responder.add(anna) }
            let annaSees = try await LiveView.open(anna)
            let tiers: JSON = [
                ["after": 900_000_000, "responders": [.string(cleo.account)]],
                ["after": 3_600_000_000, "responders": [.string(dora.account)]],
            ]
            let set = try await anna.act("SetResponderTiers", ["tiers": tiers])
            #expect(set["tiers"] == tiers)
            let seen = try await annaSees.wait("ResponderTiersSet", in: "contacts").data["body"]
            #expect(seen["tiers"] == tiers)
            #expect(try await LiveView.open(anna).snapshot(of: "contacts")["responderTiers"] == tiers)
            // Nobody else is to know who comes after whom.
            #expect(try await LiveView.open(ben).snapshot(of: "contacts")["responderTiers"] == .null)

            try await quartet.missCheckIn(of: anna)
            try await ben.wait(toHear: "dependentCheckInMissed")
            for service in [Quartet.Service.contacts, .sessionClient] { try await quartet.restart(service) }
            try await quartet.waitUntilQuiet()
            #expect(try await !cleo.kinds().contains("dependentCheckInMissed"))
            let due = """
                SELECT t.due_at - m.first_tier_at = interval '15 minutes'
                  FROM contacts.timer AS t JOIN contacts.alarm AS m ON 'account/' || m.account = t.key
                 WHERE t.name LIKE 'BeginNextTier%'
                """
            #expect(try await quartet.psql(due) == "t")
            try await quartet.beginNextTier(of: anna)
            try await cleo.wait(toHear: "dependentCheckInMissed")
            try await quartet.waitUntilQuiet()
            #expect(try await !dora.kinds().contains("dependentCheckInMissed"))

            // The two who know of it can't do anything.
            let alarm = try await anna.read("/v1/account")["checkIn"]["alarm"]
            for responder in [ben, cleo] {
                try await responder.act(
                    "AcknowledgeAlarm", ["contact": .string(anna.account), "alarm": alarm, "answer": "cannot"])
            }
            try await dora.wait(toHear: "dependentCheckInMissed")
            try await anna.act("CheckIn")
            for responder in [ben, cleo, dora] { try await responder.wait(toHear: "dependentCheckedInLate") }

            // The next alarm is over before it is anybody else's turn.
            try await quartet.missCheckIn(of: anna)
            try await quartet.waitUntilQuiet()
            try await anna.act("CheckIn")
            try await quartet.waitUntilQuiet()
            for (responder, count) in [(ben, 2), (cleo, 1), (dora, 1)] {
                let kinds = try await responder.kinds()
                #expect(kinds.count { $0 == "dependentCheckInMissed" } == count)
                #expect(kinds.count { $0 == "dependentCheckedInLate" } == count)
            }
            #expect(
                try await quartet.psql("SELECT count(*) FROM contacts.timer WHERE name LIKE 'BeginNextTier%'") == "0")
        }
    }
}

extension Quartet {
    /// Lets it be the next tier's turn: the clock can't be moved.
    fileprivate func beginNextTier(of person: Device) async throws {
        _ = try await psql(
            """
            UPDATE contacts.alarm SET first_tier_at = first_tier_at - interval '15 minutes'
             WHERE account = '\(person.account)';
            UPDATE contacts.account SET next_tier_at = next_tier_at - interval '15 minutes'
             WHERE account = '\(person.account)';
            UPDATE contacts.timer SET due_at = clock_timestamp()
             WHERE key = 'account/\(person.account)' AND name LIKE 'BeginNextTier%';
            """)
    }
}
