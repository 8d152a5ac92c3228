import EdgeClient
import Foundation
import TestKit
import Testing

/// What the services ask by themselves, while nobody asks them anything.
@Suite("End to end: scans", .serialized, .timeLimit(.minutes(60)))
struct ScanTests {
    @Test(
        """
        when there is nothing to do, every statement that a service runs by itself reads the same few pages, whether its \
        tables have a hundred thousand rows of a kind or ten times as many
        """)
    func idleStatements() async throws {
        try await PrivateCluster.with { cluster in
            try await TestDatabase.with(Quartet.template, on: try cluster.cluster()) { database in
                // Every plan goes to the server's log, with the pages that it read and those of what it called.
                try await database.psql(
                    """
                    DO $$BEGIN
                        EXECUTE format('ALTER DATABASE %I SET session_preload_libraries = ''auto_explain''', current_database());
                        EXECUTE format('ALTER DATABASE %I SET auto_explain.log_min_duration = 0', current_database());
                        EXECUTE format('ALTER DATABASE %I SET auto_explain.log_analyze = on', current_database());
                        EXECUTE format('ALTER DATABASE %I SET auto_explain.log_timing = off', current_database());
                        EXECUTE format('ALTER DATABASE %I SET auto_explain.log_buffers = on', current_database());
                    END$$
                    """)
                // The leases say which partitions there are.
                _ = try await Self.pages(database, cluster)
                let sizes = [100_000, Soak.count(1_000_000, long: 10_000_000)]
                try await Self.grow(database, by: sizes[0])
                let few = try await Self.pages(database, cluster)
                try await Self.grow(database, by: sizes[1] - sizes[0])
                let many = try await Self.pages(database, cluster, besides: Set(few.keys))
                #expect(few.count > 40, "\(few.keys.sorted())")
                for (statement, pages) in many.sorted(by: { $0.key < $1.key }) {
                    guard let before = few[statement] else {
                        // It ran too seldom before.
                        #expect(pages.fewest <= 1000, "\(pages.fewest) pages: \(statement)")
                        continue
                    }
                    // A B-tree may have grown by a level, which each partition's search then reads. What goes through a table 500 rows
                    // at a time finds each in a page of its own once there are enough pages, with an index's in turn.
                    let isInPieces = statement.contains("LIMIT $") || statement.contains("= ANY ($")
                    #expect(
                        pages.fewest <= max(before.fewest * 3 / 2 + 150, isInPieces ? 1200 : 0),
                        "\(before.fewest) pages, then \(pages.fewest): \(statement)")
                }
            }
        }
    }

    /// What has to have run before an idle system has shown all that it does.
    private static let awaited =
        [
            "session", "contacts", "notifications", "session_client",
        ].map { "\($0).delete_old_batches(" } + [
            "session.timer", "contacts.timer", "notifications.timer", "session_client.saga", "notifications.push",
            "session_client.alarm_dead_letters(", "session_client.parked", "session.waiting_alarms(",
        ]
        + ["session", "contacts", "notifications"].flatMap { schema in
            ["delete_old_outcomes", "empty_failed_secrets", "log_delete_old"].map { "\(schema).\($0)(" }
        }
        + [
            "delete_old_attempts", "delete_old_attachments", "delete_old_groups", "delete_old_messages",
            "delete_old_checkpoints", "delete_old_withdrawals",
        ].map { "session.\($0)(" }
        + [
            "delete_old_signed_out_devices", "delete_old_taken_pushes", "delete_old_test_pushes", "empty_reminders",
        ].map { "notifications.\($0)(" }
        + ["SELECT t.account, t.taken_at FROM notifications.push_taken"]
        + ["empty_secrets", "delete_old_sagas", "delete_old_uploads", "delete_old_stream_tokens"].map {
            "session_client.\($0)("
        }

    /// How often a statement ran, and the fewest pages that it read.
    private struct Pages {
        var runs = 0
        var fewest = Int.max
    }

    /// A session's first runs of a statement read the catalog, too, and plan for each value.
    private static let enoughRuns = 4

    /// Runs the services until each statement has run often enough, and returns those that did.
    /// - Parameter others: Statements to wait for as well.
    private static func pages(
        _ database: TestDatabase, _ cluster: PrivateCluster, besides others: Set<String> = []
    ) async throws -> [String: Pages] {
        return try await Quartet.with(databaseURL: try database.url, services: []) { quartet in
            var all: [String: Pages] = [:]
            var begun = "scan test \(UUID())"
            try await database.psql("SELECT '\(begun)'")
            /// Adds what ran since the last look. The log has more lines than are kept for long.
            func explained() async throws -> [String: Pages] {
                let now = "scan test \(UUID())"
                try await database.psql("SELECT '\(now)'")
                let lines = cluster.logTail(60_000).split(separator: "\n")
                let start = lines.lastIndex { $0.contains(begun) } ?? lines.startIndex
                let end = lines.lastIndex { $0.contains(now) } ?? lines.endIndex
                begun = now
                guard start < end else { return all.filter { $0.value.runs >= enoughRuns } }
                all.merge(pages(in: lines[start..<end])) { before, since in
                    .init(runs: before.runs + since.runs, fewest: min(before.fewest, since.fewest))
                }
                return all.filter { $0.value.runs >= enoughRuns }
            }
            for service in Quartet.Service.allCases {
                // With a lease that a busy machine doesn't miss: to lose it, and get it back, is not what an idle system does.
                try await quartet.start(service, environment: ["RETENTION_INTERVAL": "1s", "CONSUMER_LEASE": "30s"])
                // What a service runs as it starts is read before the log has forgotten it.
                _ = try await explained()
            }
            var seen: [String: Pages] = [:]
            for _ in 0..<400 {
                seen = try await explained()
                if others.isSubset(of: seen.keys),
                    awaited.allSatisfy({ name in seen.keys.contains { $0.contains(name) } })
                {
                    break
                }
                try await Task.sleep(for: .seconds(3))
            }
            for name in awaited {
                try #require(seen.keys.contains { $0.contains(name) }, "\(name) didn't run often enough")
            }
            let missing = others.subtracting(seen.keys)
            #expect(missing == [], "these didn't run often enough any more")
            return seen
        }
    }

    private static func pages(in log: ArraySlice<Substring>) -> [String: Pages] {
        var pages: [String: Pages] = [:]
        var statement: String?
        var hasPlan = false
        var read: Int?
        func end() {
            guard let statement, hasPlan else { return }
            var seen = pages[statement] ?? .init()
            seen.runs += 1
            seen.fewest = min(seen.fewest, read ?? 0)
            pages[statement] = seen
        }
        for line in log {
            if line.contains(" plan:") || line.contains("LOG:  ") {
                end()
                (statement, hasPlan, read) = (nil, false, nil)
            } else if let text = line.firstRange(of: "Query Text: ") {
                statement = String(line[text.upperBound...])
            } else if !hasPlan, line.contains("(cost=") {
                hasPlan = true
            } else if !hasPlan, let text = statement {
                statement = text + " " + line.trimmingCharacters(in: .whitespaces)
            } else if hasPlan, read == nil, line.contains("Buffers: ") {
                read = ["shared hit=", " read="].reduce(0) { sum, name in
                    guard let range = line.firstRange(of: name) else { return sum }
                    return sum + (Int(line[range.upperBound...].prefix { $0.isNumber }) ?? 0)
                }
            }
        }
        // The last one's plan may not be there in full.
        return pages
    }

    /// Adds rows as a busy day leaves them: handled, young, and not due. So many of each kind: of messages, batches, outcomes,
    /// timers, and all else.
    private static func grow(_ database: TestDatabase, by count: Int) async throws {
        // A statement must end within the patience of who runs it, on a busy machine, too.
        for piece in stride(from: 0, to: count, by: 100_000) {
            try await insert(min(100_000, count - piece), database)
        }
        try await database.psql("VACUUM")
    }

    private static func insert(_ count: Int, _ database: TestDatabase) async throws {
        try await database.psql(
            """
            DO $$
            DECLARE
                rows  int := \(count);
                place record;
            BEGIN
                -- Nothing follows from these rows.
                SET LOCAL session_replication_role = replica;
                SET LOCAL synchronous_commit = off;
                FOR place IN SELECT l.log, count(*) OVER (PARTITION BY l.log) AS partitions, l.partition, l.head
                               FROM session_client.heads AS l LOOP
                    EXECUTE format(
                        'INSERT INTO %s (partition, position, kind, type, version, key, body, message_id)
                         SELECT $1, $2 + n, ''event'', ''Generated'', 1, ''account/'' || gen_random_uuid(), ''{}'', gen_random_uuid()
                           FROM generate_series(1, $3) AS n', place.log)
                      USING place.partition, place.head, rows / 9 / place.partitions;
                END LOOP;
                FOR place IN
                    SELECT l.consumer, l.source, l.partition, count(*) OVER (PARTITION BY l.consumer) AS partitions,
                           h.head, coalesce(b.number, 0) AS number, coalesce(b.given_time, now()) AS given_time
                      FROM session_client.all_leases AS l
                      JOIN session_client.heads AS h ON h.log = l.source AND h.partition = l.partition
                      LEFT JOIN LATERAL (SELECT b.number, b.given_time FROM session_client.batches AS b
                                          WHERE b.consumer = l.consumer AND b.source = l.source AND b.partition = l.partition
                                          ORDER BY b.number DESC LIMIT 1) AS b ON true
                LOOP
                    EXECUTE format(
                        'INSERT INTO %s.batch (source, partition, number, position, owner, epoch, given_time, messages)
                         SELECT $1, $2, $3 + n, $4, gen_random_uuid(), 1, $5, 1 FROM generate_series(1, $6) AS n', place.consumer)
                      USING place.source, place.partition, place.number, place.head, place.given_time, rows / 4 / place.partitions;
                END LOOP;
                FOR place IN SELECT * FROM unnest(ARRAY['session', 'contacts', 'notifications']) AS s (name) LOOP
                    EXECUTE format(
                        'INSERT INTO %s.outcome (command_id, command_hash, outcome, partition, position, type, body)
                         SELECT (lpad(to_hex((extract(epoch FROM now() - random() * interval ''10 days'') * 1000)::bigint), 12, ''0'')
                                 || ''7'' || substr(md5(random()::text), 1, 19))::uuid,
                                gen_random_uuid(), ''accepted'', 0, 1, ''Accepted'', ''{}''
                           FROM generate_series(1, $1) AS n', place.name)
                      USING rows / 3;
                END LOOP;
                FOR place IN SELECT * FROM unnest(ARRAY['session', 'contacts', 'notifications']) AS s (name) LOOP
                    EXECUTE format(
                        'INSERT INTO %s.timer (key, name, due_at, type, version, body)
                         SELECT ''account/'' || gen_random_uuid(), ''Generated'', now() + interval ''1 day'' + n * interval ''1 second'',
                                ''Generated'', 1, ''{}''
                           FROM generate_series(1, $1) AS n', place.name)
                      USING rows / 2;
                END LOOP;
                INSERT INTO session_client.saga (id, type, account, body, body_hash, state, result, correlation_id, ended_at)
                SELECT gen_random_uuid(), 'Generated', gen_random_uuid(), '{}', gen_random_uuid(), 'done', '{}', gen_random_uuid(), now()
                  FROM generate_series(1, rows / 6);
                INSERT INTO session_client.stream_token (stream, account, device, expires_at)
                SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() + interval '1 day'
                  FROM generate_series(1, rows / 6);
                INSERT INTO session_client.upload (account, hash)
                SELECT gen_random_uuid(), sha256(n::text::bytea) FROM generate_series(1, rows / 6) AS n;
                INSERT INTO notifications.notification (account, id, kind, category, details, created_at)
                SELECT gen_random_uuid(), gen_random_uuid(), 'generated', 'generated', '{}', now() FROM generate_series(1, rows / 6);
                INSERT INTO notifications.push (account, device, notification, body, priority, platform, next_attempt_at)
                SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '{}', 2,
                       (ARRAY['ios', 'android', 'web', 'other'])[n % 4 + 1], now() + interval '1 day'
                  FROM generate_series(1, rows / 6) AS n;
                -- Of each platform and priority, and with too many failures to be tried before their time.
                INSERT INTO notifications.push (account, device, notification, body, priority, platform, attempts, last_error,
                                                next_attempt_at)
                SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '{}', n % 3,
                       (ARRAY['ios', 'android', 'web', 'other'])[n % 4 + 1], 61, 'away', now() + interval '1 day'
                  FROM generate_series(1, rows / 6) AS n;
                INSERT INTO notifications.signed_out_device (account, device, signed_out_at)
                SELECT gen_random_uuid(), gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, rows / 6);
                INSERT INTO notifications.push_taken (account, taken_at, is_recorded)
                SELECT gen_random_uuid(), now() + interval '1 day', true FROM generate_series(1, rows / 6);
                INSERT INTO notifications.test_push (id, account, device, asked_at)
                SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now() + interval '1 day'
                  FROM generate_series(1, rows / 6);
                INSERT INTO notifications.reminder_text (partition, position, recorded_at)
                SELECT n % 8, coalesce((SELECT max(t.position) FROM notifications.reminder_text AS t), 0) + n, now() + interval '1 day'
                  FROM generate_series(1, rows / 6) AS n;
                INSERT INTO session.withdrawal (inviter, invited, withdrawn_at)
                SELECT gen_random_uuid(), gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, rows / 6);
                INSERT INTO session.sign_in_attempt (subject, source, counted_since, failures, codes)
                SELECT gen_random_uuid(), gen_random_uuid(), now() + interval '1 day', 1, 0 FROM generate_series(1, rows / 6);
                INSERT INTO session.group_session (group_id, creator, activity, capacity, seats, is_open_to_contacts, joins,
                                                   created_at, ended_at, end_reason)
                SELECT gen_random_uuid(), gen_random_uuid(), 'generated', 2, 0, false, 1, now(), now(), 'expired'
                  FROM generate_series(1, rows / 6);
                FOR place IN SELECT * FROM unnest(ARRAY['session', 'contacts', 'notifications', 'session_client']) AS s (name) LOOP
                    -- Decided long ago or not at all, and none of an alarm.
                    EXECUTE format(
                        'INSERT INTO %s.dead_letter (message_id, source, partition, position, kind, type, version, key, body,
                                                     code, error, attempts, died_at)
                         SELECT gen_random_uuid(), ''generated'', 0, n, ''command'', ''Generated'', 1, ''generated'',
                                ''{"is":"generated"}'', ''error'', ''generated'', 1, now() - interval ''1 day''
                           FROM generate_series(1, $1) AS n', place.name)
                      USING rows / 6;
                    -- In a partition that nobody reads, so that they stay as they are: messages of a type that nobody knows.
                    EXECUTE format(
                        'INSERT INTO %1$s.parked (source, partition, position, kind, type, version, key, body, message_id,
                                                  recorded_at, attempts, family)
                         SELECT ''generated'', 999, p.last + n, ''command'', ''Generated'', 1, ''generated'',
                                ''{"is":"generated"}'', gen_random_uuid(), now() - interval ''1 day'', 0, ''unknown Generated/1''
                           FROM (SELECT coalesce(max(position), 0) AS last FROM %1$s.parked) AS p,
                                generate_series(1, $1) AS n', place.name)
                      USING rows / 6;
                END LOOP;
                INSERT INTO notifications.push_device (account, device, token, platform, registered_at)
                SELECT gen_random_uuid(), gen_random_uuid(), 'token' || n, 'ios', now() FROM generate_series(1, rows / 6) AS n;
            END$$
            """)
    }
}
