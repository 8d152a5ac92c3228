import Bus
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import TestKit
import Testing

@Suite
struct UrgentTimerIndexTests {
    @Test(
        "the index of urgent timers has each urgent type that a service asks itself for, and no other",
        arguments: [
            ("session", SessionCommand.urgentTimers), ("contacts", ContactsCommand.urgentTimers),
            ("notifications", NotificationsCommand.urgentTimers),
        ])
    func types(schema: String, urgent: [String]) async throws {
        try await TestDatabase.with(.services) { database in
            let indexed = try await database.psql(
                """
                SELECT string_agg(m[1], ' ' ORDER BY m[1])
                  FROM pg_index AS i, regexp_matches(pg_get_expr(i.indpred, i.indrelid), '''([^'']+)''', 'g') AS m
                 WHERE i.indexrelid = to_regclass('\(schema).urgent_timer_by_due')
                """)
            #expect(indexed == urgent.joined(separator: " "))
        }
    }
}
