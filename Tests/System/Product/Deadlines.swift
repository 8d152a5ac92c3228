import EdgeClient
import TestKit

// Deadlines and timers in the tables. A test can't move the clock, so it moves what is due.

extension Quartet {
    /// Moves an account's next deadline to so long from now, and drops the reminders before it.
    /// - Parameter distance: An interval as PostgreSQL writes it; negative for a deadline that has passed.
    func moveDeadline(of person: Device, to distance: String = "0 seconds") async throws {
        _ = try await psql(
            """
            WITH moved AS (
                UPDATE session.account
                   SET last_check_in_at = clock_timestamp() - interval '3 days',
                       due_at = date_trunc('milliseconds', clock_timestamp()) + interval '\(distance)'
                 WHERE account = '\(person.account)' RETURNING account, due_at
            ), gone AS (DELETE FROM session.timer WHERE key = 'account/\(person.account)' AND name LIKE 'RemindCheckIn/%')
            UPDATE session.timer AS t
               SET due_at = m.due_at,
                   body = json_build_object('account', m.account, 'deadline', session.microseconds(m.due_at))
              FROM moved AS m
             WHERE t.key = 'account/' || m.account AND t.name = 'MissCheckIn'
            """)
    }

    /// Has an account's deadline pass now, and waits until that is noticed.
    func missCheckIn(of person: Device) async throws {
        try await waitUntilQuiet()
        try await moveDeadline(of: person)
        try await wait(
            for: "the miss to be noticed",
            "SELECT count(*) FROM session.account WHERE account = '\(person.account)' AND missed_alarm IS NOT NULL"
        ) { $0 == "1" }
    }

    /// Adds accounts that no device is signed in to, each with a deadline a little after the one before.
    func addStrangers(_ count: Int, deadlinesEvery distance: String) async throws {
        _ = try await psql(
            """
            WITH due AS (
                INSERT INTO session.account (account, handle, skeleton, emergency_note, profile_version,
                                             is_single_device, is_confirmation_required, check_in_interval,
                                             reminds_two_hours, reminds_thirty_minutes, last_check_in_at, due_at,
                                             missed_repetitions, alert_repetitions, opened_at)
                SELECT gen_random_uuid(), 'stranger' || n, 'stranger' || n, '', 0, false, false, interval '1 day',
                       false, false, clock_timestamp() - interval '1 day',
                       date_trunc('milliseconds', clock_timestamp()) + n * interval '\(distance)', 0, 0,
                       clock_timestamp()
                  FROM generate_series(1, \(count)) AS n
                RETURNING account, due_at
            )
            INSERT INTO session.timer (key, name, due_at, type, version, body)
            SELECT 'account/' || account, 'MissCheckIn', due_at, 'MissCheckIn', 1,
                   json_build_object('account', account, 'deadline', session.microseconds(due_at))
              FROM due
            """)
    }

    /// Lets time pass for what was answered to a person's alarm: the clock can't be moved.
    func passOnIt(minutes: Int, for person: Device) async throws {
        let span = "interval '\(minutes) minutes'"
        _ = try await psql(
            """
            UPDATE contacts.alarm_recipient
               SET answered_at = answered_at - \(span), pressed_at = pressed_at - \(span), on_it_until = on_it_until - \(span)
             WHERE account = '\(person.account)' AND answer = 'onIt';
            UPDATE contacts.alarm SET held_since = held_since - \(span), held_until = held_until - \(span)
             WHERE account = '\(person.account)';
            UPDATE contacts.account SET next_renewal_at = next_renewal_at - \(span) WHERE account = '\(person.account)';
            UPDATE contacts.timer SET due_at = clock_timestamp()
             WHERE key = 'account/\(person.account)' AND name LIKE 'AskForRenewal%';
            """)
    }

    /// The names of an account's timers, by when they are due.
    func timers(of person: Device) async throws -> String {
        try await psql(
            "SELECT string_agg(name, ' ' ORDER BY due_at) FROM session.timer WHERE key = 'account/\(person.account)'")
    }

    /// Waits until no timer is due, and what timers sent has its outcome.
    func waitUntilTimersAreDone() async throws {
        try await wait(
            for: "all timers to be done",
            """
            SELECT (SELECT count(*) FROM session.timer WHERE due_at <= clock_timestamp())
                 + (SELECT count(*) FROM session.due AS d
                     WHERE NOT EXISTS (SELECT FROM session.outcome AS o WHERE o.command_id = d.command_id))
            """
        ) { $0 == "0" }
    }

    /// Has responders hear of each alert at once, however many there are.
    func announceEveryAlert() async throws { _ = try await psql("UPDATE session.limits SET alert_burst = 10000") }
}
