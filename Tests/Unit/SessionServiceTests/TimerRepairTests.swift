import Bus
import Logging
import Postgres
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import SessionService
import StoreKit
import TestKit
import Testing

/// Deadlines whose timers are gone, and those that only look like it.
@Suite("Session: timers are repaired")
struct TimerRepairTests {
    private static let tables = DatabaseTemplate.session

    @Test("a deadline that lost its timer gets it back, unless its command is on its way, parked or discarded (S32)")
    func repair() async throws {
        try await TestDatabase.with(Self.tables) { database in
            try await Self.lose(in: database)
            let repair = try Self.repair(in: database)
            let running = Task { try await repair.run() }
            defer { running.cancel() }
            let timers = """
                SELECT string_agg(a.handle || ' ' || (t.due_at = a.due_at), ', ' ORDER BY a.handle)
                  FROM session.timer AS t JOIN session.account AS a ON t.key = 'account/' || a.account
                """
            let healed = "future true, handled true, kept true, past true, wrong true"
            try await database.wait(for: "the timers", timers) { $0 == healed }

            // A deadline whose command was parked is repaired once it isn't, if the deadline still stands.
            try await database.psql("DELETE FROM session.parked")
            try await database.wait(for: "the parked one's timer", timers) {
                $0 == "future true, handled true, kept true, parked true, past true, wrong true"
            }
            // Each exactly once.
            let count = try await database.psql("SELECT count(*) FROM session.timer")
            #expect(count == "6")
            running.cancel()
            try await running.value
        }
    }

    /// Adds accounts with a deadline each, named after what has become of its timer.
    private static func lose(in database: TestDatabase) async throws {
        try await database.psql(
            Self.accounts(
                """
                SELECT number, handle, CASE handle WHEN 'future' THEN interval '1 day' ELSE interval '-1 hour' END
                  FROM unnest(ARRAY['past', 'future', 'wrong', 'unhandled', 'parked', 'discarded', 'handled', 'kept'])
                       WITH ORDINALITY AS h(handle, number)
                """))
        try await database.psql(
            """
            INSERT INTO session.timer (key, name, due_at, type, version, body)
            SELECT 'account/' || account, 'MissCheckIn', due_at, 'MissCheckIn', 1,
                   json_build_object('account', account, 'deadline', session.microseconds(due_at))
              FROM session.account WHERE handle IN ('wrong', 'kept');
            UPDATE session.timer AS t SET due_at = t.due_at + interval '1 year'
              FROM session.account AS a WHERE t.key = 'account/' || a.account AND a.handle = 'wrong';
            INSERT INTO session.due (partition, position, kind, type, version, key, body, message_id, command_id)
            SELECT session.due_partition_of('account/' || account),
                   row_number() OVER (PARTITION BY session.due_partition_of('account/' || account) ORDER BY handle),
                   'command', 'MissCheckIn', 1, 'account/' || account,
                   json_build_object('account', account, 'deadline', session.microseconds(due_at)),
                   gen_random_uuid(), gen_random_uuid()
              FROM session.account WHERE handle IN ('unhandled', 'parked', 'discarded', 'handled');
            -- All but one are handled, in partitions of their own.
            INSERT INTO session.batch (source, partition, number, position, owner, epoch, given_time, messages)
            SELECT 'session.due', d.partition, 1, max(d.position), gen_random_uuid(), 1, now(), 1
              FROM session.due AS d
             WHERE d.partition NOT IN (SELECT session.due_partition_of('account/' || a.account)
                                         FROM session.account AS a WHERE a.handle = 'unhandled')
             GROUP BY d.partition;
            INSERT INTO session.dead_letter (message_id, source, partition, position, kind, type, version, key, body,
                                             code, error, attempts)
            SELECT d.message_id, 'session.due', d.partition, d.position, d.kind, d.type, d.version, d.key, d.body,
                   'discarded', 'by hand', 1
              FROM session.due AS d JOIN session.account AS a ON d.key = 'account/' || a.account
             WHERE a.handle = 'discarded';
            """)
        try await database.psql(Self.park("parked"))
    }

    @Test("a timer that fires while timers are repaired fires once, however many repair them (S32)")
    func concurrent() async throws {
        try await TestDatabase.with(Self.tables) { database in
            try await database.psql(
                """
                \(Self.accounts("SELECT n, 'person' || n, n * interval '1 millisecond' FROM generate_series(1, 300) AS n"));
                INSERT INTO session.timer (key, name, due_at, type, version, body)
                SELECT 'account/' || account, 'MissCheckIn', due_at, 'MissCheckIn', 1,
                       json_build_object('account', account, 'deadline', session.microseconds(due_at))
                  FROM session.account
                """)
            let url = try database.url(as: "session")
            let due = Log(name: LogName(schema: "session", table: "due"), partitionCount: 8)
            let running = try (0..<3).map { _ in
                let repair = try Self.repair(in: database)
                return Task { try await repair.run() }
            }
            let timers = Timers(
                log: due, urgent: SessionCommand.urgentTimers, configuration: Configuration(url), logger: Self.logger)
            let firing = Task { try await timers.run() }
            try await database.wait(for: "all to fire", "SELECT count(DISTINCT key) FROM session.due") { $0 == "300" }
            for task in running + [firing] {
                task.cancel()
                try await task.value
            }
            let counts = try await database.psql(
                "SELECT count(*) || ' ' || (SELECT count(*) FROM session.timer) FROM session.due")
            #expect(counts == "300 0")
        }
    }

    @Test("behind a long backlog nothing is repaired, since the timer's command may be in it; afterwards it is (S32)")
    func backlog() async throws {
        try await TestDatabase.with(Self.tables) { database in
            try await database.psql(
                """
                \(Self.accounts("SELECT 1, 'bob', interval '1 day'"));
                INSERT INTO session.due (partition, position, kind, type, version, key, body, message_id, command_id)
                SELECT session.due_partition_of('account/' || a.account), n, 'command', 'MissCheckIn', 1, 'account/other', '{}',
                       gen_random_uuid(), gen_random_uuid()
                  FROM session.account AS a, generate_series(1, 10000) AS n;
                """)
            let repair = try Self.repair(in: database)
            let running = Task { try await repair.run() }
            defer { running.cancel() }
            // It goes on with others.
            try await database.psql(
                Self.accounts("SELECT n, 'p' || n, interval '1 day' FROM generate_series(2, 40) AS n"))
            let apart = """
                SELECT count(*) FROM session.account AS a
                 WHERE session.due_partition_of('account/' || a.account)
                       NOT IN (SELECT d.partition FROM session.due AS d)
                   AND NOT EXISTS (SELECT FROM session.timer AS t WHERE t.key = 'account/' || a.account)
                """
            try await database.wait(for: "the others' timers", apart) { $0 == "0" }
            let bob = "SELECT count(*) FROM session.timer WHERE key LIKE '%000000000001'"
            #expect(try await database.psql(bob) == "0")
            try await database.psql(
                """
                INSERT INTO session.batch (source, partition, number, position, owner, epoch, given_time, messages)
                SELECT 'session.due', d.partition, 1, 1, gen_random_uuid(), 1, now(), 1
                  FROM session.due AS d GROUP BY d.partition
                """)
            try await database.wait(for: "the timer", bob) { $0 == "1" }
            running.cancel()
            try await running.value
        }
    }

    private static var logger: Logger { Logger(label: "timers") { _ in SwiftLogNoOpLogHandler() } }

    /// One that rests only a moment.
    private static func repair(in database: TestDatabase) throws -> TimerRepair {
        TimerRepair(
            store: SessionStore(), due: Log(name: LogName(schema: "session", table: "due"), partitionCount: 8),
            interval: .milliseconds(5), configuration: Configuration(try database.url(as: "session")),
            logger: logger)
    }

    /// Accounts by number, handle and how long from now their deadline is; without reminders.
    private static func accounts(_ source: String) -> String {
        """
        INSERT INTO session.account (account, handle, skeleton, emergency_note, profile_version, is_single_device,
                                     is_confirmation_required, check_in_interval, reminds_two_hours,
                                     reminds_thirty_minutes, last_check_in_at, due_at, missed_repetitions,
                                     alert_repetitions, opened_at)
        SELECT ('00000000-0000-7000-8000-' || lpad(s.number::text, 12, '0'))::uuid, s.handle, s.handle, '', 0, false,
               false, interval '1 day', false, false, clock_timestamp() - interval '2 days',
               date_trunc('milliseconds', clock_timestamp()) + s.due, 0, 0, clock_timestamp()
          FROM (\(source)) AS s(number, handle, due)
        """
    }

    /// Parks the command of an account's deadline.
    private static func park(_ handle: String) -> String {
        """
        INSERT INTO session.parked (source, partition, position, kind, type, version, key, body, message_id, command_id,
                                    recorded_at, attempts)
        SELECT 'session.due', d.partition, d.position, d.kind, d.type, d.version, d.key, d.body, d.message_id, d.command_id,
               d.recorded_at, 0
          FROM session.due AS d JOIN session.account AS a ON d.key = 'account/' || a.account
         WHERE a.handle = '\(handle)'
        """
    }
}

extension TestDatabase {
    /// Asks until the answer is as wanted.
    /// - Throws: ``TimedOut``, with the last answer.
    fileprivate func wait(for what: String, _ sql: String, until isWanted: (String) -> Bool) async throws {
        var last = ""
        let end = ContinuousClock.now + .patience
        repeat {
            last = try await psql(sql)
            if isWanted(last) { return }
            try await Task.sleep(for: .milliseconds(20))
        } while ContinuousClock.now < end
        throw TimedOut("waited for \(what), which did not happen; last: \(last)")
    }
}
