import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// A standby takes over.
@Suite("Failover", .timeLimit(.minutes(60)))
struct FailoverTests {
    @Test("after a standby is promoted, work goes on there, and an older token gets a snapshot marked as refetched")
    func promotedStandby() async throws {
        try await PrivateCluster.with { primary in
            let account = AccountID.new()
            let before = try LedgerFixture(try await TestDatabase.make(.ledger, on: primary.cluster()))
            let service = try await before.startService()
            let token = try await before.withClient { client in
                for n in Int64(1)...3 {
                    _ = try await client.post(PostEntry(client: "a", n: n, amount: 1), for: account)
                }
                let subscription = try await client.streams.subscribe(
                    to: .account(account), from: nil, state: StreamTests.state(of: account))
                return subscription.token
            }
            await service.end()
            try await PrivateCluster.with(standbyOf: primary) { standby in
                let end = try await primary.cluster().psql("SELECT pg_current_wal_flush_lsn()")
                    .trimmingCharacters(in: .whitespacesAndNewlines)
                let after = try LedgerFixture(
                    TestDatabase(name: before.database.name, cluster: standby.cluster()))
                try await after.wait(
                    for: "the standby to have everything",
                    "SELECT (pg_last_wal_replay_lsn() >= '\(end)'::pg_lsn)::int"
                ) { $0 == 1 }
                try await primary.stop(.immediate)
                try await standby.promote()
                let service = try await after.startService()
                try await after.withClient { client in
                    let subscription = try await client.streams.subscribe(
                        to: .account(account), from: token, state: StreamTests.state(of: account))
                    guard case .snapshot(let body, isRefetched: true) = subscription.beginning else {
                        throw Unexpected("gone on from \(token): \(subscription.beginning)")
                    }
                    let fold = try JSONDecoder().decode(StreamTests.Fold.self, from: Data(body))
                    #expect(fold.entries == 3)
                    try await client.expectAccepted(4, for: account)
                    let again = try await client.streams.subscribe(
                        to: .account(account), from: subscription.token, state: StreamTests.state(of: account))
                    guard case .resumed = again.beginning else { throw Unexpected("not resumed: \(again.beginning)") }
                }
                await service.end()
            }
        }
    }
}
