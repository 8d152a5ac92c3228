import Postgres
import QuartetVocabulary

/// How far a consumer has come in a partition: its newest batch.
struct Cursor: Hashable, Sendable {
    /// The newest batch's number; 0 before the first.
    var number: Int64 = 0
    var position = Position.start
    /// The time that batch's rules were given. The next batch's is never earlier.
    var givenTime: Instant?
    /// When that was, by this process's monotonic clock; nil if another process handled the batch.
    var givenAt: ContinuousClock.Instant?
}

extension Cursor {
    /// Reads a row of ``LeaseStatements/cursor(_:)``.
    init(_ row: Row) throws {
        self.init(
            number: try row.decode(0, as: Int64.self), position: Position(try row.decode(1, as: Int64.self)),
            givenTime: try row.decode(2, as: Instant.self), givenAt: .now)
    }
}
