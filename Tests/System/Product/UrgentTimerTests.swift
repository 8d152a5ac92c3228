import EdgeClient
import TestKit
import Testing

@Suite("End to end: urgent timers", .timeLimit(.minutes(60)))
struct UrgentTimerTests {
    @Test("a deadline that passes behind thousands of earlier reminders is noticed with the first of them (S29)")
    func behindReminders() async throws {
        try await Quartet.with { quartet in
            let anna = try await quartet.signUp("anna")
            try await anna.act("CheckIn")
            try await quartet.waitUntilQuiet()
            // In one statement: whoever looks sees all of them.
            _ = try await quartet.psql(
                """
                WITH reminders AS (
                    INSERT INTO session.timer (key, name, due_at, type, version, body)
                    SELECT 'account/' || gen_random_uuid(), t.name, now() - interval '1 minute', t.type, t.version, t.body
                      FROM session.timer AS t, generate_series(1, 4000)
                     WHERE t.key = 'account/\(anna.account)' AND t.name = 'RemindCheckIn/twoHours'
                    RETURNING 1)
                UPDATE session.timer SET due_at = now()
                 WHERE key = 'account/\(anna.account)' AND type = 'MissCheckIn' AND (SELECT count(*) FROM reminders) = 4000
                """)
            try await quartet.wait(
                for: "all of them to fire", "SELECT count(*) FROM session.due WHERE type = 'RemindCheckIn'"
            ) { $0 == "4000" }
            let transactions = try await quartet.psql(
                """
                SELECT count(DISTINCT d.xmin::text) > 1, count(*) FILTER (WHERE d.xmin::text::bigint < m.xmin::text::bigint)
                  FROM session.due AS d, session.due AS m
                 WHERE d.type = 'RemindCheckIn' AND m.type = 'MissCheckIn'
                """)
            #expect(transactions == "t|0")
        }
    }
}
