import EdgeClient
import Foundation
import Postgres
import TestKit
import Testing

/// The database is in trouble while a deadline passes: the alarm comes once, afterwards.
@Suite("End to end: trouble at a deadline", .serialized, .timeLimit(.minutes(60)))
struct EndToEndTroubleTests {
    enum Trouble: String, CaseIterable, Sendable {
        /// As it was seen, for a second and a half.
        case rightTakenAway
        case statementTimeout
        case tableLocked
    }

    /// How long it lasts.
    private static let seconds = Soak.count(3, long: 10)

    @Test(
        "a check-in missed during trouble is announced once to everyone when the trouble is over (S29)",
        arguments: Trouble.allCases)
    func missed(_ trouble: Trouble) async throws {
        let others = Quartet.Service.allCases.filter { $0 != .session }
        try await Quartet.with(services: others) { quartet in
            // If trouble counted as a message's own fault, it would be given up early, and that would show.
            let impatient = ["CONSUMER_GIVE_UP_AFTER": "1s"]
            try await quartet.start(.session, environment: impatient)
            let second = try await quartet.startAnother(.session, environment: impatient)
            let (bob, anna) = try await quartet.signUp("bob", "anna")
            try await anna.add(bob)
            let annaSees = try await LiveView.open(anna)
            try await bob.act("CheckIn")
            try await quartet.waitUntilQuiet()

            let end = try await quartet.begin(trouble) {
                // In the middle of it: Bob's deadline, and those of two hundred strangers.
                try await quartet.moveDeadline(of: bob, to: "700 milliseconds")
                try await quartet.addStrangers(200, deadlinesEvery: "10 milliseconds")
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
