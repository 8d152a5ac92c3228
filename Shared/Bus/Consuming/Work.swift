package import QuartetVocabulary

/// An item of a partition, as ``PartitionMachine`` sees it.
package protocol PartitionItem: Sendable {
    /// Items of one key are handled in order. Nothing is promised between keys.
    associatedtype OrderKey: Hashable & Sendable
    var position: Position { get }
}

extension RecordedMessage: PartitionItem {
    package typealias OrderKey = MessageOrder
}

/// The messages of one transaction.
struct Work<Item: PartitionItem>: Sendable {
    /// In order. The cursor moves to the last one.
    let items: [Item]
    /// Messages that wait behind a parked one of their key. They are parked, too, not handled.
    let diverted: Set<Position>
    /// Messages that failed alone. They are parked with whatever else this transaction does.
    let held: [FailedMessage<Item>]
    /// The handled message may end its owner, so a note has to be committed first.
    let isCareful: Bool
    /// It may fail, and shouldn't take other partitions' work with it.
    let isDoubtful: Bool

    /// Whether it may be handled together with other partitions' work.
    var isPlain: Bool { !isCareful && !isDoubtful }

    var handled: [Item] {
        if diverted.isEmpty, held.isEmpty { return items }
        let aside = diverted.union(held.map(\.item.position))
        return items.filter { !aside.contains($0.position) }
    }
}
