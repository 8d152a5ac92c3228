import Bus
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

/// Clocks that are wrong.
@Suite
struct ClockTests {
    @Test(
        "after a command recorded while the database's clock was ahead, commands are accepted as usual",
        arguments: [
            "1 hour", "31 days",
        ])
    func databaseWasAhead(by lead: String) async throws {
        try await LedgerFixture.with { fixture in
            try await fixture.withClient { client in
                let (id, account) = (CommandID.new(), AccountID.new())
                let early = PostEntry(client: "a", n: 1, amount: 1)
                await #expect(throws: CommandError.noOutcomeYet(id)) {
                    try await client.post(early, for: account, id: id, patience: .milliseconds(1))
                }
                try await fixture.wait(
                    for: "the command to be appended", "SELECT count(*) FROM ledger_client.ledger_commands"
                ) { $0 == 1 }
                try await fixture.database.psql(
                    "UPDATE ledger_client.ledger_commands SET recorded_at = recorded_at + interval '\(lead)'")
                let service = try await fixture.startService()
                let first = try await client.post(early, for: account, id: id, mayBeRepeated: true)
                #expect(first.kind == .accepted)
                for n in Int64(2)...3 {
                    let outcome = try await client.post(
                        PostEntry(client: "a", n: n, amount: 1), for: account, timeToLive: .minutes(5))
                    #expect(outcome.kind == .accepted, "\(outcome)")
                }
                let backwards = try await fixture.number(
                    """
                    SELECT count(*) FROM (SELECT given_time < lag(given_time) OVER (PARTITION BY source, partition
                                                                                    ORDER BY number) AS is_back
                                            FROM ledger.batch) AS b WHERE is_back
                    """)
                #expect(backwards == 0)
                await service.end()
            }
        }
    }

    @Test("a command caused by an event is done however old it is, since nobody would send it again")
    func oldConsequence() async throws {
        try await LedgerFixture.with { fixture in
            try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                try await fixture.withClient { client in
                    let account = AccountID.new()
                    for days: Int64 in [-40, 2] {
                        let outcome = try await client.sender.send(
                            Message(
                                kind: .command, type: PostEntry.type, key: .account(account), account: account,
                                body: try PostEntry(client: "a", n: days > 0 ? 2 : 1, amount: 1).encoded(),
                                commandID: .new(at: .now + .days(days)), causationID: .new()), mayBeRepeated: false,
                            patience: .patience)
                        #expect(outcome.kind == .accepted, "\(outcome)")
                    }
                }
            }
        }
    }

    @Test(
        "a sender's clock may be ten minutes off: its ids are accepted, and its commands expire on time",
        arguments: [
            Interval.minutes(-10), .minutes(10),
        ])
    func senderIsApart(by offset: Interval) async throws {
        try await LedgerFixture.with { fixture in
            try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                try await fixture.withClient { client in
                    let account = AccountID.new()
                    let good = try await client.post(
                        PostEntry(client: "a", n: 1, amount: 1), for: account, id: .new(at: .now + offset),
                        timeToLive: .minutes(5))
                    #expect(good.kind == .accepted, "\(good)")
                    let late = try await client.post(
                        PostEntry(client: "a", n: 2, amount: 1), for: account, id: .new(at: .now + offset),
                        timeToLive: .seconds(-1))
                    #expect(late.rejection?.code == .expired)
                    // The database added five minutes to its own time.
                    let isWhole = try await fixture.number(
                        """
                        SELECT count(*) FROM ledger_client.ledger_commands
                         WHERE expires_at - recorded_at BETWEEN interval '4 minutes 50 seconds' AND interval '5 minutes'
                        """)
                    #expect(isWhole == 1)
                }
            }
        }
    }
}
