import Foundation
import TestKit
import Testing

@Suite("End to end: session-client doctor", .timeLimit(.minutes(60)))
struct DoctorTests {
    @Test(
        """
        where all is well the doctor says so; it finds a stopped service, rights that were changed and a migration of a newer \
        release, each in a line of its own, and never prints a secret (T27)
        """
    )
    func findings() async throws {
        try await Quartet.withOperators { quartet in
            _ = try await quartet.signUp("anna")
            try await quartet.waitUntilQuiet()
            try await quartet.waitForLeases()
            let well = try await quartet.doctor(finding: [])
            #expect(well.subjects == Quartet.Doctor.all, "\(well)")
            #expect(well.wrong == [], "\(well)")

            // Only what session-client itself sees.
            let alone = try await quartet.doctor(environment: ["OPERATORS_DATABASE_URL": ""])
            #expect(alone.isHealthy && alone.line("operators")?.contains("OPERATORS_DATABASE_URL") == true, "\(alone)")

            _ = try await quartet.psql(
                """
                INSERT INTO contacts.migration (number, file, checksum, duration)
                VALUES (9999, '9999-tomorrow.sql', 'none', interval '0');
                REVOKE UPDATE (lock) ON session.due_partition FROM session;
                GRANT DELETE ON notifications.unread TO contacts;
                GRANT EXECUTE ON FUNCTION pg_catalog.txid_current() TO PUBLIC;
                -- Any role may do that. In this database alone, because other tests use the role, too.
                SET SESSION AUTHORIZATION quartet_reader;
                DO $$BEGIN
                    EXECUTE format('ALTER ROLE quartet_reader IN DATABASE %I SET work_mem = ''1MB''', current_database());
                END$$;
                RESET SESSION AUTHORIZATION;
                """)
            quartet.send(.terminate, to: .contacts)
            try await quartet.process(of: .contacts).waitForExit(.exited(0))
            _ = try await quartet.psql(
                """
                INSERT INTO contacts.timer (key, name, due_at, type, version, body)
                VALUES ('account/\(UUID())', 'late', now() - interval '1 minute', 'BeginNextTier', 1, '{}')
                """)
            let ill = try await quartet.doctor(finding: ["migrations", "rights", "alarms", "contacts"])
            #expect(ill.wrong == ["migrations", "rights", "alarms", "contacts"], "\(ill)")
            #expect(ill.line("alarms")?.contains(" s in contacts.timer: see :timers") == true, "\(ill)")
            #expect(ill.line("migrations")?.contains("9999-tomorrow.sql") == true, "\(ill)")
            #expect(ill.line("rights")?.contains("session may not UPDATE session.due_partition") == true, "\(ill)")
            #expect(ill.line("rights")?.contains("contacts may write notifications.unread") == true, "\(ill)")
            #expect(ill.line("rights")?.contains("quartet_reader may call txid_current()") == true, "\(ill)")
            #expect(
                ill.line("rights")?.contains("quartet_reader has the setting work_mem=1MB") == true, "\(ill)")
            #expect(ill.line("contacts")?.contains("partitions without a worker (0/") == true, "\(ill)")

            _ = try await quartet.psql(
                """
                DELETE FROM contacts.timer WHERE name = 'late';
                DELETE FROM contacts.migration WHERE number = 9999;
                GRANT UPDATE (lock) ON session.due_partition TO session;
                REVOKE DELETE ON notifications.unread FROM contacts;
                REVOKE EXECUTE ON FUNCTION pg_catalog.txid_current() FROM PUBLIC;
                DO $$BEGIN
                    EXECUTE format('ALTER ROLE quartet_reader IN DATABASE %I RESET work_mem', current_database());
                END$$;
                """)
            // What retention should have deleted or emptied long ago.
            _ = try await quartet.psql(
                """
                UPDATE session_client.session_commands SET recorded_at = clock_timestamp() - interval '3 days'
                 WHERE type = 'SignUp';
                UPDATE contacts.batch SET given_time = clock_timestamp() - interval '3 days';
                INSERT INTO contacts.batch (source, partition, number, position, owner, epoch, given_time, messages)
                SELECT DISTINCT ON (b.source, b.partition)
                       b.source, b.partition, b.number + 1, b.position, b.owner, b.epoch, clock_timestamp(), 0
                  FROM contacts.batch AS b ORDER BY b.source, b.partition, b.number DESC;
                INSERT INTO notifications.outcome (command_id, command_hash, outcome, partition, position, type, body)
                VALUES ('00000000-0001-7000-8000-000000000000', gen_random_uuid(), 'accepted', 0, 1, 'Accepted', '{}');
                -- Further on than anything is handled, so that retention leaves it there.
                INSERT INTO notifications.reminder_text VALUES (0, 1000000000, clock_timestamp() - interval '3 days')
                """)
            let late = try await quartet.doctor()
            for what in [
                "contacts.batch", "notifications.outcome", "secrets in session_client.session_commands",
                "reminders in notifications.log",
            ] {
                #expect(late.line("retention")?.contains(what) == true, "\(late)")
            }
            _ = try await quartet.psql(
                """
                DELETE FROM notifications.reminder_text;
                UPDATE session_client.session_commands SET recorded_at = clock_timestamp() WHERE type = 'SignUp';
                UPDATE contacts.batch SET given_time = clock_timestamp();
                DELETE FROM notifications.outcome WHERE command_id < '00000000-0002-7000-8000-000000000000'
                """)
            try await quartet.start(.contacts)
            try await quartet.waitForLeases()

            _ = try await quartet.psql("GRANT SELECT ON session_client.session_commands TO quartet_operator")
            let open = try await quartet.doctor(finding: ["rights"])
            #expect(open.wrong == ["rights"], "\(open)")
            let remedy = """
                REVOKE SELECT ON session_client.session_commands FROM quartet_operator; \
                SELECT session_client.create_shown_views()
                """
            #expect(open.line("rights")?.contains(remedy) == true, "\(open)")
            _ = try await quartet.psql(remedy)
            let healed = try await quartet.doctor(finding: [])
            #expect(healed.wrong == [], "\(healed)")
        }
    }
}

extension Quartet {
    /// What `session-client doctor` printed.
    struct Doctor: CustomStringConvertible {
        /// The checks without a certificate, in order.
        static let all = [
            "settings", "database", "clock", "doorbells", "migrations", "rights", "failures", "alarms", "retention",
            "durability", "connections", "canary", "contacts", "notifications", "session", "session_client",
        ]

        let lines: [String]
        /// Whether it ended with 0.
        let isHealthy: Bool

        var subjects: [String] { lines.map(Self.subject) }

        /// What it found wrong, but for what is so on a test's server: its disk isn't waited for, and others use it, too.
        var wrong: [String] {
            lines.filter { $0.hasPrefix("WRONG") }.map(Self.subject).filter {
                !["durability", "connections"].contains($0)
            }
        }

        /// What it says about a subject.
        func line(_ subject: String) -> String? { lines.first { Self.subject($0) == subject } }

        private static func subject(_ line: String) -> String {
            line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        }

        var description: String { lines.joined(separator: "\n") }
    }

    /// Runs `session-client doctor` with the settings of the edge.
    func doctor(environment: [String: String] = [:]) async throws -> Doctor {
        let process = try await ChildProcess.start(
            Service.sessionClient.rawValue, ["doctor"],
            environment: try forOperators.merging([
                "DATABASE_URL": databaseURL, "SERVER_KEY": keys.server, "SIGNING_KEY": keys.signing,
                "CANARY_INTERVAL": "0s",
            ]) { $1 }.merging(environment) { $1 })
        let status = try await process.waitForExit()
        let lines = process.lines(on: .output)
        for secret in [keys.server, keys.signing] { #expect(!process.logTail(100).contains(secret)) }
        await process.end()
        let doctor = Doctor(lines: lines, isHealthy: status == .exited(0))
        #expect(doctor.isHealthy == !lines.contains { $0.hasPrefix("WRONG") }, "\(status) after\n\(doctor)")
        return doctor
    }

    /// Asks the doctor again, for a while, until it finds just these wrong: on a busy machine a worker may lose its leases for a
    /// moment, and the doctor says so.
    fileprivate func doctor(finding wrong: [String]) async throws -> Doctor {
        let end = ContinuousClock.now + .patience
        var last = try await doctor()
        while last.wrong != wrong, ContinuousClock.now < end {
            try await Task.sleep(for: .milliseconds(500))
            last = try await doctor()
        }
        return last
    }

    /// Waits until workers hold all leases.
    func waitForLeases() async throws {
        try await wait(
            for: "all leases to be held",
            """
            SELECT count(*) FILTER (WHERE l.state = 'held') = 72 AND count(*) = 72 FROM session_client.leases AS l
            """
        ) { $0 == "t" }
    }
}
