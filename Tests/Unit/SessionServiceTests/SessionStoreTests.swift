import Postgres
import SessionContract
import SessionRules
import SessionService
import StoreKit
import TestKit
import Testing
import Vocabulary

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
