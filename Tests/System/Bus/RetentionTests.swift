import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import ServiceLifecycle
import TestKit
import Testing

@testable import Bus

/// Which rows are deleted or emptied, and when.
@Suite
struct RetentionTests {
    private func retention(
        _ fixture: LedgerFixture, of schema: String, _ log: String, hasOutcomes: Bool
    ) async throws -> Retention {
        let configuration = Configuration(try fixture.database.url(as: schema))
        let connection = try await Connection.connect(configuration)
        let opened = try await connection.run { try Log.open(LogName(schema: schema, table: log), $0) }
        await connection.close()
        return Retention(
            schema: schema, logs: [opened], hasOutcomes: hasOutcomes, interval: .milliseconds(100),
            configuration: configuration, logger: LedgerFixture.logger)
    }

    /// Runs the retention of both schemas until `sql` gives what is wanted.
    private func forget(_ fixture: LedgerFixture, until sql: String, is wanted: Int64) async throws {
        let services = [
            try await retention(fixture, of: "ledger", "log", hasOutcomes: true),
            try await retention(fixture, of: "ledger_client", "ledger_commands", hasOutcomes: false),
        ]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            defer { group.cancelAll() }
            try await fixture.wait(for: "old rows to go", sql) { $0 == wanted }
        }
    }

    private func age(_ fixture: LedgerFixture, days: Int) async throws {
        try await fixture.database.psql(
            """
            UPDATE ledger.log SET recorded_at = recorded_at - interval '\(days) days';
            UPDATE ledger_client.ledger_commands SET recorded_at = recorded_at - interval '\(days) days';
            UPDATE ledger.batch SET given_time = given_time - interval '\(days) days';
            """)
    }

    private static let account = AccountID.new()

    private func post(_ client: LedgerClient, _ numbers: ClosedRange<Int64>) async throws {
        for n in numbers {
            try await client.expectAccepted(n, for: Self.account)
        }
    }

    @Test(
        "retention keeps each partition's newest row, so numbers go on; resuming from a deleted row gives a snapshot")
    func oldRowsGo() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let key = Key.account(Self.account)
                let state: Query = "SELECT amount::text FROM ledger.balance WHERE account = \(Self.account)"
                let first = try await client.streams.subscribe(to: key, from: nil, state: state)
                try await post(client, 1...20)
                try await age(fixture, days: 40)
                try await forget(
                    fixture,
                    until: "SELECT count(*) FROM ledger.log, ledger_client.ledger_commands, ledger.batch", is: 1)
                let kept = try await fixture.number(
                    "SELECT count(*) FROM ledger.log WHERE position = 20 AND (body->>'n')::bigint = 20")
                #expect(kept == 1)
                #expect(try await fixture.number("SELECT count(*) FROM ledger.batch WHERE source IS NOT NULL") == 1)
                #expect(
                    try await fixture.number("SELECT count(*) FROM ledger.outcome") == 20,
                    "kept for 31 days by their ids")

                // Its token is from before the kept history.
                let resumed = try await client.streams.subscribe(to: key, from: first.token, state: state)
                guard case .snapshot(let body, isRefetched: true) = resumed.beginning else {
                    throw Unexpected("\(resumed.beginning)")
                }
                #expect(body == Array("20".utf8))

                try await post(client, 21...22)
                let position = try await fixture.number("SELECT max(position) FROM ledger.log")
                #expect(position == 22)
                let token = resumed.token
                let exact = try await client.streams.subscribe(to: key, from: token, state: state)
                guard case .resumed = exact.beginning else { throw Unexpected("\(exact.beginning)") }
            }
            await service.end()
        }
    }

    @Test(
        """
        unhandled rows stay however old they are; a consumer that was away for too long stops, says so and skips \
        nothing
        """)
    func consumersAreWaitedFor() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService(leaseMilliseconds: 500)
            try await fixture.withClient { client in
                try await post(client, 1...5)
                await service.end()
                // Nobody handles these.
                for n in Int64(6)...9 {
                    await #expect(throws: CommandError.self) {
                        try await client.post(
                            PostEntry(client: "a", n: n, amount: 1), for: Self.account, patience: .milliseconds(100))
                    }
                }
                try await fixture.wait(
                    for: "the commands", "SELECT count(*) FROM ledger_client.ledger_commands"
                ) { $0 == 9 }
                try await age(fixture, days: 40)
                let left = "SELECT count(*) FROM ledger_client.ledger_commands"
                try await forget(fixture, until: left, is: 4)
                try await age(fixture, days: 60)
                try await forget(fixture, until: left, is: 1)

                let late = try await fixture.startService(leaseMilliseconds: 500)
                let told = try await late.waitForLine(containing: "has lost those in between")
                #expect(told.text.contains("accept_truncation('ledger_client.ledger_commands', "))
                await #expect(throws: CommandError.self) {
                    try await client.post(
                        PostEntry(client: "a", n: 10, amount: 1), for: Self.account, patience: .seconds(2))
                }
                let operated = try await fixture.database.psql(
                    "SET SESSION AUTHORIZATION quartet_operator; SELECT ledger.accept_truncation('ledger_client.ledger_commands', 'a test')"
                )
                #expect(operated.contains("3"))
                try await client.expectAccepted(11, for: Self.account)
                await late.end()
            }
        }
    }

    @Test(
        """
        redaction empties an account's messages and keeps their positions; others' and unhandled ones stay as they \
        are
        """)
    func redact() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                try await post(client, 1...3)
                let other = AccountID.new()
                _ = try await client.post(PostEntry(client: "b", n: 1, amount: 5), for: other)
                for schema in ["ledger", "ledger_client"] {
                    try await fixture.database.psql(
                        "SET SESSION AUTHORIZATION \(schema); SELECT \(schema).redact('\(Self.account)')")
                }
                let open = """
                    SELECT (SELECT count(*) FROM ledger.redaction WHERE done_at IS NULL)
                         + (SELECT count(*) FROM ledger_client.redaction WHERE done_at IS NULL)
                    """
                try await forget(fixture, until: open, is: 0)
                for (table, whole) in [
                    ("ledger.log", 1), ("ledger_client.ledger_commands", 1), ("ledger.outcome", 1),
                ] {
                    // A client that heard nothing for long sends a command again.
                    let count = "SELECT count(DISTINCT command_id) FROM \(table)"
                    let left = try await fixture.number("\(count) WHERE body::text <> '{}'")
                    #expect(left == whole, "\(table)")
                    let all = try await fixture.number(count)
                    #expect(all == 4, "\(table)")
                }
            }
            await service.end()
        }
    }

    @Test(
        "what a failed command says is quoted in no error and no log line, and redaction empties its error, too")
    func errors() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                // In the row that the database refuses, by a check that the rules don't know.
                let outcome = try await client.post(
                    PostEntry(client: "marked-4711", n: 1, amount: 666_666), for: Self.account, patience: .seconds(60))
                guard case .failed("error") = outcome else { throw Unexpected("\(outcome)") }
                let errors = "SELECT count(*) FROM ledger.dead_letter WHERE error LIKE '%entry_is_not_cursed%'"
                #expect(try await fixture.number(errors) == 1)
                for (table, text) in [
                    ("dead_letter", "error"), ("parked", "error"), ("outcome", "body::text"), ("log", "body::text"),
                ] {
                    let found = try await fixture.number(
                        "SELECT count(*) FROM ledger.\(table) WHERE \(text) LIKE '%marked-4711%'")
                    #expect(found == 0, "\(table)")
                }
                try await service.waitForLine(containing: "entry_is_not_cursed")
                #expect(!service.says("marked-4711"))
                try await fixture.database.psql(
                    """
                    UPDATE ledger.dead_letter SET error = error || ' marked-4711';
                    INSERT INTO ledger.parked (source, partition, position, kind, type, version, key, account, body,
                                               message_id, recorded_at, cause, attempts, failing_since, retry_at, error)
                    SELECT 'nowhere', 0, 1, 'command', type, version, key, account, body, gen_random_uuid(), died_at,
                           'error', 1, died_at, 'infinity', error
                      FROM ledger.dead_letter;
                    SET SESSION AUTHORIZATION ledger;
                    SELECT ledger.redact('\(Self.account)');
                    """)
                try await forget(
                    fixture,
                    until: """
                        SELECT (SELECT count(*) FROM ledger.dead_letter AS d WHERE d::text LIKE '%marked-4711%')
                             + (SELECT count(*) FROM ledger.parked AS p WHERE p::text LIKE '%marked-4711%')
                        """, is: 0)
            }
            await service.end()
        }
    }

    @Test("a step of retention that fails, or costs the connection, keeps no other from being done")
    func stepsFailAlone() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                try await post(client, 1...3)
                for (function, what) in [
                    ("delete_old_batches(keep interval, at_most int) RETURNS bigint", "RAISE EXCEPTION 'a test'"),
                    (
                        "delete_old_outcomes(at_most int) RETURNS bigint",
                        "PERFORM pg_terminate_backend(pg_backend_pid()); RETURN 0"
                    ),
                ] {
                    try await fixture.database.psql(
                        """
                        CREATE OR REPLACE FUNCTION ledger.\(function) LANGUAGE plpgsql
                        AS $$BEGIN \(what); END$$
                        """)
                }
                // What no one asked for, and what can't be reckoned with, as an operator's slip may leave it.
                try await fixture.database.psql(
                    """
                    ALTER TABLE ledger.retention DROP CONSTRAINT retention_keeps_ten_years_at_most;
                    UPDATE ledger.retention SET keep = interval '290000 years', truncate_after = NULL WHERE subject = 'log';
                    SET SESSION AUTHORIZATION ledger;
                    SELECT ledger.redact('\(Self.account)')
                    """)
                try await forget(fixture, until: "SELECT count(*) FROM ledger.redaction WHERE done_at IS NULL", is: 0)
                let left = try await fixture.number(
                    "SELECT count(*) FROM ledger.log WHERE body::text <> '{}' AND account = '\(Self.account)'")
                #expect(left == 0)
            }
            await service.end()
        }
    }

    @Test("when no batch is old, looking for old ones reads a few pages, however many there are")
    func youngBatches() async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.database.psql(
                """
                INSERT INTO ledger.lease (source, partition) VALUES ('ledger_client.ledger_commands', 0);
                INSERT INTO ledger.batch (source, partition, number, position, owner, epoch, given_time, messages)
                SELECT 'ledger_client.ledger_commands', 0, n, n, gen_random_uuid(), 1, now(), 1
                  FROM generate_series(1, 100000) AS n
                """)
            try await fixture.database.psql("VACUUM ledger.batch")
            try await fixture.database.psql(
                """
                CREATE FUNCTION public.buffers(statement text) RETURNS bigint LANGUAGE plpgsql AS $$
                DECLARE plan json;
                BEGIN
                    EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || statement INTO plan;
                    RETURN (plan->0->'Plan'->>'Shared Hit Blocks')::bigint + (plan->0->'Plan'->>'Shared Read Blocks')::bigint;
                END$$
                """)
            // The first call in a session also reads the catalog.
            let read = try await fixture.database.psql(
                """
                SELECT ledger.delete_old_batches('1 day', 1000);
                SELECT public.buffers($$SELECT ledger.delete_old_batches('1 day', 1000)$$)
                """)
            #expect(try #require(Int(read.split(separator: "\n").last ?? "")) < 100, "\(read)")
            let gone = try await fixture.number(
                """
                UPDATE ledger.batch SET given_time = now() - interval '2 days' WHERE number <= 1500;
                SELECT ledger.delete_old_batches('1 day', 1000)
                """)
            #expect(gone == 1000)
        }
    }

    @Test("one pass redacts many accounts, and later messages of theirs; accounts added meanwhile get the next pass")
    func redactMany() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let closed = (0..<20).map { _ in AccountID.new() }
                let (next, other) = (AccountID.new(), AccountID.new())
                func post(_ n: Int64, for accounts: [AccountID]) async throws {
                    for account in accounts {
                        _ = try await client.post(PostEntry(client: "a", n: n, amount: 1), for: account)
                    }
                }
                func redact(_ accounts: [AccountID]) async throws {
                    for schema in ["ledger", "ledger_client"] {
                        let calls = accounts.map { "SELECT \(schema).redact('\($0)')" }.joined(separator: ";")
                        try await fixture.database.psql(calls)
                    }
                }
                let open = """
                    SELECT (SELECT count(*) FROM ledger.redaction WHERE done_at IS NULL)
                         + (SELECT count(*) FROM ledger_client.redaction WHERE done_at IS NULL)
                    """
                let whole = """
                    SELECT (SELECT count(*) FROM ledger.log WHERE body::text <> '{}')
                         + (SELECT count(*) FROM ledger_client.ledger_commands WHERE body::text <> '{}')
                         + (SELECT count(*) FROM ledger.outcome WHERE body::text <> '{}')
                    """
                try await post(1, for: closed + [next, other])
                try await redact(closed)
                try await forget(fixture, until: open, is: 0)
                var left = try await fixture.number(whole)
                #expect(left == 6, "three rows each of two accounts")

                // However often there was nothing new behind the end, the next pass isn't put off by it.
                try await fixture.database.psql(
                    "SELECT count(ledger.log_redact(0, 5000)) FROM generate_series(1, 3000)")

                // Late messages are emptied once no more can come.
                try await post(2, for: Array(closed.prefix(2)) + [other])
                for schema in ["ledger", "ledger_client"] {
                    try await fixture.database.psql(
                        """
                        UPDATE \(schema).redaction SET requested_at = requested_at - interval '10 minutes',
                                                       late_until = clock_timestamp()
                        """)
                }
                try await redact([next])
                try await forget(fixture, until: whole, is: 6)
                try await forget(
                    fixture,
                    until: """
                        SELECT (SELECT count(*) FROM ledger.redaction WHERE done_at < late_until)
                             + (SELECT count(*) FROM ledger_client.redaction WHERE done_at < late_until)
                        """, is: 2)
                left = try await fixture.number(
                    "SELECT count(*) FROM ledger.log WHERE body::text <> '{}' AND key <> 'account/\(other)'")
                #expect(left == 0)
            }
            await service.end()
        }
    }
}

/// What a worker reads when it takes a lease.
@Suite
struct ParkedScanTests {
    private static let parking = ParkingStatements(
        schema: "ledger", source: LogName(schema: "ledger_client", table: "ledger_commands"), owner: .new())

    /// Parks messages that nobody can read, all in one queue, then one of another.
    private func park(_ count: Int, _ fixture: LedgerFixture) async throws {
        try await fixture.database.psql(
            """
            INSERT INTO ledger.parked (source, partition, position, kind, type, version, key, body, message_id, recorded_at,
                                       attempts, family)
            SELECT '\(Self.parking.source)', 0, p.last + n, 'command', CASE WHEN n > \(count) THEN 'Post' ELSE 'Later' END, 1,
                   'account/' || n, '{}', gen_random_uuid(), now(), 0,
                   CASE WHEN n > \(count) THEN 'regular' ELSE 'unknown Later/1' END
              FROM (SELECT coalesce(max(position), 0) AS last FROM ledger.parked) AS p, generate_series(1, \(count + 1)) AS n
            """)
        try await fixture.database.psql("VACUUM ANALYZE ledger.parked")
    }

    private func cost(_ query: Query, _ fixture: LedgerFixture) async throws -> (rows: Int, buffers: Int) {
        let connection = try await Connection.connect(Configuration(try fixture.database.url(as: "ledger")))
        let plan = try await connection.run { database in
            try database.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) \(query)").only?.decode(0, as: JSON.self).bytes
        }
        await connection.close()
        let explained = try #require(try JSONSerialization.jsonObject(with: Data(plan ?? [])) as? [[String: Any]])
        let top = try #require(explained.first?["Plan"] as? [String: Any])
        let buffers = ["Shared Hit Blocks", "Shared Read Blocks"].compactMap { top[$0] as? Int }
        return (try #require(top["Actual Rows"] as? NSNumber).intValue, buffers.reduce(0, +))
    }

    @Test(
        "a worker that takes a lease reads a few pages, however many messages of an unknown type are parked in one queue",
        .timeLimit(.minutes(60)))
    func heads() async throws {
        try await LedgerFixture.with { fixture in
            let heads = Self.parking.parked(in: Partition(0))
            let families = ["Transfer": Family("urgent alarm"), "Notify/alertRaised": Family("urgent alarm")]
            let separate = Self.parking.separateUrgent(families, in: Partition(0))
            try await park(20_000, fixture)
            let few = try await cost(heads, fixture)
            #expect(few.rows == 2 && few.buffers < 50, "\(few)")
            try await park(Soak.count(80_000, long: 980_000), fixture)
            let many = try await cost(heads, fixture)
            #expect(many.rows == 3 && many.buffers < 50, "\(many)")
            #expect(try await cost(separate, fixture).buffers < 50)
        }
    }

    @Test("a message that failed without ending its owner leaves no attempts but those of a later owner")
    func attempts() async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.database.psql(
                """
                INSERT INTO ledger.attempt (source, partition, position, epoch, owner)
                SELECT '\(Self.parking.source)', 0, p, e, gen_random_uuid() FROM (VALUES (7, 1), (7, 2), (7, 3), (8, 2)) AS a (p, e)
                """)
            let tried = Careful(position: Position(7), partition: Partition(0), epoch: Epoch(2))
            let connection = try await Connection.connect(Configuration(try fixture.database.url(as: "ledger")))
            _ = try await connection.run { database in try database.execute(Self.parking.forgetAttempts(of: tried)) }
            await connection.close()
            let left = try await fixture.database.psql(
                "SELECT position || '/' || epoch FROM ledger.attempt ORDER BY position, epoch")
            #expect(left.split(separator: "\n") == ["7/3", "8/2"])
        }
    }

    @Test("who takes a lease that was given back because of a late turn is as careful as the former owner had to be")
    func careful() async throws {
        try await LedgerFixture.with { fixture in
            let statements = { (owner: OwnerID) in
                LeaseStatements(
                    schema: "ledger", source: Self.parking.source, owner: owner, slot: 0, process: [owner],
                    duration: .seconds(5))
            }
            let (former, next, partition) = (statements(.new()), statements(.new()), Partition(0))
            let connection = try await Connection.connect(Configuration(try fixture.database.url(as: "ledger")))
            let found = try await connection.run { database in
                try database.execute(former.createRows(for: [partition]))
                return try [(true, true), (true, false), (false, true), (false, false)].map { isCareful, isLate in
                    let epoch = Epoch(
                        try database.query(former.take(partition)).only?.decode(0, as: Int64.self) ?? 0)
                    if isLate { try database.execute(former.add(Careful.turn, to: partition)) }
                    try database.execute(former.release(partition, epoch: epoch, isCareful: isCareful))
                    let row = try database.query(next.take(partition)).only
                    let later = Epoch(try row?.decode(0, as: Int64.self) ?? 0)
                    try database.execute(next.forget([Careful.turn], of: partition, epoch: later))
                    try database.execute(next.release(partition, epoch: later, isCareful: true))
                    return try row?.decode(3, as: Bool.self)
                }
            }
            #expect(found == [true, false, false, false])
            #expect(try await fixture.number("SELECT count(*) FROM ledger.lease WHERE needs <> '{}'") == 0)
            await connection.close()
        }
    }

    @Test("what a process lacks is recorded of its live workers only: others may be deleted just then")
    func lacking() async throws {
        try await LedgerFixture.with { fixture in
            let owners = (0..<2).map { _ in OwnerID.new() }
            let statements = owners.map {
                LeaseStatements(
                    schema: "ledger", source: Self.parking.source, owner: $0, slot: 0, process: owners,
                    duration: .seconds(5))
            }
            let connection = try await Connection.connect(Configuration(try fixture.database.url(as: "ledger")))
            _ = try await connection.run { database in
                for each in statements { try database.execute(each.heartbeat(cannot: [])) }
            }
            try await fixture.database.psql(
                "UPDATE ledger.member SET alive_until = now() - interval '10 seconds' WHERE owner = '\(owners[1])'")
            _ = try await connection.run { try $0.execute(statements[0].lack(Careful.turn)) }
            await connection.close()
            let lacking = "SELECT count(*) FROM ledger.member WHERE cannot <> '{}'"
            #expect(try await fixture.number("\(lacking)") == 1)
            #expect(try await fixture.number("\(lacking) AND owner = '\(owners[0])'") == 1)
        }
    }

    @Test("what 0.1.0 parked as regular gets the family of its type or kind when a lease is taken; all else stays")
    func families() async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.database.psql(
                """
                INSERT INTO ledger.parked (source, partition, position, kind, type, version, key, body, message_id, recorded_at,
                                           attempts)
                SELECT '\(Self.parking.source)', 0, m.position, 'command', m.type, 1, 'account/1', m.body::json,
                       gen_random_uuid(), now(), 0
                  FROM (VALUES (1, 'UpdateProfile', '{}'), (2, 'RaiseAlert', '{}'), (3, 'DeliverNotification', '{"kind":"ping"}'),
                               (4, 'DeliverNotification', '{"kind":"alertRaised"}')) AS m (position, type, body)
                """)
            let separate = Self.parking.separateUrgent(
                ["RaiseAlert": Family("urgent alarm"), "DeliverNotification/alertRaised": Family("urgent alarm")],
                in: Partition(0))
            let connection = try await Connection.connect(Configuration(try fixture.database.url(as: "ledger")))
            _ = try await connection.run { database in try database.execute(separate) }
            await connection.close()
            let queues = try await fixture.database.psql("SELECT queue FROM ledger.parked ORDER BY position")
            #expect(
                queues.split(separator: "\n") == [
                    "regular account/1", "urgent alarm account/1", "regular account/1", "urgent alarm account/1",
                ])
        }
    }
}
