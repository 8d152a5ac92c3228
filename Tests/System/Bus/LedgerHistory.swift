import Bus
import Foundation
import LedgerContract
import LedgerEdge
import Postgres
import QuartetVocabulary
import Synchronization
import TestKit

/// Everything sent, and every answer: the database is compared with it at the end.
final class LedgerHistory: Sendable {
    struct Entry: Sendable {
        let client: String
        let account: AccountID
        let n: Int64
        let amount: Int64
        /// Whether it is a command that an old release of the service doesn't know.
        var isRefund = false
        let id: CommandID
        var outcome: Outcome?
        /// How often it was sent.
        var sends = 0
    }

    private let entries = Mutex<[CommandID: Entry]>([:])

    var all: [Entry] { entries.withLock { Array($0.values) } }
    var accepted: [Entry] { all.filter { $0.outcome?.kind == .accepted } }

    /// One caller: its entries one after the other, each asked for again with the same id until its outcome is known.
    /// - Parameters:
    ///   - count: How many, unless it is over before.
    ///   - refunds: Whether every third is a refund.
    func call(
        _ client: LedgerClient, as name: String, account: AccountID, count: Int = .max, refunds: Bool = false,
        random: SeededRandom, patience: Duration = .milliseconds(1500), done: Observed<Int>? = nil,
        until isOver: Observed<Bool>? = nil
    ) async throws {
        var random = random
        for n in 1...Int64(count) {
            if isOver?.value == true { return }
            let entry = Entry(
                client: name, account: account, n: n, amount: Int64.random(in: 1...100, using: &random),
                isRefund: refunds && n % 3 == 0, id: .new())
            entries.withLock { $0[entry.id] = entry }
            try await ask(client, entry, patience: patience)
            done?.update { $0 += 1 }
        }
    }

    private func ask(_ client: LedgerClient, _ entry: Entry, patience: Duration) async throws {
        while true {
            try Task.checkCancellation()
            entries.withLock { $0[entry.id]?.sends += 1 }
            do {
                let posted = PostEntry(client: entry.client, n: entry.n, amount: entry.amount)
                let (type, body) =
                    entry.isRefund
                    ? (PostRefund.type, try PostRefund(posted).encoded()) : (PostEntry.type, try posted.encoded())
                let outcome = try await client.ask(
                    type, body, for: entry.account, id: entry.id, mayBeRepeated: true, patience: patience)
                return entries.withLock { $0[entry.id]?.outcome = outcome }
            } catch CommandError.noOutcomeYet {
                continue
            } catch CommandError.overloaded {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Holds the database against what was sent and heard.
    func check(_ fixture: LedgerFixture) async throws {
        let all = self.all
        let open = all.filter { $0.outcome == nil }
        guard open.isEmpty else { throw Unexpected("\(open.count) entries have no outcome, first \(open[0])") }
        let connection = try await Connection.connect(Configuration(try fixture.database.url))
        let rows = try await connection.run { database in
            try database.query("SELECT command_id FROM ledger.entry").map { try $0.decode(0, as: CommandID.self) }
        }
        await connection.close()
        let applied = Dictionary(rows.map { ($0, 1) }, uniquingKeysWith: +)
        for entry in all {
            let count = applied[entry.id] ?? 0
            let wanted = entry.outcome?.kind == .accepted ? 1 : 0
            guard count == wanted else { throw Unexpected("\(entry) was applied \(count) times") }
        }
        guard rows.count == accepted.count else {
            throw Unexpected("\(rows.count) entries are in the books, \(accepted.count) were accepted")
        }
        try await LedgerInvariants(fixture).check()
    }
}

/// What must hold in the end, whatever happened.
struct LedgerInvariants {
    private let fixture: LedgerFixture

    init(_ fixture: LedgerFixture) {
        self.fixture = fixture
    }

    private static let violations: [(String, String)] = [
        (
            "positions have gaps",
            """
            SELECT count(*) FROM (SELECT partition FROM ledger.log GROUP BY partition
             HAVING max(position) <> count(*) OR min(position) <> 1) AS v
            """
        ),
        (
            "command positions have gaps",
            """
            SELECT count(*) FROM (SELECT partition FROM ledger_client.ledger_commands GROUP BY partition
             HAVING max(position) <> count(*) OR min(position) <> 1) AS v
            """
        ),
        (
            "n doesn't ascend with the position",
            """
            SELECT count(*) FROM (
              SELECT (body->>'n')::bigint - lag((body->>'n')::bigint) OVER (PARTITION BY key, body->>'client' ORDER BY position)
                     AS step
                FROM ledger.log WHERE kind = 'event') AS v WHERE step <= 0
            """
        ),
        (
            "a balance isn't the sum of its entries",
            """
            SELECT count(*) FROM (SELECT account, sum(amount) AS amount FROM ledger.entry GROUP BY account) AS e
              FULL JOIN ledger.balance AS b USING (account) WHERE b.amount IS DISTINCT FROM e.amount
            """
        ),
        (
            "an entry has no event, or two",
            """
            SELECT count(*) FROM (SELECT command_id, count(*) AS n FROM ledger.log WHERE kind = 'event' GROUP BY 1) AS l
              FULL JOIN ledger.entry AS e USING (command_id) WHERE l.n IS DISTINCT FROM 1 OR e.command_id IS NULL
            """
        ),
        (
            "an outcome has no row in the log, or the other way round",
            """
            SELECT count(*) FROM (SELECT command_id, partition, position, outcome FROM ledger.log WHERE outcome IS NOT NULL) AS l
              FULL JOIN ledger.outcome AS o USING (command_id, partition, position, outcome)
             WHERE l.command_id IS NULL OR o.command_id IS NULL
            """
        ),
        (
            "batches have gaps or run backwards",
            """
            SELECT count(*) FROM (
              SELECT number - lag(number) OVER w AS step, position - lag(position) OVER w AS advance,
                     given_time - lag(given_time) OVER w AS time
                FROM ledger.batch WINDOW w AS (PARTITION BY source, partition ORDER BY number)) AS v
             WHERE step <> 1 OR advance < 0 OR time < interval '0'
            """
        ),
    ]

    func check() async throws {
        for (what, sql) in Self.violations {
            let count = try await fixture.number(sql)
            guard count == 0 else { throw Unexpected("\(what): \(count) times") }
        }
    }
}
