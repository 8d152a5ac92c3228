import Bus
import LedgerEdge
import Postgres
import TestKit
import Testing
import Vocabulary

@Suite
struct BlockerTests {
    @Test("an edge paused between Execute and Sync doesn't hold others up for long, and its own command is done once")
    func stoppedEdge() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            let account = AccountID.new()
            let stopped = try await ChildProcess.start(
                "faulty-ledger", [fixture.serviceURL],
                environment: ["LEDGER_POSTS": "\(account)", "LEDGER_FAULT": "stopWithLock:1"], name: "edge")
            try await stopped.waitForLine(containing: "stops itself")
            try await fixture.wait(
                for: "its session to wait for it, in no state to which a time-out of the server applies",
                """
                SELECT count(*) FROM pg_stat_activity
                 WHERE usename = 'ledger_client' AND datname = current_database() AND state = 'active'
                   AND wait_event = 'ClientRead'
                """
            ) { $0 == 1 }
            try await fixture.withClient { client in
                try await client.expectAccepted(1, as: "other", amount: 2, for: account)
                stopped.send(.resume)
                try await stopped.waitForLine(containing: "posted: accepted")
            }
            #expect(try await fixture.number("SELECT amount FROM ledger.balance WHERE account = '\(account)'") == 3)
            await stopped.end()
            await service.end()
            try await LedgerInvariants(fixture).check()
        }
    }
}
