public import Vocabulary

/// What a partition is made of, as ``PartitionMachine`` sees it.
public protocol PartitionItem: Sendable {
    associatedtype OrderKey: Hashable & Sendable
    /// Items of one key are handled in order; of others, nothing is promised.
    var orderKey: OrderKey { get }
    /// Its place in the partition.
    var position: Position { get }
}

extension RecordedMessage: PartitionItem {
    /// The message's key.
    public var orderKey: Key { message.key }
}

/// Messages of one transaction.
public struct Work<Item: PartitionItem>: Sendable {
    /// In order; the cursor goes to the last one.
    public let items: [Item]
    /// Those that wait behind a parked one of their key: they are put there, not handled.
    public let diverted: Set<Position>
    /// Those that failed alone: they are parked with whatever else this transaction does.
    public let held: [FailedMessage<Item>]
    /// The one that is handled may end its owner: that it is tried must be known before.
    public let isCareful: Bool
    /// It may fail, and shouldn't take other partitions' work with it.
    public let isDoubtful: Bool

    /// What is handled now.
    public var handled: [Item] {
        if diverted.isEmpty, held.isEmpty { return items }
        let aside = diverted.union(held.map(\.item.position))
        return items.filter { !aside.contains($0.position) }
    }
}
