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
    private static let tables = DatabaseTemplate.tables(of: "session", in: "Session")
    typealias Trial = StoreTrial<SessionStore>

    @Test("S14: whatever is asked, in batches of any size, the tables end as the rules alone would, and publish that")
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
                        // Somebody else takes the handle once it is free.
                        if household.state(accounts[index]).isClosed, let next = try? household.person(handle) {
                            accounts[index] = next
                        }
                    }
                    let trial = try await Trial(
                        SessionStore(limits: household.rows.limits), in: database, as: "session")
                    var rest = household.history[...]
                    while !rest.isEmpty {
                        let batch = rest.prefix(Int.random(in: 1...24, using: &random))
                        rest = rest.dropFirst(batch.count)
                        let ended = try await trial.handle(batch.map { .init($0.command, $0.context) })
                        for (mine, theirs) in zip(batch, ended) {
                            try #require(mine.ended == theirs, "\(mine.command)")
                        }
                    }
                    // Whoever sets exactly the wanted timers has every deadline.
                    let wanted = household.replicas.keys.flatMap { account in
                        household.rows.wantedTimers(of: account).map {
                            "account/\(account) \($0.due.microseconds) \(type(of: $0.command.body).type)"
                        }
                    }
                    let set = try await database.psql(
                        "SELECT key || ' ' || session.microseconds(due_at) || ' ' || type FROM session.timer")
                    try #require(set.split(separator: "\n").map(String.init).sorted() == wanted.sorted())
                    await trial.close()
                    let reader = try await Trial(SessionStore(), in: database, as: "session_client")
                    for account in household.replicas.keys {
                        let states = try await reader.published(
                            "SELECT s.state FROM session.account_state AS s WHERE s.account = \(account)",
                            as: AccountState.self)
                        try #require(states == [household.state(account)])
                    }
                    await reader.close()
                }
            }
        }
    }

    @Test("S41: of two who sign up with one handle at the same moment, one gets it")
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

    @Test("S3: session-client only reads what is published, and nobody else writes; everything is explained")
    func privileges() async throws {
        try await TestDatabase.with(Self.tables) { database in
            let rights = try await database.psql(
                """
                SELECT string_agg(c.relname, ' ' ORDER BY c.relname)
                  FROM pg_class AS c
                 WHERE c.relnamespace = 'session'::regnamespace AND c.relkind IN ('r', 'v')
                   AND has_table_privilege('session_client', c.oid, 'SELECT')
                """)
            #expect(
                rights
                    == "account_state avatar_chunk device_status handle log log_partition outcome phone profile")
            let strangers = try await database.psql(
                """
                SELECT count(*)
                  FROM pg_class AS c, unnest(ARRAY['notifications', 'contacts', 'session_client']) AS role,
                       unnest(ARRAY['INSERT', 'UPDATE', 'DELETE', 'TRUNCATE']) AS privilege
                 WHERE c.relnamespace = 'session'::regnamespace AND c.relkind IN ('r', 'v')
                   AND has_table_privilege(role, c.oid, privilege)
                """)
            #expect(strangers == "0")
            let undocumented = try await database.psql(
                """
                SELECT string_agg(c.relname || coalesce('.' || a.attname, ''), ' ')
                  FROM pg_class AS c
                  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                 WHERE c.relnamespace = 'session'::regnamespace AND c.relkind IN ('r', 'v')
                   AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid) IS NULL)
                """)
            #expect(undocumented == "")
        }
    }

    @Test("R21: nobody but session reads what proves who somebody is, not even people at psql")
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
