import Bus
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

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

    @Test("while an operator's open transaction holds a partition of commands, those of other partitions are done")
    func heldPartition() async throws {
        try await LedgerFixture.with { fixture in
            let service = try await fixture.startService()
            let holder = try await Connection.connect(Configuration(fixture.database.url(as: "quartet_migrator")))
            try await fixture.withClient { client in
                let log = try await client.pool.withConnection {
                    try Log.open(LogName(schema: "ledger_client", table: "ledger_commands"), $0)
                }
                let account = AccountID.new()
                let partition = log.partition(of: .account(account)).number
                var others: [AccountID] = []
                while others.count < 20 {
                    let next = AccountID.new()
                    if log.partition(of: .account(next)).number != partition { others.append(next) }
                }
                try await holder.run { database in
                    // As an operator's act does.
                    try database.execute("SET ROLE ledger_client_owner")
                    try database.execute("BEGIN")
                    _ = try database.query(
                        """
                        SELECT FROM ledger_client.ledger_commands_partition AS p WHERE p.partition = \(partition)
                           FOR NO KEY UPDATE
                        """)
                }
                async let held = client.post(
                    PostEntry(client: "held", n: 1, amount: 1), for: account, patience: .seconds(60))
                try await fixture.wait(
                    for: "the held command to wait",
                    """
                    SELECT count(*) FROM pg_stat_activity
                     WHERE usename = 'ledger_client' AND datname = current_database() AND wait_event_type = 'Lock'
                    """
                ) { $0 > 0 }
                for (number, account) in others.enumerated() {
                    try await client.expectAccepted(1, as: "other\(number)", for: account)
                }
                #expect(try await fixture.number("SELECT count(*) FROM ledger.entry WHERE client = 'held'") == 0)
                _ = try await holder.run { try $0.execute("COMMIT") }
                let outcome = try await held
                #expect(outcome.kind == .accepted)
            }
            await holder.close()
            await service.end()
            try await LedgerInvariants(fixture).check()
        }
    }
}
