import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import TestKit
import Testing
import Vocabulary

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
            // Given up by their senders, and still sent.
            let ids = (0..<20).map { _ in CommandID.new() }
            let account = AccountID.new()
            func post(_ n: Int, patience: Duration) async throws -> Outcome {
                try await client.post(
                    PostEntry(client: "\(n)", n: 1, amount: 1), for: account, id: ids[n], patience: patience)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for n in ids.indices {
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
            await #expect(throws: CommandError.overloaded) {
                try await client.post(PostEntry(client: "more", n: 1, amount: 1), for: account)
            }
            // Asking again for one that was sent is no more.
            await #expect(throws: CommandError.noOutcomeYet(ids[3])) { try await post(3, patience: .milliseconds(100)) }

            let service = try await fixture.startService()
            for _ in 0..<1000 where client.sender.unanswered > 0 { try await Task.sleep(for: .milliseconds(20)) }
            try await client.expectAccepted(1, as: "more", for: account)
            #expect(try await post(7, patience: .seconds(10)).kind == .accepted)
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
                    timeToLive: .seconds(2))
            }
            let first = await #expect(throws: CommandError.self) { try await post(1) }
            #expect(first != .overloaded && client.sender.unanswered == 1)
            await #expect(throws: CommandError.overloaded) { try await post(2) }
            // Nobody handles it, and nobody will: what comes too late is refused.
            for _ in 0..<1000 where client.sender.unanswered > 0 { try await Task.sleep(for: .milliseconds(20)) }
            let third = await #expect(throws: CommandError.self) { try await post(3) }
            #expect(third != .overloaded)
            running.cancel()
            _ = try? await running.value
        }
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
