import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// Trouble that passes is never final: whatever it is and however long it lasts, no command is given up because of it,
/// none is lost, and order is kept.
@Suite("Trouble that passes", .serialized, .timeLimit(.minutes(20)))
struct TroubleTests {
    /// How long each disturbance lasts: several times the least time before a message may be given up.
    private static let seconds = Soak.count(3, long: 10)

    /// Has two replicas work under load while something is wrong for a while, and checks everything.
    /// - Parameters:
    ///   - refunds: Whether some of the commands are of a type that an old release doesn't know.
    ///   - said: A text in a replica's log that shows that there was trouble.
    private func suffer(
        _ fixture: LedgerFixture, refunds: Bool = false, isOneOld: Bool = false, saying said: String? = nil,
        begin: @escaping @Sendable () async throws -> Void = {}, end: @escaping @Sendable () async throws -> Void = {}
    ) async throws {
        try await withRandom(said ?? #function) { random in
            let (history, done, isOver) = (LedgerHistory(), Observed(0), Observed(false))
            let accounts = (0..<8).map { _ in AccountID.new() }
            let seeds = (0..<16).map { _ in random.fork() }
            let replicas = [
                try await fixture.startService(leaseMilliseconds: 1000, isOld: isOneOld),
                try await fixture.startService(leaseMilliseconds: 1000),
            ]
            try await fixture.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, seed) in seeds.enumerated() {
                        group.addTask {
                            // Two callers share each account: what waits of one key is more than one command.
                            try await history.call(
                                client, as: "caller\(number)", account: accounts[number % accounts.count],
                                refunds: refunds, random: seed, patience: .seconds(5), done: done, until: isOver)
                        }
                    }
                    group.addTask {
                        try await done.wait("some entries") { $0 >= 100 ? true : nil }
                        try await begin()
                        try await Task.sleep(for: .seconds(Self.seconds))
                        // A full disk, for one, is met only when a table needs its next page.
                        if let said {
                            for _ in 0..<1200 where !replicas.contains(where: { $0.says(said) }) {
                                try await Task.sleep(for: .milliseconds(100))
                            }
                        }
                        try await end()
                        let before = done.value
                        try await done.wait("work to go on") {
                            $0 >= before + 200 ? true : nil
                        }
                        isOver.update { $0 = true }
                    }
                    try await group.waitForAll()
                }
            }
            try await waitForNothingParked(fixture)
            for replica in replicas { await replica.end() }
            if let said, !replicas.contains(where: { $0.says(said) }) {
                throw Unexpected("nothing went wrong: no replica says '\(said)'")
            }
            try await history.check(fixture)
            let refused = history.all.filter { $0.outcome?.kind != .accepted }
            guard refused.isEmpty else {
                throw Unexpected("\(refused.count) entries were not accepted, first: \(refused[0])")
            }
            let given = try await fixture.number("SELECT count(*) FROM ledger.dead_letter")
            guard given == 0 else { throw Unexpected("\(given) were given up") }
        }
    }

    /// A command that was asked for again, because its outcome took long, stands in the log twice. The second one has its turn,
    /// too, when the first is done.
    private func waitForNothingParked(_ fixture: LedgerFixture) async throws {
        try await fixture.wait(
            for: "nothing to be parked or tried",
            "SELECT (SELECT count(*) FROM ledger.parked) + (SELECT count(*) FROM ledger.attempt)"
        ) { $0 == 0 }
    }

    @Test("nothing is given up while a privilege is revoked")
    func privilege() async throws {
        try await LedgerFixture.with { fixture in
            try await suffer(fixture, saying: "42501") {
                try await fixture.database.psql("REVOKE SELECT ON ledger.balance FROM ledger")
            } end: {
                try await fixture.database.psql("GRANT SELECT ON ledger.balance TO ledger")
            }
        }
    }

    @Test("nothing is given up while a column is missing")
    func column() async throws {
        try await LedgerFixture.with { fixture in
            try await suffer(fixture, saying: "42703") {
                try await fixture.database.psql("ALTER TABLE ledger.balance RENAME COLUMN amount TO sum")
            } end: {
                try await fixture.database.psql("ALTER TABLE ledger.balance RENAME COLUMN sum TO amount")
            }
        }
    }

    @Test("nothing is given up while every statement times out")
    func statementTimeout() async throws {
        try await LedgerFixture.with { fixture in
            try await suffer(fixture, saying: "57014") {
                // As with a time-out of a millisecond, whatever time-out the service sets itself.
                try await fixture.database.psql(
                    """
                    CREATE FUNCTION public.time_out() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN
                        RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014';
                    END $$;
                    CREATE TRIGGER time_out BEFORE INSERT ON ledger.entry
                        FOR EACH ROW EXECUTE FUNCTION public.time_out();
                    """)
            } end: {
                try await fixture.database.psql("DROP TRIGGER time_out ON ledger.entry")
            }
        }
    }

    @Test("nothing is given up while the role's statement time-out is a millisecond")
    func roleTimeout() async throws {
        try await LedgerFixture.with { fixture in
            let reconnect = """
                SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                 WHERE datname = current_database() AND usename = 'ledger'
                """
            try await suffer(fixture, saying: "57014") {
                try await fixture.database.psql(
                    "ALTER ROLE ledger IN DATABASE \(fixture.database.name) SET statement_timeout = '1ms'; \(reconnect)"
                )
            } end: {
                try await fixture.database.psql(
                    "ALTER ROLE ledger IN DATABASE \(fixture.database.name) RESET statement_timeout; \(reconnect)"
                )
            }
        }
    }

    @Test("nothing is given up while someone else holds a table lock")
    func locked() async throws {
        try await LedgerFixture.with { fixture in
            let stranger = try await Connection.connect(Configuration(try fixture.database.url))
            try await suffer(fixture, saying: "55P03") {
                try await stranger.run { database in
                    try database.execute("BEGIN")
                    try database.execute("LOCK TABLE ledger.entry IN ACCESS EXCLUSIVE MODE")
                }
            } end: {
                _ = try await stranger.run { try $0.execute("COMMIT") }
            }
            await stranger.close()
        }
    }

    @Test(
        "nothing is given up while the disk is full",
        .enabled(
            if: SmallDisk.isPossible, "mounting a small disk takes root, and a machine that lets it"))
    func fullDisk() async throws {
        try await PrivateCluster.with { postgres in
            let fixture = try LedgerFixture(try await TestDatabase.make(.ledger, on: postgres.cluster()))
            try await SmallDisk.with(megabytes: 16, for: postgres) { disk in
                try await fixture.database.psql("CREATE TABLESPACE small LOCATION '\(disk.folder)'")
                try await fixture.database.psql("ALTER TABLE ledger.entry SET TABLESPACE small")
                try await suffer(fixture, saying: "53100") {
                    try disk.fill()
                } end: {
                    disk.empty()
                }
                // Nothing of it is on the disk any longer when that goes.
                try await fixture.database.psql("ALTER TABLE ledger.entry SET TABLESPACE pg_default")
                try await fixture.database.psql("DROP TABLESPACE small")
            }
        }
    }

    @Test("an old replica leaves commands it doesn't know to a new one, and none is given up")
    func rollingDeploy() async throws {
        try await LedgerFixture.with { fixture in
            try await suffer(fixture, refunds: true, isOneOld: true)
        }
    }

    /// Errors that say nothing against the message that met them.
    private static let codes = ["42501", "53100", "57014", "58030", "XX000", "55006"]

    @Test("trouble with some keys parks only those, without end; they go on when it is over")
    func fewKeys() async throws {
        try await LedgerFixture.with { fixture in
            let unlucky = Self.codes.map { (code: $0, account: AccountID.new()) }
            let cases = unlucky.map { "WHEN '\($0.account)' THEN '\($0.code)'" }.joined(separator: " ")
            try await fixture.database.psql(
                """
                CREATE FUNCTION public.trouble() RETURNS trigger LANGUAGE plpgsql AS $$
                DECLARE
                    code text := CASE NEW.account::text \(cases) END;
                BEGIN
                    IF code IS NOT NULL THEN RAISE EXCEPTION 'trouble' USING ERRCODE = code; END IF;
                    RETURN NEW;
                END $$;
                CREATE TRIGGER trouble BEFORE INSERT ON ledger.entry FOR EACH ROW EXECUTE FUNCTION public.trouble();
                """)
            let replicas = [
                try await fixture.startService(leaseMilliseconds: 1000),
                try await fixture.startService(leaseMilliseconds: 1000),
            ]
            try await fixture.withClient { client in
                let history = LedgerHistory()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (code, account) in unlucky {
                        group.addTask {
                            for n in Int64(1)...2 {
                                let outcome = try await client.post(
                                    PostEntry(client: code, n: n, amount: 1), for: account, patience: .seconds(400))
                                #expect(outcome.kind == .accepted, "\(code)")
                            }
                        }
                    }
                    let parked = "SELECT count(DISTINCT key) FROM ledger.parked WHERE attempts > 1"
                    let (isOver, done) = (Observed(false), Observed(0))
                    // Enough that each partition has one, without which it would rest.
                    for number in 0..<48 {
                        group.addTask {
                            try await history.call(
                                client, as: "lucky", account: .new(), random: SeededRandom(seed: UInt64(number)),
                                patience: .seconds(5), done: done, until: isOver)
                        }
                    }
                    try await fixture.wait(for: "the unlucky to be parked", parked) {
                        $0 == Int64(unlucky.count)
                    }
                    let before = done.value
                    try await Task.sleep(for: .seconds(Self.seconds))
                    try await done.wait("the others to go on") { $0 > before ? true : nil }
                    #expect(try await fixture.number(parked) == Int64(unlucky.count))
                    try await fixture.database.psql("DROP TRIGGER trouble ON ledger.entry")
                    isOver.update { $0 = true }
                    try await group.waitForAll()
                }
            }
            try await waitForNothingParked(fixture)
            for replica in replicas { await replica.end() }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.dead_letter") == 0)
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test(
        """
        a command that takes longer than a lease gets an outcome; others go on, and no lease changes hands again and \
        again
        """)
    func longerThanLease() async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.database.psql(
                """
                CREATE FUNCTION public.dawdle() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    PERFORM pg_sleep(9);
                    RETURN NEW;
                END $$;
                CREATE TRIGGER dawdle BEFORE INSERT ON ledger.entry
                    FOR EACH ROW WHEN (NEW.amount = 3000) EXECUTE FUNCTION public.dawdle();
                """)
            let first = try await fixture.startService(leaseMilliseconds: 3000)
            let second = try await fixture.startService(leaseMilliseconds: 3000)
            let held = "SELECT count(*) FROM ledger.lease WHERE owner IS NOT NULL AND lease_until > now()"
            try await fixture.wait(for: "all leases to be taken", held) { $0 == 4 }
            let takeovers = "SELECT sum(epoch)::bigint FROM ledger.lease"
            try await fixture.withClient { client in
                let before = try await fixture.number(takeovers)
                async let slow = client.post(
                    PostEntry(client: "slow", n: 1, amount: 3000), for: .new(), patience: .seconds(300))
                try await fixture.wait(
                    for: "the slow one to be in hand",
                    """
                    SELECT count(*) FROM pg_stat_activity
                     WHERE datname = current_database() AND usename = 'ledger' AND wait_event = 'PgSleep'
                    """
                ) { $0 > 0 }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<32 {
                        group.addTask {
                            try await client.expectAccepted(1, for: .new())
                        }
                    }
                    try await group.waitForAll()
                }
                // Either outcome: one that can't be done in time may fail, but it must end.
                _ = try await slow
                let taken = try await fixture.number(takeovers) - before
                #expect(taken <= 8, "leases were taken \(taken) times")
            }
            await first.end()
            await second.end()
            try await LedgerInvariants(fixture).check()
        }
    }
}

extension ChildProcess {
    /// Whether a line on standard error has this in it.
    func says(_ text: String) -> Bool { lines(on: .error).contains { $0.contains(text) } }
}
