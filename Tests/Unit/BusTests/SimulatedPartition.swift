import QuartetVocabulary

@testable import Bus

/// A message of the simulated log: its number is its position, and every third one has the same key.
struct SimulatedItem: PartitionItem, Hashable {
    typealias OrderKey = Int64

    let number: Int64
    var orderKey: Int64 { number % 3 }
    var position: Position { Position(number) }
}

extension Ordering<SimulatedItem> {
    /// By key alone.
    static let byKey = Self(
        key: { $0.orderKey }, unreadable: { item, _ in item.orderKey }, alone: { _ in nil },
        isUrgent: { _ in false })
    /// What can't be read waits in the order -1.
    static let byKeyIfKnown = Self(
        key: { $0.orderKey }, unreadable: { _, _ in -1 }, alone: { _ in nil },
        isUrgent: { _ in false })
}

/// A log, its batches, leases and parked messages as PostgreSQL would keep them, without PostgreSQL: what the machines
/// are run against.
struct SimulatedPartition {
    /// Positions are 1 to `length`.
    var length: Int64 = 0
    var cursor = Cursor()
    /// In commit order: what was handled, message by message.
    var effects: [Int64] = []
    var givenUp: [Int64: Fault.Code] = [:]
    /// What waits, by number; one without a cause waits behind another of its key.
    var parked: [Int64: Parked<Int64>] = [:]
    /// Which lease of which owner a message was tried under.
    var attempts: [Int64: [Int64: Int]] = [:]
    var owner: Int?
    var epoch: Int64 = 0
    var leaseEnds = 0
    /// Something was met that old replicas can't read.
    var needsNew = false

    /// Commits a batch if nobody else built on the same one: the unique key.
    mutating func commit(after base: Cursor, at position: Position, _ change: (inout Self) -> Void) -> Cursor? {
        guard base.number == cursor.number else { return nil }
        cursor = Cursor(number: base.number + 1, position: position)
        change(&self)
        return cursor
    }

    /// Whether everything is handled.
    var isDone: Bool { cursor.position.number == length && parked.isEmpty }

    func read(after position: Position, limit: Int) -> [SimulatedItem] {
        guard position.number < length else { return [] }
        return Array(((position.number + 1)...length).prefix(limit)).map(SimulatedItem.init)
    }

    func parkedHeads() -> [Parked<Int64>] {
        Dictionary(grouping: parked.values, by: \.key).values.compactMap { $0.min { $0.position < $1.position } }
    }

    func next(of key: Int64) -> Parked<Int64>? {
        parked.values.filter { $0.key == key }.min { $0.position < $1.position }
    }
}
