import Foundation
import Postgres
import QuartetVocabulary

// The three loops of libpq.c with the wrapper: a loop of SELECT 1, a read of 500 rows into Swift values, a pipelined
// append of 100 rows. Prints microseconds per round, as libpq.c does.

let connection = try await Connection.connect(Configuration(CommandLine.arguments.dropFirst().first ?? ""))

func measure(_ name: String, rounds: Int, _ body: @escaping @Sendable (Database) throws -> Void) async throws {
    let duration = try await connection.run { database in
        let begun = ContinuousClock.now
        for _ in 0..<rounds { try body(database) }
        return ContinuousClock.now - begun
    }
    print("\(name) \(String(format: "%.2f", duration / .microseconds(1) / Double(rounds)))")
}

try await measure("select_1_us", rounds: 20_000) { database in _ = try database.query("SELECT 1") }

/// What a reader keeps of a row.
struct Entry {
    let position: Int64
    let type: String
    let key: String
    let account: AccountID
    let body: [UInt8]
    let message: MessageID
    let at: Instant
}

try await measure("read_500_us", rounds: 1000) { database in
    let rows = try database.query(
        """
        SELECT position, type, key, account, body, message_id, recorded_at FROM bench_read ORDER BY position LIMIT 500
        """)
    var sum: Int64 = 0
    for row in rows {
        let entry = Entry(
            position: try row.decode(0, as: Int64.self), type: try row.decode(1, as: String.self),
            key: try row.decode(2, as: String.self), account: try row.decode(3, as: AccountID.self),
            body: row.bytes(4) { $0.map { [UInt8]($0) } ?? [] }, message: try row.decode(5, as: MessageID.self),
            at: try row.decode(6, as: Instant.self))
        sum &+= entry.position &+ entry.at.microseconds &+ Int64(entry.body.count)
    }
    guard sum != 0 else { throw PostgresError.closed }
}

let body = Array("{\"x\":\"\(String(repeating: "x", count: 192))\"}".utf8)
try await measure("append_100_us", rounds: 2000) { database in
    let positions = (0..<100).map { Int64($0) }
    let types = positions.map { _ in "EntryPosted!" }
    let ids = positions.map { AccountID(high: UInt64($0), low: 0) }
    let bodies = positions.map { _ in JSON(body) }
    try database.pipeline { pipeline in
        pipeline.query("BEGIN")
        let append = pipeline.query(
            "INSERT INTO bench_append SELECT * FROM unnest(\(positions), \(types), \(ids), \(bodies))")
        pipeline.query("ROLLBACK")
        pipeline.sync()
        try pipeline.flush()
        try append.check()
    }
}
await connection.close()
