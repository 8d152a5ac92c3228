import Bus
import Foundation
import LedgerContract
import LedgerEdge
import LedgerService
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// Commands that fail: parked, tried again, given up; and those that end the process.
@Suite
struct ParkingTests {
    private static let cursed: Int64 = 666_666
    /// The patience of a command that is held back while a test waits for several other things.
    private static let held = Duration.patience * 4

    private func operate(_ fixture: LedgerFixture, _ sql: Query) async throws -> String? {
        let connection = try await Connection.connect(
            Configuration(try fixture.database.url(as: "quartet_operator")))
        let text = try await connection.run { try $0.query(sql).only?.decode(0, as: String.self) }
        await connection.close()
        return text
    }

    /// In a transaction that began a while ago.
    private func operateLate(_ fixture: LedgerFixture, _ sql: Query) async throws {
        try await Connection.with(Configuration(fixture.database.url(as: "quartet_operator"))) { database in
            try database.execute("BEGIN")
            _ = try database.query("SELECT pg_sleep(1.1)::text")
            _ = try database.query(sql)
        }
    }

    /// Counts messages, not rows: a client that lost its connection appends once more what has no outcome yet, and that copy
    /// waits behind the message itself.
    private func waitForParked(_ count: Int64, attempts: String, _ fixture: LedgerFixture) async throws {
        try await fixture.wait(
            for: "\(count) parked messages",
            """
            SELECT count(*) FROM (SELECT message_id FROM ledger.parked
                                   GROUP BY message_id HAVING max(attempts) \(attempts)) AS m
            """
        ) { $0 == count }
    }

    @Test("a failing command holds back its own key only; once an operator has it retried, the key goes on in order")
    func parked() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService(backoffMilliseconds: 600_000)
            try await fixture.withClient { client in
                let account = AccountID.new()
                let outcomes = Observed<[Int64]>([])
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for n in Int64(1)...4 {
                        group.addTask {
                            let amount = n == 1 ? Self.cursed : 1
                            try await client.expectAccepted(
                                n, amount: amount, for: account, patience: Self.held)
                            outcomes.update { $0.append(n) }
                        }
                        // In this order: the next is sent when this one is parked.
                        try await waitForParked(n, attempts: ">= 0", fixture)
                    }
                    try await waitForParked(3, attempts: "= 0", fixture)
                    // Everybody else goes on, in all partitions.
                    for number in 0..<40 {
                        let other = try await client.post(
                            PostEntry(client: "b\(number)", n: 1, amount: 1), for: .new())
                        #expect(other.kind == .accepted)
                    }
                    #expect(outcomes.value.isEmpty)
                    // First the cure for the error, then the retry.
                    try await fixture.database.psql("ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed")
                    let told = try await operate(
                        fixture,
                        "SELECT ledger.retry_parked('ledger_client.ledger_commands', \(Key.account(account).description), 'a test')::text"
                    )
                    #expect(told == "1")
                    try await group.waitForAll()
                }
                // On a busy machine a command may have been appended twice: then the second one still has its turn.
                try await fixture.wait(for: "nothing to be parked", "SELECT count(*) FROM ledger.parked") { $0 == 0 }
                #expect(try await fixture.number("SELECT count(*) FROM ledger.attempt") == 0)
                let order = try await fixture.database.psql(
                    "SELECT string_agg(body->>'n', ',' ORDER BY position) FROM ledger.log WHERE account = '\(account)'")
                #expect(order.trimmingCharacters(in: .whitespacesAndNewlines) == "1,2,3,4")
            }
            await service.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test("a parked message is retried by the next owner when its owner is killed")
    func parkedSurvives() async throws {
        try await LedgerFixture.with { fixture in
            let first = try await fixture.startService(leaseMilliseconds: 500, backoffMilliseconds: 600_000)
            try await fixture.withClient { client in
                let account = AccountID.new()
                async let outcome = client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account, patience: Self.held)
                try await waitForParked(1, attempts: "= 1", fixture)
                first.send(.kill)
                await first.end()
                try await fixture.database.psql(
                    "ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed; UPDATE ledger.parked SET retry_at = now()"
                )
                let second = try await fixture.startService(leaseMilliseconds: 500)
                #expect(try await outcome.kind == .accepted)
                await second.end()
            }
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test("a parked message is handled even after its log has deleted it, and those behind it follow")
    func parkedOutlivesItsLog() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService(backoffMilliseconds: 600_000)
            try await fixture.withClient { client in
                let account = AccountID.new()
                async let first = client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account, patience: Self.held)
                try await waitForParked(1, attempts: "= 1", fixture)
                async let later = client.post(
                    PostEntry(client: "a", n: 2, amount: 1), for: account, patience: Self.held)
                try await waitForParked(1, attempts: "= 0", fixture)
                let handled = try await fixture.number(
                    """
                    SELECT count(*) FROM ledger_client.ledger_commands AS l
                     WHERE l.position > ledger_client.ledger_commands_handled(l.partition)
                    """)
                #expect(handled == 0)
                try await fixture.database.psql(
                    """
                    DELETE FROM ledger_client.ledger_commands;
                    ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed
                    """)
                _ = try await operate(
                    fixture,
                    "SELECT ledger.retry_parked('ledger_client.ledger_commands', \(Key.account(account).description), 'a test')::text"
                )
                let (one, other) = (try await first.kind, try await later.kind)
                #expect(one == .accepted && other == .accepted)
                try await fixture.wait(for: "nothing to be parked", "SELECT count(*) FROM ledger.parked") { $0 == 0 }
            }
            await service.end()
        }
    }

    @Test(
        "a command that keeps failing becomes a dead letter with its error; an operator's retry is a new command, once")
    func deadLetter() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let account = AccountID.new()
                let outcome = try await client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account)
                guard case .failed("error") = outcome else { throw Unexpected("\(outcome)") }
                let letter = try await fixture.database.psql(
                    """
                    SELECT message_id FROM ledger.dead_letter
                     WHERE code = 'error' AND attempts >= 5 AND error LIKE '%entry_is_not_cursed%'
                       AND body->>'amount' = '666666'
                    """
                ).trimmingCharacters(in: .whitespacesAndNewlines)
                // The key isn't held back any longer.
                try await client.expectAccepted(2, for: account)

                try await fixture.database.psql(
                    """
                    ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed;
                    GRANT EXECUTE ON FUNCTION ledger_client.retry_ledger_commands(uuid, text, uuid) TO quartet_operator
                    """)
                let retry: Query = "SELECT ledger_client.retry_ledger_commands(\(letter)::uuid, 'a test')::text"
                // In a transaction that was open before, it would hold the partition for as long as that one likes.
                let refused = await #expect(throws: PostgresError.self) { try await operateLate(fixture, retry) }
                #expect(refused?.sqlState == "25001")
                let command = try await operate(fixture, retry) ?? ""
                try await fixture.wait(
                    for: "the new command's outcome",
                    "SELECT count(*) FROM ledger.outcome WHERE command_id = '\(command)' AND outcome = 'accepted'"
                ) { $0 == 1 }
                let told = try await fixture.number(
                    """
                    SELECT count(*) FROM ledger_client.ledger_commands
                     WHERE command_id = '\(command)' AND causation_id = '\(letter)'
                    """)
                #expect(told == 1)
                await #expect(throws: PostgresError.self) { try await operate(fixture, retry) }
            }
            await service.end()
        }
    }

    @Test(
        """
        an unknown type waits without end, holds back nothing that is known, and says what it needs; an operator can \
        give it up
        """)
    func unknown() async throws {
        try await LedgerFixture.with { fixture in
            let services = [try await fixture.startService(), try await fixture.startService()]
            try await fixture.withClient { client in
                let account = AccountID.new()
                async let outcome = client.ask(
                    "FromTheFuture", Array("{}".utf8), for: account, patience: Self.held)
                try await fixture.wait(
                    for: "the message to be tried by both",
                    """
                    SELECT count(*) FROM ledger.parked
                     WHERE cause = 'unknown' AND attempts > 3 AND needs = 'FromTheFuture@1'
                    """
                ) { $0 == 1 }
                try await fixture.wait(
                    for: "both to say so", "SELECT count(*) FROM ledger.member WHERE cannot = '{FromTheFuture@1}'"
                ) { $0 >= 2 }
                for number in 0..<20 {
                    let other = try await client.post(PostEntry(client: "b\(number)", n: 1, amount: 1), for: .new())
                    #expect(other.kind == .accepted)
                }
                // Of the same account, too.
                try await client.expectAccepted(1, for: account)
                try await client.expectUrgentlyAccepted(2, for: account)
                // A second one waits behind the first, whoever asks, and needn't be tried to be given up.
                let other = Self.account(inThePartitionOf: account)
                async let second = client.ask("FromTheFuture", Array("{}".utf8), for: other, patience: Self.held)
                try await waitForParked(1, attempts: "= 0", fixture)
                #expect(try await fixture.number("SELECT count(*) FROM ledger.dead_letter") == 0)
                for account in [other, account] {
                    _ = try await operate(
                        fixture,
                        "SELECT ledger.discard_parked('ledger_client.ledger_commands', \(Key.account(account).description), 'a test')::text"
                    )
                }
                guard case .failed("discarded") = try await outcome else { throw Unexpected("\(try await outcome)") }
                guard case .failed("discarded") = try await second else { throw Unexpected("\(try await second)") }
            }
            for service in services { await service.end() }
        }
    }

    private static func partition(of account: AccountID) -> Partition { Partition(of: .account(account), among: 4) }

    private static func account(inThePartitionOf other: AccountID, shiftedBy distance: Int32 = 0) -> AccountID {
        let wanted = Partition((partition(of: other).number + distance) % 4)
        while true {
            let account = AccountID.new()
            if partition(of: account) == wanted { return account }
        }
    }

    @Test("a command that can't even be parked again holds back no other key of its partition")
    func unsettled() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                try await fixture.database.psql(
                    """
                    CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN RAISE EXCEPTION 'not parked again'; END $$;
                    CREATE TRIGGER refuse BEFORE UPDATE ON ledger.parked FOR EACH ROW EXECUTE FUNCTION public.refuse();
                    """)
                let account = AccountID.new()
                async let failing = client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account, patience: Self.held)
                try await fixture.wait(
                    for: "its retries to end in nothing",
                    "SELECT count(*) FROM ledger.lease WHERE trouble LIKE '%not parked again%'"
                ) { $0 == 1 }
                for _ in 0..<5 {
                    let other = Self.account(inThePartitionOf: account)
                    try await client.expectUrgentlyAccepted(1, for: other)
                    try await client.expectAccepted(2, for: other)
                }
                try await fixture.database.psql(
                    """
                    DROP TRIGGER refuse ON ledger.parked;
                    ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed;
                    """)
                #expect(try await failing.kind == .accepted)
                try await fixture.wait(for: "nothing to be parked", "SELECT count(*) FROM ledger.parked") { $0 == 0 }
            }
            await service.end()
        }
    }

    private static func consumer(
        _ fixture: LedgerFixture, _ settings: ConsumerSettings
    ) async throws -> Consumer<CommandHandler<LedgerStore>> {
        let configuration = Configuration(fixture.serviceURL)
        let (commands, log) = try await Connection.with(configuration) { database in
            (
                try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), database),
                try Log.open(LogName(schema: "ledger", table: "log"), database)
            )
        }
        return Consumer(
            source: commands, schema: "ledger", settings: settings, configuration: configuration,
            doorbells: Doorbells(configuration: configuration, logger: LedgerFixture.logger),
            logger: LedgerFixture.logger, handler: CommandHandler(LedgerStore(), log: log))
    }

    @Test("a partition whose queue needs care and gets no turn is said to rest, until it goes on")
    func standing() async throws {
        try await LedgerFixture.with { fixture in
            let account = AccountID.new()
            // As after a crash.
            try await fixture.database.psql(
                """
                INSERT INTO ledger.lease (source, partition, released)
                VALUES ('ledger_client.ledger_commands', \(Self.partition(of: account).number), false)
                """)
            try await fixture.append(1, for: account)
            let (turn, resting) = (FairTurn(), Observed<String?>(nil))
            let isHeld = turn.take(for: FairTurn.Claimant())
            #expect(isHeld)
            var settings = ConsumerSettings()
            (settings.leaseDuration, settings.carefulTurn) = (.seconds(1), turn)
            settings.onTrouble = { reported in resting.update { $0 = reported.resting } }
            let consumer = try await Self.consumer(fixture, settings)
            async let _: Void = consumer.run()
            let said = try await resting.wait("it to say that a partition rests") { $0 }
            #expect(said.contains("needs care"))
            try await fixture.wait(
                for: "its lease to say so", "SELECT count(*) FROM ledger.lease WHERE trouble LIKE '%needs care%'"
            ) { $0 == 1 }
            turn.end()
            try await resting.wait("it to go on") { $0 == nil ? true : nil }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 1)
        }
    }

    @Test(
        """
        a process whose careful turn is never free says so, goes on with all else, and leaves what needs care to another one, not to \
        a worker of its own that takes long; once it is free, the process takes part again
        """)
    func stuck() async throws {
        try await LedgerFixture.with { fixture in
            let former = try await fixture.startService(backoffMilliseconds: 600_000)
            try await fixture.withClient { client in
                let account = AccountID.new()
                async let parked = client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account, patience: Self.held)
                try await waitForParked(1, attempts: "= 1", fixture)
                // After a crash, what the sibling does would need care, too.
                former.send(.terminate)
                try await former.waitForExit(.exited(0))
                try await fixture.database.psql(
                    "ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed; UPDATE ledger.parked SET retry_at = now()"
                )
                let (turn, condition) = (FairTurn(), Observed<(resting: String?, waiting: String?)>((nil, nil)))
                let isHeld = turn.take(for: FairTurn.Claimant())
                #expect(isHeld)
                var settings = ConsumerSettings()
                (settings.workers, settings.leaseDuration, settings.carefulTurn) = (2, .seconds(1), turn)
                // The first transaction takes long.
                let (begun, gate) = (Observed(0), DispatchSemaphore(value: 0))
                settings.faultPoint = { point in
                    guard point == .beforeCommit else { return }
                    let count = begun.update { count in
                        count += 1
                        return count
                    }
                    if count == 1 { gate.wait() }
                }
                settings.onTrouble = { reported in condition.update { $0 = (reported.resting, reported.waiting) } }
                let consumer = try await Self.consumer(fixture, settings)
                async let _: Void = consumer.run()
                defer { gate.signal() }
                let sibling = Self.account(inThePartitionOf: account, shiftedBy: 1)
                let (here, there) = (Self.partition(of: account).number, Self.partition(of: sibling).number)
                try await fixture.wait(
                    for: "its workers to share the partitions",
                    """
                    SELECT count(DISTINCT owner) FROM ledger.lease
                     WHERE source = 'ledger_client.ledger_commands' AND partition IN (\(here), \(there))
                    """
                ) { $0 == 2 }
                async let slow = client.post(
                    PostEntry(client: "a", n: 1, amount: 1), for: sibling, patience: Self.held)
                try await begun.wait("its other worker to be busy") { $0 > 0 ? true : nil }
                let said = try await condition.wait("it to say that it waits in vain") { $0.waiting == nil ? nil : $0 }
                #expect(said.resting == nil)
                try await fixture.wait(
                    for: "its lease to say so, though nothing rests",
                    "SELECT count(*) FROM ledger.lease WHERE needs = '{a turn to be careful}' AND trouble IS NULL"
                ) { $0 == 1 }
                // The busy one lacks the turn as well, so it gets no partition that needs it.
                try await fixture.wait(
                    for: "both workers to lack the turn",
                    "SELECT count(*) FROM ledger.member WHERE 'a turn to be careful' = ANY (cannot)"
                ) { $0 == 2 }
                try await client.expectAccepted(1, for: Self.account(inThePartitionOf: account))
                #expect(try await fixture.number("SELECT count(*) FROM ledger.parked") > 0)
                gate.signal()

                // What the busy one did was too late, so that needs care now, too.
                let other = try await fixture.startService()
                #expect(try await parked.kind == .accepted)
                #expect(try await slow.kind == .accepted)
                try await condition.wait("it to be well") { $0.waiting == nil ? true : nil }
                turn.end()
                try await fixture.wait(
                    for: "it to take part again", "SELECT count(*) FROM ledger.member WHERE cannot <> '{}'"
                ) { $0 == 0 }
                await other.end()
            }
        }
    }

    @Test("what lives depend on doesn't wait behind another command of its account that fails")
    func urgent() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService(backoffMilliseconds: 600_000)
            try await fixture.withClient { client in
                let account = AccountID.new()
                async let first = client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account, patience: Self.held)
                try await waitForParked(1, attempts: "= 1", fixture)
                async let waiting = client.post(
                    PostEntry(client: "a", n: 2, amount: 1), for: account, patience: Self.held)
                try await waitForParked(1, attempts: "= 0", fixture)
                try await client.expectUrgentlyAccepted(3, for: account)
                // Among themselves, urgent ones keep their order.
                async let failing = client.urgently(4, amount: Self.cursed, for: account, patience: Self.held)
                try await waitForParked(2, attempts: "= 1", fixture)
                async let behind = client.urgently(5, amount: 1, for: account, patience: Self.held)
                try await waitForParked(2, attempts: "= 0", fixture)
                let families = try await fixture.database.psql(
                    """
                    SELECT string_agg(m.family || ' ' || m.attempts, ', ' ORDER BY m.position)
                      FROM (SELECT family, max(attempts) AS attempts, min(position) AS position FROM ledger.parked
                             GROUP BY message_id, family) AS m
                    """)
                #expect(
                    families.trimmingCharacters(in: .whitespacesAndNewlines)
                        == "regular 1, regular 0, urgent alarm 1, urgent alarm 0")
                try await fixture.database.psql("ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed")
                let told = try await operate(
                    fixture,
                    "SELECT ledger.retry_parked('ledger_client.ledger_commands', \(Key.account(account).description), 'a test')::text"
                )
                #expect(told == "2")
                let outcomes = [try await first, try await waiting, try await failing, try await behind]
                #expect(outcomes.allSatisfy { $0.kind == .accepted }, "\(outcomes)")
                try await fixture.wait(for: "nothing to be parked", "SELECT count(*) FROM ledger.parked") { $0 == 0 }
            }
            await service.end()
        }
    }

    @Test("an urgent command behind a hundred thousand others of its partition is handled before most of them, once")
    func ahead() async throws {
        try await LedgerFixture.with { fixture in
            let (other, account) = (AccountID.new(), AccountID.new())
            let urgent = Self.account(inThePartitionOf: other)
            try await fixture.append(100_000, for: other)
            try await fixture.withClient { client in
                async let first = client.urgently(1, for: urgent, patience: Self.held)
                try await fixture.wait(
                    for: "it to be appended",
                    "SELECT count(*) FROM ledger_client.ledger_commands WHERE type = 'PostUrgently'"
                ) { $0 == 1 }
                let service = try await fixture.startService()
                #expect(try await first.kind == .accepted)
                try await client.expectAccepted(1, for: account, patience: Self.held)
                try await fixture.wait(
                    for: "all to be handled", "SELECT count(*) FROM ledger.entry"
                ) { $0 == 100_002 }
                await service.end()
            }
            let before = try await fixture.number(
                """
                SELECT count(*) FROM ledger.log
                 WHERE position < (SELECT u.position FROM ledger.log AS u WHERE u.account = '\(urgent)')
                   AND account = '\(other)'
                """)
            #expect(before < 90_000)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.log WHERE account = '\(urgent)'") == 1)
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test("where everything is urgent, nothing goes ahead: ten thousand urgent commands are handled in whole batches")
    func flood() async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.append(10_000, for: .new(), urgently: true)
            // Older than what is looked at at all.
            try await fixture.wait(
                for: "them to have waited",
                "SELECT count(*) FROM ledger_client.ledger_commands WHERE recorded_at < clock_timestamp() - interval '2 s'"
            ) { $0 == 10_000 }
            let service = try await fixture.startService()
            try await fixture.wait(for: "all to be handled", "SELECT count(*) FROM ledger.entry") { $0 == 10_000 }
            await service.end()
            #expect(try await fixture.number("SELECT count(*) FROM ledger.batch WHERE messages = 1") < 100)
        }
    }

    @Test("a command that ends its connection is tried now and then, and never given up; everything else goes on")
    func endsTheConnection() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let account = AccountID.new()
                async let outcome = client.ask(
                    "EndConnection", Array("{}".utf8), for: account, mayBeRepeated: true, patience: Self.held)
                try await fixture.wait(
                    for: "it to be parked",
                    """
                    SELECT count(*) FROM ledger.parked
                     WHERE cause = 'trouble' AND ends_connections AND attempts >= 3 AND type = 'EndConnection'
                    """
                ) { $0 == 1 }
                for number in 0..<40 {
                    let other = try await client.post(
                        PostEntry(client: "b\(number)", n: 1, amount: 1), for: .new())
                    #expect(other.kind == .accepted)
                }
                try await client.expectUrgentlyAccepted(1, for: account)
                // Each later loss makes the pause longer.
                try await fixture.wait(
                    for: "another try", "SELECT count(*) FROM ledger.parked WHERE attempts >= 4 AND ends_connections"
                ) { $0 == 1 }
                #expect(try await fixture.number("SELECT count(*) FROM ledger.dead_letter") == 0)
                _ = try await operate(
                    fixture,
                    "SELECT ledger.discard_parked('ledger_client.ledger_commands', \(Key.account(account).description), 'a test')::text"
                )
                guard case .failed("discarded") = try await outcome else { throw Unexpected("\(try await outcome)") }
            }
            // Another try may have ended the connection at that moment.
            try await fixture.wait(for: "no attempt to be left", "SELECT count(*) FROM ledger.attempt") { $0 == 0 }
            await service.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test("what nobody would send again is tried on by itself after it kept failing, and holds back nothing meanwhile")
    func alone() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let account = AccountID.new()
                _ = try await client.post(
                    PostEntry(client: "a", n: 1, amount: Self.cursed), for: account)
                let letter = try await fixture.database.psql("SELECT message_id FROM ledger.dead_letter")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                // Sent again, it has a cause, as a policy's command has.
                try await fixture.database.psql(
                    "SELECT ledger_client.retry_ledger_commands('\(letter)', 'a test')")
                try await fixture.wait(
                    for: "it to be tried by itself",
                    "SELECT count(*) FROM ledger.parked WHERE family LIKE 'alone %' AND cause = 'error'"
                ) { $0 == 1 }
                try await client.expectAccepted(2, for: account)
                #expect(try await fixture.number("SELECT count(*) FROM ledger.dead_letter") == 1)
                try await fixture.database.psql("ALTER TABLE ledger.entry DROP CONSTRAINT entry_is_not_cursed")
                try await fixture.wait(
                    for: "it to be done without an operator",
                    "SELECT count(*) FROM ledger.entry WHERE amount = \(Self.cursed)"
                ) { $0 == 1 }
                try await fixture.wait(for: "nothing to be parked", "SELECT count(*) FROM ledger.parked") { $0 == 0 }
            }
            await service.end()
        }
    }

    @Test("a command that crashes three owners fails as crashed; those around it are done, once each")
    func endsTheProcess() async throws {
        try await LedgerFixture.with { fixture in
            let isDone = Observed(false)
            try await fixture.withClient { client in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // Started again whenever it ended, as by an init system.
                    group.addTask {
                        while !isDone.value {
                            let service = try await fixture.startService(leaseMilliseconds: 300)
                            while !isDone.value {
                                do { try await service.waitForExit(within: .milliseconds(200)) } catch { continue }
                                break
                            }
                            await service.end()
                        }
                    }
                    group.addTask {
                        defer { isDone.update { $0 = true } }
                        try await withThrowingTaskGroup(of: Void.self) { callers in
                            for trap in 0..<2 {
                                callers.addTask {
                                    let outcome = try await client.ask(
                                        "EndProcess", Array("{}".utf8), for: .new(), mayBeRepeated: true,
                                        patience: .seconds(120))
                                    guard case .failed("crashed") = outcome else {
                                        throw Unexpected("trap \(trap): \(outcome)")
                                    }
                                }
                            }
                            for number in 0..<60 {
                                callers.addTask {
                                    let outcome = try await client.post(
                                        PostEntry(client: "\(number)", n: 1, amount: 1), for: .new(),
                                        mayBeRepeated: true, patience: Self.held)
                                    guard outcome.kind == .accepted else { throw Unexpected("\(number): \(outcome)") }
                                }
                            }
                            try await callers.waitForAll()
                        }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 60)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.dead_letter WHERE code = 'crashed'") == 2)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.attempt") == 0)
            try await LedgerInvariants(fixture).check()
        }
    }
}
