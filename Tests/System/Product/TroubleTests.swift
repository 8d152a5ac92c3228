import EdgeClient
import Foundation
import Postgres
import TestKit
import Testing

/// Something is wrong with the database while somebody's deadline passes: the alarm is told once, afterwards.
@Suite("End to end: trouble at a deadline", .serialized, .timeLimit(.minutes(30)))
struct EndToEndTroubleTests {
    /// What is wrong for a while.
    enum Trouble: String, CaseIterable, Sendable {
        /// As it was seen, for a second and a half.
        case rightTakenAway
        case statementTimeout
        case tableLocked
    }

    /// How long it lasts; `TROUBLE_SECONDS=10` is what a release is held to.
    private static let seconds =
        ProcessInfo.processInfo.environment["TROUBLE_SECONDS"].flatMap(Int.init) ?? 3

    @Test(
        "S29: what is missed during trouble is told once to everybody, when it is over",
        arguments: Trouble.allCases)
    func missed(_ trouble: Trouble) async throws {
        let others = Quartet.Service.allCases.filter { $0 != .session }
        try await Quartet.with(services: others) { quartet in
            // What is taken for a message's own fault is given up early, and shows.
            let impatient = ["CONSUMER_GIVE_UP_AFTER": "1s"]
            try await quartet.start(.session, environment: impatient)
            let second = try await quartet.startAnother(.session, environment: impatient)
            let bob = try await Device.signUp("bob", name: "Bob", at: quartet.edge)
            let anna = try await Device.signUp("anna", name: "Anna", at: quartet.edge)
            try await anna.add(bob)
            let annaSees = try await LiveView.open(anna)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()

            let end = try await quartet.begin(trouble) {
                // In the middle of it: Bob's, and one every ten milliseconds of two hundred strangers.
                _ = try await quartet.psql(Self.deadlines(of: bob.account))
            }
            try await Task.sleep(
                for: trouble == .rightTakenAway ? .milliseconds(1500) : .seconds(Self.seconds))
            try await end()

            try await annaSees.wait(notification: "dependentCheckInMissed")
            try await quartet.wait(
                for: "all deadlines to be told",
                "SELECT count(*) FROM session.log WHERE type = 'CheckInMissed'"
            ) { $0 == "201" }
            try await quartet.waitUntilQuiet()
            let told = try await quartet.psql(
                "SELECT count(*) || ' ' || count(DISTINCT key) FROM session.log WHERE type = 'CheckInMissed'"
            )
            #expect(told == "201 201")
            let bobs = try await bob.kinds().count { $0 == "checkInMissed" }
            let annas = try await anna.kinds().count { $0 == "dependentCheckInMissed" }
            #expect(bobs == 1 && annas == 1)
            let forgotten = try await quartet.psql(
                "SELECT count(*) FROM session.account WHERE due_at < now() AND missed_alarm IS NULL AND closed_at IS NULL"
            )
            #expect(forgotten == "0")
            let left = try await quartet.psql(
                """
                SELECT (SELECT count(*) FROM session.dead_letter) || ' ' || (SELECT count(*) FROM session.parked) || ' '
                       || (SELECT count(*) FROM session_client.dead_letter)
                """)
            #expect(left == "0 0 0")
            await second.end()
        }
    }

    /// Moves the deadline of a person, and makes strangers with one each, all of them soon.
    private static func deadlines(of account: String) -> String {
        """
        WITH moved AS (
            UPDATE session.account
               SET last_check_in_at = clock_timestamp() - interval '3 days',
                   due_at = date_trunc('milliseconds', clock_timestamp()) + interval '700 milliseconds'
             WHERE account = '\(account)' RETURNING account, due_at
        ), gone AS (
            DELETE FROM session.timer WHERE name LIKE 'RemindCheckIn/%'
        ), due AS (
            INSERT INTO session.account (account, handle, skeleton, emergency_note, profile_version,
                                         is_single_device, is_confirmation_required, check_in_interval,
                                         reminds_two_hours, reminds_thirty_minutes, last_check_in_at, due_at,
                                         missed_repetitions, alert_repetitions, opened_at)
            SELECT gen_random_uuid(), 'stranger' || n, 'stranger' || n, '', 0, false, false, interval '1 day',
                   false, false, clock_timestamp() - interval '1 day',
                   date_trunc('milliseconds', clock_timestamp()) + n * interval '10 milliseconds', 0, 0,
                   clock_timestamp()
              FROM generate_series(1, 200) AS n
            RETURNING account, due_at
        ), others AS (
            INSERT INTO session.timer (key, name, due_at, type, version, body)
            SELECT 'account/' || account, 'MissCheckIn', due_at, 'MissCheckIn', 1,
                   json_build_object('account', account, 'deadline', session.microseconds(due_at))
              FROM due
        )
        UPDATE session.timer AS t
           SET due_at = m.due_at,
               body = json_build_object('account', m.account, 'deadline', session.microseconds(m.due_at))
          FROM moved AS m
         WHERE t.name = 'MissCheckIn' AND t.key = 'account/' || m.account
        """
    }
}

extension Quartet {
    /// Begins a trouble, with `change` done just before it; returns how to end it.
    fileprivate func begin(
        _ trouble: EndToEndTroubleTests.Trouble, after change: () async throws -> Void
    ) async throws -> @Sendable () async throws -> Void {
        let reconnect = """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
             WHERE datname = current_database() AND usename = 'session'
            """
        try await change()
        switch trouble {
        case .rightTakenAway:
            _ = try await psql("REVOKE SELECT ON session.account FROM session")
            return { _ = try await self.psql("GRANT SELECT ON session.account TO session") }
        case .statementTimeout:
            let role = "ALTER ROLE session IN DATABASE \(try await psql("SELECT current_database()"))"
            _ = try await psql("\(role) SET statement_timeout = '1ms'; \(reconnect)")
            return { _ = try await self.psql("\(role) RESET statement_timeout; \(reconnect)") }
        case .tableLocked:
            let stranger = try await Connection.connect(Configuration(databaseURL))
            try await stranger.run { database in
                try database.execute("BEGIN")
                try database.execute("LOCK TABLE session.account IN ACCESS EXCLUSIVE MODE")
            }
            return { await stranger.close() }
        }
    }
}
