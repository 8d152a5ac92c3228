import Bus
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import TestKit
import Testing

@testable import SessionClientService

/// What each service says of the alarms that wait in it.
@Suite("Alarms that wait in a service", .timeLimit(.minutes(10)))
struct WaitingAlarmTests {
    /// A schema, what may be a name, the names of alarms, and those of timers.
    private static let lists: [(String, [String], [String], [String])] = [
        ("session", SessionCommand.types.map { $0.type }, AlarmMessages.session, AlarmMessages.sessionTimers),
        (
            "contacts", ContactsCommand.types.map { $0.type } + AlertKind.allCases.map { "RelayAlert/\($0.rawValue)" },
            AlarmMessages.contacts, AlarmMessages.contactsTimers
        ),
        (
            "notifications",
            NotificationsCommand.types.map { $0.type }
                + NotificationKind.allCases.map { "DeliverNotification/\($0.rawValue)" },
            AlarmMessages.notifications, []
        ),
    ]

    @Test("a service and session-client name the same messages of alarms, and the same timers", arguments: lists)
    func names(schema: String, candidates: [String], alarms: [String], timers: [String]) async throws {
        try await TestDatabase.with(.services) { database in
            func named(_ condition: String) async throws -> String {
                try await database.psql(
                    """
                    SELECT coalesce(string_agg(n.name, ' ' ORDER BY n.name COLLATE "C"), '')
                      FROM unnest('{\(candidates.joined(separator: ","))}'::text[]) AS n(name)
                     CROSS JOIN LATERAL (SELECT split_part(n.name, '/', 1) AS type,
                                                json_build_object('kind', split_part(n.name, '/', 2)) AS body) AS m
                     WHERE \(condition)
                    """)
            }
            let commands = try await named("\(schema).is_alarm(m.type, m.body)")
            #expect(commands == alarms.sorted().joined(separator: " "))
            guard !timers.isEmpty else { return }
            let due = try await named("\(schema).is_alarm_timer(m.type)")
            #expect(due == timers.sorted().joined(separator: " "))
        }
    }

    @Test("of the urgent timers, those that alarm nobody are known")
    func otherTimers() {
        let timers = SessionCommand.urgentTimers + ContactsCommand.urgentTimers + NotificationsCommand.urgentTimers
        let others = Set(timers).subtracting(AlarmMessages.sessionTimers + AlarmMessages.contactsTimers)
        #expect(others == ["CloseAlarm", "EndUnansweredAlert", "HoldAlarm", "SettleUnansweredPings"])
    }

    @Test(
        """
        a service says since when its oldest alarm waits in each place; canaries, closed accounts, what was handled and all \
        else are no alarms
        """,
        arguments: [
            ("session", "MissCheckIn", "CloseAlarm", "RaiseAlert", "{}"),
            ("contacts", "BeginNextTier", "SettleUnansweredPings", "RelayAlert", #"{"kind":"alertRaised"}"#),
        ])
    func places(schema: String, timer: String, other: String, command: String, body: String) async throws {
        try await TestDatabase.with(.services) { database in
            let canary = "account/ca9a4900-0000-8000-0000-000000000000"
            try await database.psql(
                """
                INSERT INTO \(schema).lease (source, partition) VALUES ('\(schema).due', 0);
                INSERT INTO \(schema).outcome (command_id, command_hash, outcome, partition, position, type, body)
                VALUES ('00000000-0000-7000-8000-000000000001', gen_random_uuid(), 'accepted', 0, 1, 'Accepted', '{}');
                INSERT INTO \(schema).timer (key, name, due_at, type, version, body)
                VALUES ('\(canary)', 'canary', '2020-01-01 00:00:01Z', '\(timer)', 1, '{}'),
                       ('account/a', 'other', '2020-01-01 00:00:02Z', '\(other)', 1, '{}'),
                       ('account/a', 'alarm', '2020-01-01 00:00:03Z', '\(timer)', 1, '{}'),
                       ('account/a', 'later', '2020-01-01 00:00:04Z', '\(timer)', 1, '{}');
                INSERT INTO \(schema).due (partition, position, kind, type, version, key, body, message_id, command_id, recorded_at)
                SELECT 0, t.n, 'command', t.type, 1, t.key, '{}', gen_random_uuid(),
                       ('00000000-0000-7000-8000-00000000000' || t.n)::uuid,
                       timestamptz '2020-01-01 00:01:00Z' + t.n * interval '1 second'
                  FROM (VALUES (1, '\(timer)', 'account/a'), (2, '\(timer)', '\(canary)'), (3, '\(other)', 'account/a'),
                               (4, '\(timer)', 'account/a')) AS t(n, type, key);
                -- A command that only waits has no error, and one that asks for nothing more an empty body.
                INSERT INTO \(schema).parked (source, partition, position, kind, type, version, key, body, message_id, recorded_at,
                                              attempts, cause, failing_since, retry_at, error)
                SELECT 'a log', 0, t.n, 'command', t.type, 1, t.key, t.body::json, gen_random_uuid(),
                       timestamptz '2020-01-01 00:02:00Z' + t.n * interval '1 second', coalesce(f.attempts, 0), f.cause,
                       f.at, f.at, t.error
                  FROM (VALUES (1, '\(command)', '\(canary)', '\(body)', NULL), (2, '\(other)', 'account/a', '{}', NULL),
                               (3, '\(command)', 'account/a', '{}', ''), (4, '\(timer)', 'account/a', '{}', NULL),
                               (5, '\(timer)', 'account/a', '{}', 'a bug'), (6, '\(command)', 'account/a', '\(body)', NULL),
                               (7, '\(command)', 'account/a', '\(body)', 'a bug')) AS t(n, type, key, body, error)
                  LEFT JOIN (VALUES (1, 'error', now())) AS f(attempts, cause, at) ON t.error IS NOT NULL
                """)
            let waiting = try await database.psql(
                """
                SELECT string_agg(w.place || ' ' || to_char(w.since AT TIME ZONE 'UTC', 'MI:SS') || ' ' || w.is_alarm, ', '
                                  ORDER BY w.since)
                  FROM \(schema).waiting_alarms() AS w
                """)
            #expect(waiting == "\(schema).timer 00:03 true, \(schema).due 01:04 true, \(schema).parked 02:06 true")
            // A narrow look leaves out old timers, and nothing else.
            let lately = try await database.psql(
                """
                SELECT string_agg(place, ', ' ORDER BY since) FROM \(schema).waiting_alarms(interval '1 minute')
                """)
            #expect(lately == "\(schema).due, \(schema).parked")
        }
    }

    @Test(
        "messages behind 500 others aren't looked at, which is said also if the last of these was handled ahead",
        arguments: ["session", "contacts"], [499, 500])
    func behind(schema: String, handled: Int) async throws {
        try await TestDatabase.with(.services) { database in
            let type = schema == "session" ? "MissCheckIn" : "JudgePings"
            let id = "('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid"
            try await database.psql(
                """
                INSERT INTO \(schema).lease (source, partition) VALUES ('\(schema).due', 0);
                INSERT INTO \(schema).outcome (command_id, command_hash, outcome, partition, position, type, body)
                SELECT \(id), gen_random_uuid(), 'accepted', 0, n, 'Accepted', '{}' FROM generate_series(1, \(handled)) AS n;
                INSERT INTO \(schema).due (partition, position, kind, type, version, key, body, message_id, command_id)
                SELECT 0, n, 'command', '\(type)', 1, 'account/a', '{}', gen_random_uuid(), \(id)
                  FROM generate_series(1, 501) AS n
                """)
            let waiting = try await database.psql("SELECT place, is_alarm FROM \(schema).waiting_alarms()")
            #expect(waiting == "\(schema).due|\(handled == 500 ? "f" : "t")")
        }
    }

    @Test(
        "looking for alarms that wait reads a few pages, however much else is due, parked or behind",
        arguments: ["session", "contacts"])
    func cost(schema: String) async throws {
        try await TestDatabase.with(.services) { database in
            try await database.psql(
                """
                INSERT INTO \(schema).lease (source, partition) VALUES ('\(schema).due', 0);
                INSERT INTO \(schema).timer (key, name, due_at, type, version, body)
                SELECT 'account/' || n, 'other', now() - interval '1 day', 'Other', 1, '{}' FROM generate_series(1, 20000) AS n;
                INSERT INTO \(schema).due (partition, position, kind, type, version, key, body, message_id, command_id)
                SELECT 0, n, 'command', 'Other', 1, 'account/' || n, '{}', gen_random_uuid(), gen_random_uuid()
                  FROM generate_series(1, 20000) AS n;
                INSERT INTO \(schema).parked (source, partition, position, kind, type, version, key, body, message_id, recorded_at,
                                              attempts)
                SELECT 'a log', 0, n, 'command', 'RelayAlert', 1, 'account/' || n, '{"kind":"checkedIn"}', gen_random_uuid(),
                       now() - interval '1 day', 0
                  FROM generate_series(1, 20000) AS n
                """)
            // The first look also reads the catalog. A reader may have looked at what is parked before, and the index's condition
            // is planned with the rights of the first in a connection who does.
            let plan = try await database.psql(
                """
                SET ROLE quartet_reader;
                SELECT FROM (SELECT count(*) FROM session_client.all_parked) AS p WHERE p.count < 0;
                SELECT FROM \(schema).waiting_alarms();
                EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT FROM \(schema).waiting_alarms()
                """)
            let read = try #require(plan.firstMatch(of: /Buffers: shared hit=(\d+)(?: read=(\d+))?/))
            let pages = (Int(read.1) ?? 0) + (read.2.flatMap { Int($0) } ?? 0)
            #expect(pages < 300, "\(plan)")
            let found = try await database.psql("SELECT place, is_alarm FROM \(schema).waiting_alarms()")
            #expect(found == "\(schema).due|f")
        }
    }

    @Test(
        "timers that an old snapshot keeps are gone past only by a look at all that waits",
        arguments: [("session", "MissCheckIn"), ("contacts", "JudgePings")])
    func snapshot(schema: String, type: String) async throws {
        try await TestDatabase.with(.services) { database in
            let plan = try await database.psql(
                """
                INSERT INTO \(schema).timer (key, name, due_at, type, version, body)
                SELECT 'account/' || n, 'late', now() - interval '1 hour', '\(type)', 1, '{}' FROM generate_series(1, 20000) AS n;
                -- Nothing is dead to others before this ends.
                BEGIN;
                UPDATE \(schema).timer SET due_at = due_at + interval '1 day';
                SELECT FROM \(schema).waiting_alarms(interval '2 minutes');
                EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT FROM \(schema).waiting_alarms(interval '2 minutes');
                EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) SELECT FROM \(schema).waiting_alarms();
                ROLLBACK;
                """)
            let pages = plan.matches(of: /Function Scan[^\n]*\n *Buffers: shared hit=(\d+)(?: read=(\d+))?/).map {
                (Int($0.1) ?? 0) + ($0.2.flatMap { Int($0) } ?? 0)
            }
            try #require(pages.count == 2, "\(plan)")
            // The second shows that there is something to go past.
            #expect(pages[0] < 300 && pages[1] > 1000, "\(pages)")
        }
    }
}
