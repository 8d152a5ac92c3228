import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// More commands than the service handles.
@Suite
struct BackPressureTests {
    @Test(
        """
        a service that doesn't answer gets no more commands; senders hear so at once, and everything sent is done \
        later
        """)
    func bounded() async throws {
        try await LedgerFixture.with { fixture in
            let client = try await LedgerClient(
                configuration: Configuration(try fixture.database.url(as: "ledger_client")), unansweredLimit: 20,
                logger: LedgerFixture.logger)
            let running = Task { try await client.run() }
            await client.ready()
            // Given up by their senders, and still sent. No partition has more than its share.
            let ids = (0..<20).map { _ in CommandID.new() }
            let accounts = try await Self.accounts(client, each: 5).flatMap { $0 }.prefix(20)
            try #require(accounts.count == 20)
            func post(_ n: Int, patience: Duration) async throws -> Outcome {
                try await client.post(
                    PostEntry(client: "\(n)", n: 1, amount: 1), for: accounts[n], id: ids[n], patience: patience)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for n in ids.indices {
                    let account = accounts[n]
                    group.addTask {
                        await #expect(throws: CommandError.noOutcomeYet(ids[n])) {
                            try await client.post(
                                PostEntry(client: "\(n)", n: 1, amount: 1), for: account, id: ids[n],
                                patience: .milliseconds(500))
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(client.sender.unanswered == 20)
            await #expect(throws: CommandError.overloaded(.service(20))) {
                try await client.post(PostEntry(client: "more", n: 1, amount: 1), for: accounts[0])
            }
            // Asking again for one that was sent is no more.
            await #expect(throws: CommandError.noOutcomeYet(ids[3])) { try await post(3, patience: .milliseconds(100)) }

            let service = try await fixture.startService()
            try await client.waitForAllAnswered()
            try await client.expectAccepted(1, as: "more", for: accounts[0])
            #expect(try await post(7, patience: .patience).kind == .accepted)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 21)
            await service.end()
            running.cancel()
            _ = try? await running.value
        }
    }

    @Test("an abandoned command counts against the limit only until it expires")
    func abandonedExpire() async throws {
        try await LedgerFixture.with { fixture in
            let client = try await LedgerClient(
                configuration: Configuration(try fixture.database.url(as: "ledger_client")), unansweredLimit: 1,
                logger: LedgerFixture.logger)
            let running = Task { try await client.run() }
            func post(_ n: Int64) async throws -> Outcome {
                try await client.post(
                    PostEntry(client: "a", n: n, amount: 1), for: .new(), patience: .milliseconds(1),
                    timeToLive: .seconds(20))
            }
            let first = await #expect(throws: CommandError.self) { try await post(1) }
            #expect(first.map(Self.isOverloaded) == false && client.sender.unanswered == 1)
            let second = await #expect(throws: CommandError.self) { try await post(2) }
            #expect(second.map(Self.isOverloaded) == true)
            // Nobody handles it, and nobody will: what comes too late is refused.
            try await client.waitForAllAnswered()
            let third = await #expect(throws: CommandError.self) { try await post(3) }
            #expect(third.map(Self.isOverloaded) == false)
            running.cancel()
            _ = try? await running.value
        }
    }

    @Test(
        """
        a partition that stands still uses up its own share of unanswered commands: other partitions' are done, and urgent \
        ones for it are taken while the reserve lasts
        """)
    func stuckPartition() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            let client = try await LedgerClient(
                configuration: Configuration(try fixture.database.url(as: "ledger_client")), unansweredLimit: 20,
                logger: LedgerFixture.logger)
            try await client.run { client in
                let accounts = try await Self.accounts(client, each: 20)
                let (stuck, free) = (accounts[0], accounts[1][0])
                try await fixture.database.psql(
                    """
                    CREATE FUNCTION public.time_out() RETURNS trigger LANGUAGE plpgsql AS $$
                    BEGIN
                        IF NEW.account = ANY ('{\(stuck.map(\.description).joined(separator: ","))}'::uuid[]) THEN
                            RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014';
                        END IF;
                        RETURN NEW;
                    END $$;
                    CREATE TRIGGER time_out BEFORE INSERT ON ledger.entry
                        FOR EACH ROW EXECUTE FUNCTION public.time_out();
                    """)
                let errors: [CommandError?] = try await withThrowingTaskGroup(of: CommandError?.self) { group in
                    for account in stuck {
                        group.addTask {
                            await #expect(throws: CommandError.self) {
                                try await client.post(
                                    PostEntry(client: "a", n: 1, amount: 1), for: account, patience: .seconds(1))
                            }
                        }
                    }
                    var errors: [CommandError?] = []
                    for try await error in group { errors.append(error) }
                    return errors
                }
                #expect(errors.count { $0 == .overloaded(.partition(8)) } == 12, "\(errors)")
                #expect(client.sender.unanswered == 8)

                try await client.expectAccepted(1, as: "free", for: free)
                // Half of the limit, for four partitions.
                for number in 0..<3 {
                    let error = await #expect(throws: CommandError.self) {
                        try await client.post(
                            PostEntry(client: "urgent", n: 1, amount: 1), for: stuck[number], isUrgent: true,
                            patience: .milliseconds(500))
                    }
                    #expect(error.map(Self.isOverloaded) == (number == 2), "\(number): \(error as Any)")
                }
                try await fixture.database.psql("DROP TRIGGER time_out ON ledger.entry")
                try await client.waitForAllAnswered()
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 11)
            await service.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    /// Accounts by the partition of their commands: so many of each.
    private static func accounts(_ client: LedgerClient, each count: Int) async throws -> [[AccountID]] {
        let log = try await client.pool.withConnection {
            try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), $0)
        }
        var accounts = [[AccountID]](repeating: [], count: Int(log.partitionCount))
        while accounts.contains(where: { $0.count < count }) {
            let account = AccountID.new()
            let partition = Int(log.partition(of: .account(account)).number)
            if accounts[partition].count < count { accounts[partition].append(account) }
        }
        return accounts
    }

    private static func isOverloaded(_ error: CommandError) -> Bool {
        if case .overloaded = error { true } else { false }
    }

    @Test("without NOTIFY, commands take longer and none is lost")
    func doorbellsFail() async throws {
        try await LedgerFixture.with { fixture in
            // As when the queue of NOTIFY is full: ringing fails after the commit.
            try await fixture.database.psql("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC")
            let service = try await fixture.startService()
            try await fixture.withClient { client in
                let account = AccountID.new()
                for n in Int64(1)...3 {
                    try await client.expectAccepted(n, for: account)
                }
            }
            await service.end()
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 3)
            try await LedgerInvariants(fixture).check()
        }
    }
}
