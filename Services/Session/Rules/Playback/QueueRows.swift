package import QuartetSessionContract
package import QuartetVocabulary

/// Where an item of a queue is kept.
package struct QueueKey: Hashable, Comparable, Sendable {
    package let group: GroupID
    package let item: PlaybackItemID

    package init(_ group: GroupID, _ item: PlaybackItemID) {
        self.group = group
        self.item = item
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.group, left.item) < (right.group, right.item)
    }
}

/// An item of a queue. The one with the least rank plays next; ranks have gaps, and may be negative.
package struct QueueRow: Equatable, Sendable {
    package var rank: Int64
    package var item: PlaybackItem

    package init(rank: Int64, item: PlaybackItem) {
        self.rank = rank
        self.item = item
    }
}

extension GroupRows {
    /// The queue of a session, the next item first.
    package func queue(of group: GroupID) -> [QueueRow] {
        queueItems.keys.filter { $0.group == group }.compactMap { queueItems[$0] }.sorted { $0.rank < $1.rank }
    }

    /// Adds items to a queue at an index, or moves them there. Only what is in the way gets another rank.
    mutating func enqueue(_ items: [PlaybackItem], at index: Int, in group: GroupID) {
        for item in items { queueItems[QueueKey(group, item.id)] = nil }
        let queue = queue(of: group)
        let (before, behind) = (queue.prefix(index), queue.dropFirst(index))
        var rank = before.last.map { $0.rank + 1 } ?? behind.first.map { $0.rank - Int64(items.count) } ?? 0
        for item in items {
            queueItems[QueueKey(group, item.id)] = QueueRow(rank: rank, item: item)
            rank += 1
        }
        for row in behind {
            guard row.rank < rank else { break }
            queueItems[QueueKey(group, row.item.id)]?.rank = rank
            rank += 1
        }
    }

    /// Removes items from a queue.
    mutating func dequeue(_ items: some Sequence<PlaybackItemID>, from group: GroupID) {
        for item in items { queueItems[QueueKey(group, item)] = nil }
    }

    /// Forgets what a session plays.
    mutating func stopPlayback(of group: GroupID) {
        playbacks[group] = nil
        dequeue(queue(of: group).map(\.item.id), from: group)
    }
}
