import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// What survives an immediate stop of PostgreSQL: everything acknowledged, and every command that a sender waits for.
@Suite("Durability", .serialized, .timeLimit(.minutes(60)))
struct DurabilityTests {
    /// How often the server is stopped.
    private static let stops = Soak.count(6, long: 100)

    @Test("everything acknowledged survives each immediate stop of PostgreSQL")
    func answeredIsDurable() async throws {
        try await PrivateCluster.with(isDurable: true) { postgres in
            // Nothing is flushed by the way: a commit that isn't flushed by itself is lost.
            try await postgres.cluster().psql("ALTER SYSTEM SET wal_writer_delay = '10s'")
            try await postgres.cluster().psql("SELECT pg_reload_conf()")
            let fixture = try LedgerFixture(try await TestDatabase.make(.ledger, on: postgres.cluster()))
            let service = try await fixture.startService(leaseMilliseconds: 60_000, workers: 1)
            try await fixture.withClient { client in
                let account = AccountID.new()
                var answered = 0
                for stop in 1...Self.stops {
                    for _ in 1...3 {
                        try await insist(client, Int64(answered + 1), account)
                        answered += 1
                    }
                    try await postgres.stop(.immediate)
                    try await postgres.start()
                    let effects = try await fixture.number(
                        """
                        SELECT count(*) FROM ledger.entry AS e JOIN ledger.outcome AS o USING (command_id)
                          JOIN ledger.log AS l USING (command_id)
                         WHERE o.outcome = 'accepted' AND l.kind = 'event'
                        """)
                    #expect(effects == answered, "lost by stop \(stop)")
                    // A lost effect stays lost.
                    guard effects == answered else { return }
                }
            }
            await service.end()
            try await LedgerInvariants(fixture).check()
        }
    }

    /// Posts an entry, again with the same id until its outcome is known.
    private func insist(_ client: LedgerClient, _ n: Int64, _ account: AccountID) async throws {
        let id = CommandID.new()
        while true {
            do {
                let outcome = try await client.post(
                    PostEntry(client: "a", n: n, amount: 1), for: account, id: id, mayBeRepeated: true,
                    patience: .seconds(2))
                guard outcome.kind == .accepted else { throw Unexpected("\(outcome)") }
                return
            } catch CommandError.noOutcomeYet {
                continue
            }
        }
    }

    @Test("a waiting edge appends its commands again after a reconnect, so those lost in a crash are done after all")
    func appendedAgain() async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.withClient { client in
                let count = "SELECT count(DISTINCT command_id) FROM ledger_client.ledger_commands"
                async let asked = client.post(
                    PostEntry(client: "a", n: 1, amount: 1), for: .new(), patience: .seconds(60))
                try await fixture.wait(for: "the command to be appended", count) { $0 == 1 }
                // A command's append isn't flushed: a crash takes it, and every connection.
                try await fixture.database.psql(
                    """
                    DELETE FROM ledger_client.ledger_commands;
                    SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                     WHERE datname = current_database() AND usename = 'ledger_client'
                    """)
                // Nothing else is sent, so the connection that appends isn't used.
                try await fixture.wait(for: "the command to be there again", count) { $0 == 1 }
                let service = try await fixture.startService()
                let outcome = try await asked
                #expect(outcome.kind == .accepted)
                await service.end()
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 1)
            try await LedgerInvariants(fixture).check()
        }
    }
}
