import Postgres
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import SessionService
import StoreKit
import TestKit
import Testing

@Suite("Session: the tables")
struct SessionStoreTests {
    private static let tables = DatabaseTemplate.session
    typealias Trial = StoreTrial<SessionStore>

    @Test("after any commands, in batches of any size, the tables hold and publish what the rules alone give (S14)")
    func sameAsRules() async throws {
        try await withRandom { random in
            for _ in 0..<4 {
                try await TestDatabase.with(Self.tables) { database in
                    var household = Household(seed: random.next())
                    household.rows.limits.devices = 3
                    household.rows.limits.signedOutDevices = 2
                    household.rows.limits.handleRest = .hours(10)
                    var accounts = [try household.person("anna"), try household.person("ben")]
                    for _ in 0..<400 {
                        household.pass(.minutes(Int64.random(in: 0...200, using: &random)))
                        let index = Int.random(in: 0...1, using: &random)
                        let handle = ["anna", "ben"][index]
                        if let timer = household.rows.wantedTimers(of: accounts[index]).randomElement(using: &random) {
                            do { try household.ask(nil, timer.command.body) } catch is Rejection {}
                        }
                        let command = try SessionPropertyTests.command(
                            of: accounts[index], handle, in: &household, using: &random)
                        do { try household.ask(accounts[index], command) } catch is Rejection {}
                        // Another account takes the handle once it is free.
                        if household.state(accounts[index]).isClosed, let next = try? household.person(handle) {
                            accounts[index] = next
                        }
                    }
                    let trial = try await Trial(
                        SessionStore(limits: household.rows.limits), in: database, as: "session")
                    try await trial.replay(household, using: &random)
                    // Exactly the wanted timers are set, so no deadline is missed.
                    let everybody = household.replicas.keys.sorted()
                    let wanted = everybody.flatMap { account in
                        household.rows.wantedTimers(of: account).map {
                            "account/\(account) \($0.due.microseconds) \(type(of: $0.command.body).type)"
                        }
                    }
                    let set = try await database.psql(
                        "SELECT key || ' ' || session.microseconds(due_at) || ' ' || type FROM session.timer")
                    try #require(set.split(separator: "\n").map(String.init).sorted() == wanted.sorted())
                    await trial.close()
                    let reader = try await Trial(SessionStore(), in: database, as: "session_client")
                    let states = try await reader.published(
                        in: "session.account_state", of: everybody, as: AccountState.self)
                    try #require(states == everybody.map { household.rows.published($0) })
                    await reader.close()
                }
            }
        }
    }

    @Test("a late call for help is shown in its own alert alone, whichever release raises the next one (S34)")
    func lateCall() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                var household = Household(seed: random.next())
                let anna = try household.person()
                try household.ask(anna, RaiseAlert(pressed: household.time - .minutes(2)))
                let call = try #require(household.state(anna).lateCall)
                let trial = try await Trial(SessionStore(), in: database, as: "session")
                try await trial.replay(household, using: &random)
                await trial.close()
                let reader = try await Trial(SessionStore(), in: database, as: "session_client")
                func shown() async throws -> [LateCall?] {
                    try await reader.published(in: "session.account_state", of: [anna], as: AccountState.self)
                        .map(\.lateCall)
                }
                let own = try await shown()
                try #require(own == [call])
                try await database.psql("UPDATE session.account SET alert_alarm = '\(AlarmID.new())'")
                let next = try await shown()
                try #require(next == [nil])
                // Nor does that release know to forget it when it closes the account.
                try await database.psql(
                    """
                    UPDATE session.account
                       SET closed_at = clock_timestamp(), name = NULL, last_check_in_at = NULL, due_at = NULL,
                           alert_raised_at = NULL, alert_alarm = NULL, alert_last_alarm_at = NULL
                    """)
                try #require(
                    try await database.psql("SELECT count(*) FROM session.account WHERE alert_late_call IS NOT NULL")
                        == "0")
                await reader.close()
            }
        }
    }

    @Test(
        """
        of all that waits, only the account's own check-in from before the deadline holds its alarm back, until it expires or \
        for a minute (S29 S32)
        """)
    func waitingCheckIns() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let trial = try await Trial(SessionStore(), in: database, as: "session")
            let log =
                "INSERT INTO session_client.session_commands (partition, position, type, key, recorded_at, expires_at) VALUES"
            func parked(_ type: String) -> String {
                """
                INSERT INTO session.parked (source, partition, position, kind, type, version, key, body, message_id, attempts,
                                            recorded_at, expires_at)
                VALUES ('session_client.session_commands', 0, 1, 'command', '\(type)', 1, KEY, '{}', gen_random_uuid(), 0, DUE, SOON)
                """
            }
            let handled = """
                INSERT INTO session.batch VALUES ('session_client.session_commands', 0, 1, 1, gen_random_uuid(), 1, now(), 1)
                """
            let refused = CommandID.new()
            let scenes: [(isHeld: Bool, waiting: String)] = [
                (true, "\(log) (0, 1, 'UpdateProfile', KEY, DUE, SOON), (0, 2, 'CheckIn', KEY, DUE, SOON)"),
                (true, "\(log) (0, 2, 'CheckIn', KEY, DUE, SOON); \(handled)"),
                (true, parked("CheckIn")),
                (false, "\(log) (0, 1, 'UpdateProfile', KEY, DUE, SOON)"),
                (false, parked("UpdateProfile")),
                (false, "\(log) (0, 1, 'CheckIn', 'account/\(AccountID.new())', DUE, SOON)"),
                (false, "\(log) (0, 1, 'CheckIn', KEY, DUE + interval '1 second', SOON)"),
                (false, "\(log) (0, 1, 'CheckIn', KEY, DUE, now() - interval '1 second')"),
                (false, "\(log) (0, 1, 'CheckIn', KEY, DUE, SOON); \(handled)"),
                // Handled before the batches come to it.
                (
                    false,
                    """
                    \(log) (0, 1, 'CheckIn', KEY, DUE, SOON);
                    UPDATE session_client.session_commands SET command_id = '\(refused)';
                    INSERT INTO session.outcome (command_id, command_hash, outcome, partition, position, type, body)
                    VALUES ('\(refused)', gen_random_uuid(), 'rejected', 0, 1, 'Rejected', '{}')
                    """
                ),
                (
                    false,
                    """
                    \(log) (0, 1, 'CheckIn', KEY, DUE, SOON);
                    UPDATE session.account SET alarm_held_since = now() - interval '61 seconds', alarm_reconsidered_at = now()
                    """
                ),
            ]
            for (number, scene) in scenes.enumerated() {
                let anna = try household.person("person\(number)")
                let miss = try #require(household.rows.wantedTimers(of: anna).last)
                let done = household.history.count - 1
                let signUp = household.history[done]
                _ = try await trial.handle([.init(signUp.command, signUp.context)])
                household.pass(.hours(25))
                try await database.psql(
                    "TRUNCATE session_client.session_commands; DELETE FROM session.parked; DELETE FROM session.batch;"
                        + scene.waiting.replacing("KEY", with: "'account/\(anna)'")
                        .replacing("DUE", with: "to_timestamp(\(miss.due.microseconds / 1_000_000)) + interval '0'")
                        .replacing("SOON", with: "now() + interval '5 minutes'"))
                let command = Trial.Command(
                    miss.command.body,
                    CommandContext(
                        commandID: household.id(), account: nil, key: .account(anna), time: household.time))
                let ended = try await trial.handle([command])
                #expect(try ended.first?.get().count == (scene.isHeld ? 0 : 1), "\(scene.waiting)")
                let timer = try await database.psql(
                    """
                    SELECT t.name || ' ' || (t.due_at = a.alarm_held_since + interval '1 second')
                      FROM session.timer AS t JOIN session.account AS a ON t.key = 'account/' || a.account
                     WHERE a.account = '\(anna)' AND t.name = 'MissCheckIn'
                    """)
                #expect(timer == (scene.isHeld ? "MissCheckIn true" : ""), "\(scene.waiting)")
            }
            await trial.close()
        }
    }

    @Test("a ping whose finding is handled late raises no alert once she has checked in (A4)")
    func findingHandledLate() async throws {
        try await TestDatabase.with(Self.tables) { database in
            var household = Household()
            let trial = try await Trial(SessionStore(), in: database, as: "session")
            let anna = try household.person()
            let signUp = try #require(household.history.last)
            _ = try await trial.handle([.init(signUp.command, signUp.context)])
            let found = household.time + .minutes(30)
            let checkIn = CommandContext(
                commandID: household.id(), account: anna, key: .account(anna), time: found + .minutes(25))
            _ = try #require(try await trial.handle([.init(CheckIn(), checkIn)]).first).get()
            let ping = UnansweredPing(contact: household.id(), sent: found - .minutes(30))
            let raise = RaiseUnansweredAlert(account: anna, pings: [ping], found: found)
            let context = CommandContext(
                commandID: household.id(), account: nil, key: .account(anna), time: found + .minutes(35),
                recordedAt: found)
            let events = try #require(try await trial.handle([.init(raise, context)]).first).get().map(\.event)
            #expect(events.map { type(of: $0.body).type } == [UnansweredPingsDiscarded.type])
            await trial.close()
        }
    }

    @Test("of two people who sign up with one handle at the same moment, one gets it (S41)")
    func concurrent() async throws {
        try await withRandom { random in
            try await TestDatabase.with(Self.tables) { database in
                let one = try await Trial(SessionStore(), in: database, as: "session")
                let two = try await Trial(SessionStore(), in: database, as: "session")
                var household = Household(seed: random.next())
                for round in 0..<40 {
                    let commands = try ["hand\(round)x", "hand.\(round)x"].map { handle in
                        let account: AccountID = household.id()
                        let signUp = SignUp(
                            account: account, handle: handle, verifier: try Household.proof("x"),
                            device: try household.device())
                        return Trial.Command(
                            signUp,
                            CommandContext(
                                commandID: household.id(), account: nil, key: .handle(try Handle(handle)),
                                time: household.time))
                    }
                    async let first = one.handleAtLast([commands[0]])
                    async let second = two.handleAtLast([commands[1]])
                    let ended = try await first + second
                    try #require(ended.count { (try? $0.get()) != nil } == 1)
                }
                await one.close()
                await two.close()
            }
        }
    }

    @Test("only session reads proofs and verifiers, not even people at psql (R21)")
    func secrets() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let readers = try await database.psql(
                """
                SELECT string_agg(DISTINCT r.rolname, ' ')
                  FROM pg_roles AS r, unnest(ARRAY['session.credential', 'session.device', 'session.phone_code', 'session.recovery',
                                                         'session.security_change', 'session.sign_in_attempt']::regclass[]) AS c
                 WHERE has_table_privilege(r.oid, c, 'SELECT') AND NOT r.rolsuper
                   AND r.rolname NOT IN ('session_owner', 'pg_read_all_data')
                """)
            #expect(readers == "session")
        }
    }
}
