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

    /// More rows aren't appended by one transaction, unless one message alone has it append them.
    static var weightLimit: Int { 2000 }

    /// As many of the first messages as the limit allows, but at least one, and what they weigh. Work that isn't plain stays whole and
    /// isn't weighed: weighing decodes a message, which may end the process before the attempt is noted.
    func bounded(by limit: Int = Self.weightLimit, _ weight: (Item) -> Int) -> (work: Self, weight: Int) {
        guard isPlain else { return (self, 0) }
        var (count, total) = (0, 0)
        for item in items {
            let next = diverted.contains(item.position) ? 0 : weight(item)
            guard count == 0 || total + next <= limit else { break }
            (count, total) = (count + 1, total + next)
        }
        guard count < items.count else { return (self, total) }
        let first = Array(items.prefix(count))
        let work = Self(
            items: first, diverted: diverted.intersection(first.map(\.position)), held: held, isCareful: isCareful,
            isDoubtful: isDoubtful)
        return (work, total)
    }

    var handled: [Item] {
        if diverted.isEmpty, held.isEmpty { return items }
        let aside = diverted.union(held.map(\.item.position))
        return items.filter { !aside.contains($0.position) }
    }
}
