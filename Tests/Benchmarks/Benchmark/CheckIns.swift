import Foundation

/// Fifty thousand people miss their check-ins within one minute. Each has two responders, each responder looks after
/// ten of them, and of one of the ten doesn't want to hear. There are two replicas of every service, and in the middle
/// of the minute one is killed. Everybody must be told exactly once; how late is measured.
extension ProductBenchmark {
    /// How long after the kill everybody must have been told.
    private static var patience: Duration { .seconds(120) }

    func checkIns(_ people: Int, _ report: inout Report) async throws {
        let responders = people / 5
        guard responders >= 2 else { throw Failure("\(people) people are too few; set CHECKIN_PEOPLE to 10 or more") }
        say("\(people) people who check in, \(responders) responders, \(2 * people) relations")
        try seed(people, responders)
        try await withSecondReplicas { replicas in
            guard let victim = replicas["session"] else { throw Failure("session has no second replica") }
            try await waitUntilShared()
            let all =
                try number("SELECT count(*) FROM contacts.contact WHERE i_am_responder AND notify_on_missed_check_in")
                + people
            let begin = try setDeadlines(people)
            say("\(people) deadlines within a minute, from ten seconds on")
            try await watch(all, until: begin + .seconds(30))
            say("kill -9 of the second replica of session")
            guard kill(victim.processIdentifier, SIGKILL) == 0 else { throw Failure("session was not to be killed") }
            try await watch(all, until: ContinuousClock.now + Self.patience)
            // Whoever would be told a second time has been by then.
            try await Task.sleep(for: .seconds(5))
        }
        try verify()
        let late = try lateness()
        report.add("checkin_lateness_p50_ms", late.percentile(0.5))
        report.add("checkin_lateness_p99_ms", late.percentile(0.99), aim: "<= 500")
        report.add("checkin_lateness_max_ms", late.percentile(1))
        report.add("checkin_notifications_per_second", try rate())
    }

    private func ask(_ query: String) throws -> String {
        try server.psql("quartet", ["-c", query]).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func number(_ query: String) throws -> Int {
        let answer = try ask(query)
        guard let number = Int(answer) else { throw Failure("'\(answer)' isn't a number, for \(query)") }
        return number
    }

    // MARK: What is there before

    /// Accounts as the services keep them, due in a day. An id follows from its person's number, so that no table has to be
    /// asked for those of another.
    private func seed(_ people: Int, _ responders: Int) throws {
        try server.psql(
            "quartet",
            [
                "-c",
                // A handle's skeleton is what session would make of it: otherwise its update would move index entries.
                """
                INSERT INTO session.account
                       (account, handle, skeleton, name, emergency_note, profile_version, is_single_device,
                        is_confirmation_required, check_in_interval, reminds_two_hours, reminds_thirty_minutes,
                        missed_repetitions, alert_repetitions, opened_at, due_at)
                SELECT md5(kind || n)::uuid, kind || n, translate(kind || n, '015', 'ols'), initcap(kind), '', 1, false,
                       false, interval '1 day', false, false, 0, 0, now(), now() + interval '1 day'
                  FROM (SELECT 'person', generate_series(0, \(people - 1))
                         UNION ALL
                        SELECT 'responder', generate_series(0, \(responders - 1))) AS everybody(kind, n)
                """,
                "-c",
                """
                INSERT INTO contacts.account (account, code) SELECT account, gen_random_uuid() FROM session.account
                """,
                "-c",
                """
                INSERT INTO notifications.account (account, unread, total) SELECT account, 0, 0 FROM session.account
                """,
                "-c",
                // Of one of its ten dependents a responder doesn't want to hear, and no two of them are due together.
                """
                INSERT INTO contacts.relation
                       (low, high, low_is_responder, low_nickname, low_notes, low_send_pings, low_receive_pings,
                        low_notify_on_check_in, low_notify_on_missed_check_in, low_version, low_updated_at, high_is_responder,
                        high_nickname, high_notes, high_send_pings, high_receive_pings, high_notify_on_check_in,
                        high_notify_on_missed_check_in, high_version, high_updated_at, added_at)
                SELECT least(person, responder), greatest(person, responder), responder < person, '', '', true, true,
                       false, responder > person OR wants, 1, now(), responder > person, '', '', true, true, false,
                       responder < person OR wants, 1, now(), now()
                  FROM (SELECT md5('person' || n)::uuid,
                               md5('responder' || (n + half * (\(responders) / 2)) % \(responders))::uuid,
                               (n % \(responders) + n / \(responders) + 5 * half) % 10 <> 0
                          FROM generate_series(0, \(people - 1)) AS n, generate_series(0, 1) AS half
                       ) AS pair(person, responder, wants)
                """,
                // Not the empty tables: plans for a table that is known to be empty read all of it, and are kept.
                "-c", "ANALYZE session.account, contacts.account, contacts.relation, notifications.account",
            ])
    }

    /// Both replicas handle a part of every log: otherwise the one that is killed would be missed by nobody.
    private func waitUntilShared() async throws {
        for _ in 0..<120 {
            let alone = try number(
                """
                SELECT count(*)
                  FROM (SELECT FROM session_client.leases AS l
                         GROUP BY l.consumer, l.source
                        HAVING count(DISTINCT l.owner) FILTER (WHERE l.state = 'held') < 2) AS alone
                """)
            if alone == 0 { return }
            try await Task.sleep(for: .milliseconds(500))
        }
        throw Failure("the replicas don't share the partitions after a minute")
    }

    /// Sets every person's deadline and the timer that session sets for it, evenly over a minute that begins ten
    /// seconds from now. A replica that starts may have set some timers already, for the deadlines of the seed. Returns when it
    /// begins.
    private func setDeadlines(_ people: Int) throws -> ContinuousClock.Instant {
        _ = try ask(
            """
            WITH plan AS (
                SELECT md5('person' || n)::uuid AS account,
                       now() + interval '10 seconds' + n * interval '1 minute' / \(people) AS due_at
                  FROM generate_series(0, \(people - 1)) AS n
            ), due AS (
                UPDATE session.account AS a
                   SET last_check_in_at = p.due_at - interval '1 day', due_at = p.due_at
                  FROM plan AS p
                 WHERE a.account = p.account
                RETURNING a.account, a.due_at
            )
            INSERT INTO session.timer (key, name, due_at, type, version, body)
            SELECT 'account/' || account, 'MissCheckIn', due_at, 'MissCheckIn', 1,
                   json_build_object('account', account, 'deadline', session.microseconds(due_at))
              FROM due
            ON CONFLICT ON CONSTRAINT timer_is_set_once DO UPDATE SET due_at = excluded.due_at, body = excluded.body
            """)
        let left = try ask("SELECT extract(epoch FROM min(due_at) - clock_timestamp()) FROM session.account")
        guard let seconds = Double(left), seconds > 0 else {
            throw Failure("the first deadline passed before all \(people) were set; use a smaller CHECKIN_PEOPLE")
        }
        return ContinuousClock.now + .seconds(seconds)
    }

    // MARK: What became of it

    /// Says every five seconds how many were told, until all were or the time is over.
    private func watch(_ all: Int, until end: ContinuousClock.Instant) async throws {
        while ContinuousClock.now < end {
            try await Task.sleep(until: min(end, ContinuousClock.now + .seconds(5)), clock: .continuous)
            let told = try number("SELECT sum(total) FROM notifications.account")
            say("\(told) of \(all) notifications")
            if told >= all { return }
        }
    }

    /// Holds what was told against what people want to be told.
    private func verify() throws {
        let wrong = try ask(
            """
            WITH wanted AS (
                SELECT c.account, c.contact AS subject
                  FROM contacts.contact AS c
                 WHERE c.i_am_responder AND c.notify_on_missed_check_in
            ), told AS (
                SELECT n.account, n.subject, count(*) AS times
                  FROM notifications.notification AS n
                 WHERE n.kind = 'dependentCheckInMissed'
                 GROUP BY n.account, n.subject
            ), missed AS (
                SELECT count(n.id) AS times
                  FROM session.account AS a
                  LEFT JOIN notifications.notification AS n ON n.account = a.account AND n.kind = 'checkInMissed'
                 WHERE a.handle LIKE 'person%'
                 GROUP BY a.account
            )
            SELECT w.count || ' ' || w.what
              FROM (VALUES
                    ('times a responder was not notified',
                     (SELECT count(*) FROM wanted
                       WHERE NOT EXISTS (SELECT FROM told AS t
                                          WHERE t.account = wanted.account AND t.subject = wanted.subject))),
                    ('times a responder was notified more than once', (SELECT count(*) FROM told WHERE times > 1)),
                    ('times a responder was notified with notifications turned off',
                     (SELECT count(*) FROM told
                       WHERE NOT EXISTS (SELECT FROM wanted AS w
                                          WHERE w.account = told.account AND w.subject = told.subject))),
                    ('people were not notified of their own missed check-in', (SELECT count(*) FROM missed WHERE times = 0)),
                    ('people were notified of it more than once', (SELECT count(*) FROM missed WHERE times > 1)),
                    ('people missed one check-in more than once',
                     (SELECT count(*) - count(DISTINCT key) FROM session.log WHERE type = 'CheckInMissed')),
                    ('more (or, below 0, fewer) events than notifications',
                     (SELECT count(*) FROM notifications.log WHERE type = 'NotificationDelivered')
                     - (SELECT count(*) FROM notifications.notification))
                   ) AS w(what, count)
             WHERE w.count <> 0
            """)
        guard wrong.isEmpty else {
            throw Failure("not notified exactly once: \(wrong.split(separator: "\n").joined(separator: "; "))")
        }
    }

    /// From each deadline until each responder was told of it, sorted, in milliseconds.
    private func lateness() throws -> [Double] {
        try ask(
            """
            SELECT (session.microseconds(l.recorded_at)
                    - (l.body -> 'notification' -> 'details' ->> 'deadline')::bigint)::float8 / 1000
              FROM notifications.log AS l
             WHERE l.type = 'NotificationDelivered' AND l.body -> 'notification' ->> 'kind' = 'dependentCheckInMissed'
            """
        ).split(separator: "\n").compactMap { Double($0) }.sorted()
    }

    /// How many notifications a second, of either kind, from the first deadline to the last notification.
    private func rate() throws -> Double {
        let rate = try ask(
            """
            SELECT count(*) / extract(epoch FROM max(l.recorded_at) - (SELECT min(due_at) FROM session.account))
              FROM notifications.log AS l
             WHERE l.type = 'NotificationDelivered'
            """)
        return Double(rate) ?? .nan
    }
}
