import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import TestKit
import Testing

@Suite
struct OutcomeTests {
    private func withLedger(
        _ body: @Sendable @escaping (LedgerFixture, LedgerClient) async throws -> Void
    ) async throws {
        try await LedgerFixture.with { fixture in
            try await ChildProcess.with("faulty-ledger", [fixture.serviceURL]) { _ in
                try await fixture.withClient { client in try await body(fixture, client) }
            }
            try await LedgerInvariants(fixture).check()
        }
    }

    @Test("a command sent again returns its recorded outcome and does nothing else")
    func again() async throws {
        try await withLedger { fixture, client in
            let (id, account) = (CommandID.new(), AccountID.new())
            let entry = PostEntry(client: "a", n: 1, amount: 7)
            let first = try await client.post(entry, for: account, id: id)
            let again = try await client.post(entry, for: account, id: id, mayBeRepeated: true)
            #expect(first.kind == .accepted && first == again)
            #expect(try await fixture.number("SELECT count(*) FROM ledger.log") == 1)
            #expect(try await fixture.number("SELECT amount FROM ledger.balance") == 7)
            // The second one holds nobody up.
            try await client.expectAccepted(2, for: account)
        }
    }

    @Test("one id sent many times at once is one command")
    func atOnce() async throws {
        try await withLedger { fixture, client in
            let (id, account) = (CommandID.new(), AccountID.new())
            let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
                for _ in 0..<50 {
                    group.addTask {
                        try await client.post(
                            PostEntry(client: "a", n: 1, amount: 7), for: account, id: id, mayBeRepeated: true)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes.count == 50 && Set(outcomes).count == 1)
            #expect(try await fixture.number("SELECT amount FROM ledger.balance") == 7)
        }
    }

    @Test("one id with another body is rejected, before and after the first command is done")
    func otherBody() async throws {
        try await withLedger { fixture, client in
            let (id, account) = (CommandID.new(), AccountID.new())
            _ = try await client.post(PostEntry(client: "a", n: 1, amount: 7), for: account, id: id)
            let other = try await client.post(
                PostEntry(client: "a", n: 1, amount: 8), for: account, id: id, mayBeRepeated: true)
            #expect(other.rejection?.code == .idReused)
            // Another account that uses the id gets the same answer and learns nothing.
            let stranger = try await client.post(
                PostEntry(client: "a", n: 1, amount: 7), for: .new(), id: id, mayBeRepeated: true)
            #expect(stranger.rejection?.code == .idReused)
            #expect(try await fixture.number("SELECT sum(amount) FROM ledger.balance") == 7)
        }
    }

    @Test("an id older than 30 days, from the future or without a time is refused")
    func horizon() async throws {
        try await withLedger { fixture, client in
            let ids: [CommandID] = [
                .new(at: .now - .days(31)), .new(at: .now + .days(2)), CommandID(high: 0x4000, low: 1),
            ]
            for id in ids {
                let outcome = try await client.post(PostEntry(client: "a", n: 1, amount: 7), for: .new(), id: id)
                #expect(outcome.rejection?.code == .idTooOld)
            }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 0)
        }
    }

    @Test("a command whose time to live is over is rejected as expired")
    func expired() async throws {
        try await withLedger { _, client in
            let outcome = try await client.post(
                PostEntry(client: "a", n: 1, amount: 7), for: .new(), timeToLive: .seconds(-1))
            #expect(outcome.rejection?.code == .expired)
        }
    }

    @Test("invalid fields and broken rules are rejected with the field's name, and nothing is stored")
    func rejected() async throws {
        try await withLedger { fixture, client in
            let zero = try await client.post(PostEntry(client: "a", n: 1, amount: 0), for: .new())
            #expect(zero.rejection?.field == "amount")
            let overdrawn = try await client.post(PostEntry(client: "a", n: 1, amount: -1), for: .new())
            #expect(overdrawn.rejection?.code == "overdrawn")
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 0)
        }
    }

    @Test("a command that only the database refuses fails alone, among hundreds of others that are accepted")
    func failsAlone() async throws {
        try await withLedger { fixture, client in
            let cursed = AccountID.new()
            let outcomes = try await withThrowingTaskGroup(of: (AccountID, Outcome).self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let account = number == 150 ? cursed : AccountID.new()
                        return (
                            account,
                            try await client.post(
                                PostEntry(client: "a", n: 1, amount: number == 150 ? 666_666 : 1), for: account,
                                patience: .patience)
                        )
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for (account, outcome) in outcomes { #expect(outcome.kind == (account == cursed ? .failed : .accepted)) }
            #expect(try await fixture.number("SELECT count(*) FROM ledger.entry") == 299)
        }
    }

    @Test("when the log can't take a body, only its sender hears of it")
    func poisonousBody() async throws {
        try await withLedger { fixture, client in
            let kinds = await withTaskGroup(of: (Int, String).self) { group in
                for number in 0..<300 {
                    group.addTask {
                        let account = AccountID.new()
                        let good = (try? PostEntry(client: "a", n: 1, amount: 1).encoded()) ?? []
                        let message = Message(
                            kind: .command, type: PostEntry.type, key: .account(account), account: account,
                            body: number == 150 ? Array("{\"never closed\": ".utf8) : good, commandID: .new())
                        do {
                            return (
                                number,
                                "\(try await client.sender.send(message, mayBeRepeated: false, patience: .patience).kind)"
                            )
                        } catch CommandError.refused {
                            return (number, "refused")
                        } catch {
                            return (number, "\(error)")
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for (number, kind) in kinds { #expect(kind == (number == 150 ? "refused" : "accepted"), "\(number)") }
            let count = try await fixture.number("SELECT count(*) FROM ledger.entry")
            #expect(count == 299)
        }
    }
}

extension Outcome {
    var rejection: Rejection? {
        if case .rejected(let rejection) = self { rejection } else { nil }
    }
}
