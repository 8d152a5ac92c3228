import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

// The queue. What people do to it at the same moment never excludes each other: a place is named by its neighbours, of which
// one may be gone, and whatever isn't touched stays in order.

extension SessionReducer {
    static func insert(
        _ rows: inout SessionRows, _ command: QueueInsert, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let current = rows.groups.playbacks[command.group]?.item?.id
        let queue = rows.groups.queue(of: command.group).map(\.item.id)
        let items = command.items.filter { $0.id != current && !queue.contains($0.id) }
        guard !items.isEmpty else { return [] }
        guard queue.count + items.count <= PlaybackRules.queueLimit else {
            throw Rejection(
                .limitReached,
                "A queue has at most \(PlaybackRules.queueLimit) items, and this one has \(queue.count); remove some first.",
                field: "items", details: ["queued": .integer(Int64(queue.count))])
        }
        let index = place(after: command.after, before: command.before, in: queue, current: current)
        rows.groups.enqueue(items, at: index, in: command.group)
        return [
            .playback(
                .queueItemsInserted(
                    .init(
                        group: command.group, account: account, items: items,
                        after: queue.prefix(index).last, at: context.time)))
        ]
    }

    static func move(
        _ rows: inout SessionRows, _ command: QueueMove, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let queue = rows.groups.queue(of: command.group).map(\.item)
        guard let from = queue.firstIndex(where: { $0.id == command.item }) else {
            throw Rejection(
                .itemNotFound, "The queue doesn't have this item any more; choose another one.", field: "item")
        }
        let others = queue.map(\.id).filter { $0 != command.item }
        let index = place(
            after: command.after, before: command.before, in: others,
            current: rows.groups.playbacks[command.group]?.item?.id)
        guard index != from else { return [] }
        rows.groups.enqueue([queue[from]], at: index, in: command.group)
        return [
            .playback(
                .queueItemMoved(
                    .init(
                        group: command.group, account: account, item: command.item,
                        after: others.prefix(index).last, at: context.time)))
        ]
    }

    static func remove(
        _ rows: inout SessionRows, _ command: QueueRemove, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        let items = command.items.filter { rows.groups.queueItems[QueueKey(command.group, $0)] != nil }
        guard !items.isEmpty else { return [] }
        rows.groups.dequeue(items, from: command.group)
        return [
            .playback(
                .queueItemsRemoved(.init(group: command.group, account: account, items: items, at: context.time)))
        ]
    }

    /// The index of a place in a queue, by the neighbour in front, or else the one behind, or else the end. The current item
    /// is in front of the queue.
    private static func place(
        after: PlaybackItemID?, before: PlaybackItemID?, in queue: [PlaybackItemID], current: PlaybackItemID?
    ) -> Int {
        if let after {
            if after == current { return 0 }
            if let index = queue.firstIndex(of: after) { return index + 1 }
        }
        if let before {
            if before == current { return 0 }
            if let index = queue.firstIndex(of: before) { return index }
        }
        return queue.count
    }
}
