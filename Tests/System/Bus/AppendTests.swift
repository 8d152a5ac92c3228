import Bus
import Foundation
import Postgres
import QuartetVocabulary
import TestKit
import Testing

@Suite
struct AppendTests {
    @Test("a polling reader misses no row and sees none out of order, while hundreds append and abort at random")
    func gapFree() async throws {
        try await withRandom { random in
            let seeds = (0..<200).map { _ in random.fork() }
            try await LedgerFixture.with { fixture in
                let url = try fixture.database.url(as: "ledger_client")
                let pool = Pool("test", configuration: Configuration(url), size: 24)
                let name = LogName(schema: "ledger_client", table: "ledger_commands")
                let log = try await pool.withConnection { try Log.open(name, $0) }
                let isDone = Observed(false)
                let reader = Task {
                    try await withDeadline(.seconds(600), "the reader") {
                        try await Self.poll(url, name, until: isDone)
                    }
                }
                let committed = try await withThrowingTaskGroup(of: Int.self) { group in
                    for seed in seeds {
                        group.addTask { try await Self.append(log, pool, seed) }
                    }
                    return try await group.reduce(0, +)
                }
                isDone.update { $0 = true }
                let seen = try await reader.value
                #expect(seen.count == committed && Set(seen).count == committed)
                #expect(committed > 500)
                try await LedgerInvariants(fixture).check()
                await pool.close()
            }
        }
    }

    /// Ten transactions of a few rows each in random partitions, a third of them rolled back.
    private static func append(_ log: Log, _ pool: Pool, _ random: SeededRandom) async throws -> Int {
        var random = random
        var committed = 0
        for _ in 0..<10 {
            let messages = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                Message(kind: .command, type: "Noise", key: .account(.new()), body: Array("{}".utf8), commandID: .new())
            }
            let aborts = random.oneIn(3)
            struct Aborted: Error {}
            do {
                try await pool.withConnection { database in
                    try database.transaction { database in
                        _ = try database.query(log.append(messages))
                        if aborts { throw Aborted() }
                    }
                }
                committed += messages.count
            } catch is Aborted {}
        }
        return committed
    }

    /// Reads as a tail does: what comes after the last position, again and again.
    private static func poll(_ url: String, _ name: LogName, until isDone: Observed<Bool>) async throws -> [String] {
        let connection = try await Connection.connect(Configuration(url))
        var positions: [Int32: Int64] = [:]
        var seen: [String] = []
        var wasDone = false
        while true {
            let isLast = wasDone
            wasDone = isDone.value
            let after = positions
            let rows = try await connection.run { database in
                try (Int32(0)..<4).flatMap { partition in
                    try database.query(
                        """
                        SELECT partition, position, message_id::text FROM \(unescaped: name.description)
                         WHERE partition = \(partition) AND position > \(after[partition] ?? 0) ORDER BY position
                        """
                    ).map {
                        try ($0.decode(0, as: Int32.self), $0.decode(1, as: Int64.self), $0.decode(2, as: String.self))
                    }
                }
            }
            for (partition, position, id) in rows {
                guard position == (positions[partition] ?? 0) + 1 else {
                    throw Unexpected("partition \(partition) jumped from \(positions[partition] ?? 0) to \(position)")
                }
                positions[partition] = position
                seen.append(id)
            }
            if isLast {
                await connection.close()
                return seen
            }
        }
    }

    @Test("keys go to the same partitions in Swift and in SQL")
    func partitions() async throws {
        // The first four bytes of SHA-256. They must never change: that would move people's messages.
        let vectors: [(String, UInt32)] = [
            ("a", 3_398_926_610), ("account/01234567-89ab-7def-8123-456789abcdef", 3_754_827_139),
            ("gruppe/ü", 1_504_606_094), (String(repeating: "x", count: 128), 618_273_665),
        ]
        try await LedgerFixture.with { fixture in
            for (key, hash) in vectors {
                let typed = try #require(Key(key))
                for count in [Int32(1), 4, 7, 16] {
                    #expect(Partition(of: typed, among: count).number == Int32(hash % UInt32(count)), "\(key)")
                }
                let inSQL = try await fixture.number("SELECT ledger.log_partition_of('\(key)')")
                #expect(inSQL == Int64(hash % 4), "\(key)")
            }
        }
    }
}
