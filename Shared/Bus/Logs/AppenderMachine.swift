import QuartetVocabulary

/// The protocol of micro-batching: the next flush fills while one is in flight. It does no I/O. `Entry` is whatever identifies a row and its sender.
///
/// A flush that the server refuses (bad data) is repeated row by row, so that the refusal reaches only the row at
/// fault. A flush whose connection was lost may or may not have been committed; its rows go first in the next one. That
/// is safe for commands, whose ids make the second one a duplicate.
///
/// A flush that waited for a lock in vain is repeated partition by partition. Rows of the partition that somebody holds are set
/// aside, together with what comes behind them, and flushed beside the others' rows (``nextAside()``) until none is left.
struct AppenderMachine<Entry: Sendable>: Sendable {
    enum Failure: Sendable {
        /// The server refused the rows.
        case refused
        /// It isn't known whether they were committed.
        case connectionLost
        /// Somebody holds a lock. Nothing was stored.
        case locked
    }

    private let batchLimit: Int
    private let queueLimit: Int
    private let partition: @Sendable (Entry) -> Partition
    private var queue: [Entry] = []
    private var inFlight: [Entry] = []
    /// How many at the head of the queue must be flushed alone.
    private var alone = 0
    /// Rows that go before the queue, each partition's by itself.
    private var split: [[Entry]] = []
    /// Rows of a partition that somebody holds.
    private struct Aside: Sendable {
        let partition: Partition
        var entries: [Entry]
        /// How many of the first must be flushed alone.
        var alone = 0
    }

    private var aside: [Aside] = []
    /// Those of the first of these partitions that are being flushed.
    private var asideInFlight: [Entry] = []

    init(batchLimit: Int, queueLimit: Int, partition: @escaping @Sendable (Entry) -> Partition) {
        self.batchLimit = batchLimit
        self.queueLimit = queueLimit
        self.partition = partition
    }

    /// Rows queued and in flight.
    var waiting: Int { waitingHere + waitingAside }

    /// Those of partitions that nobody holds, as far as is known.
    var waitingHere: Int { queue.count + inFlight.count + split.reduce(0) { $0 + $1.count } }

    private var waitingAside: Int { asideInFlight.count + aside.reduce(0) { $0 + $1.entries.count } }

    /// Whether rows are set aside.
    var hasAside: Bool { !aside.isEmpty }

    /// Whether the next flush can't take more than it has.
    var isFull: Bool { alone > 0 || !split.isEmpty || queue.count >= batchLimit }

    /// Returns false when the queue is full: the caller has to try again later.
    mutating func enqueue(_ entry: Entry) -> Bool {
        guard waiting < queueLimit else { return false }
        queue.append(entry)
        return true
    }

    /// Those of a partition in the order in which they are sent.
    var queued: [Entry] { asideInFlight + aside.flatMap(\.entries) + inFlight + split.flatMap { $0 } + queue }

    /// Queues rows that were flushed before and may be lost. They were accepted once, so the limit doesn't apply.
    mutating func enqueueAgain(_ entries: [Entry]) {
        queue.append(contentsOf: entries)
    }

    /// The rows to send now; nil while a flush is in flight or when nothing is queued.
    mutating func nextFlush() -> [Entry]? {
        guard inFlight.isEmpty else { return nil }
        while !split.isEmpty {
            let entries = split.removeFirst()
            guard let first = entries.first, !setAside(entries, of: partition(first)) else { continue }
            inFlight = entries
            return inFlight
        }
        while !queue.isEmpty {
            let isAlone = alone > 0
            let count = isAlone ? 1 : min(batchLimit, queue.count)
            inFlight = Array(queue.prefix(count))
            queue.removeFirst(count)
            if isAlone { alone -= 1 }
            if !aside.isEmpty {
                let entries = inFlight
                inFlight = []
                for entry in entries {
                    let isAside = setAside([entry], of: partition(entry))
                    if !isAside { inFlight.append(entry) }
                }
            }
            if !inFlight.isEmpty { return inFlight }
        }
        return nil
    }

    /// The flush is committed. Returns its rows.
    mutating func flushed() -> [Entry] {
        defer { inFlight = [] }
        return inFlight
    }

    /// The flush failed. Returns the rows that were refused; the others are tried again.
    mutating func failed(_ failure: Failure) -> [Entry] {
        defer { inFlight = [] }
        switch failure {
        case .refused where inFlight.count == 1:
            return inFlight
        case .refused:
            alone += inFlight.count
        case .connectionLost:
            break
        case .locked:
            let entries = inFlight
            var partitions: [Partition] = []
            for place in entries.map(partition) where !partitions.contains(place) { partitions.append(place) }
            guard partitions.count > 1 else {
                if let first = partitions.first { aside.append(Aside(partition: first, entries: entries)) }
                return []
            }
            for place in partitions { split.append(entries.filter { partition($0) == place }) }
            return []
        }
        queue.insert(contentsOf: inFlight, at: 0)
        return []
    }

    // MARK: Aside

    /// The rows of a partition that somebody held, to be sent beside the others; nil if there are none.
    mutating func nextAside() -> [Entry]? {
        guard asideInFlight.isEmpty, let first = aside.first else { return nil }
        asideInFlight = Array(first.entries.prefix(first.alone > 0 ? 1 : batchLimit))
        aside[0].entries.removeFirst(asideInFlight.count)
        aside[0].alone = max(0, first.alone - asideInFlight.count)
        return asideInFlight
    }

    /// The rows set aside are committed.
    mutating func flushedAside() {
        asideInFlight = []
        let first = aside.removeFirst()
        // If nothing of the partition was queued meanwhile, it is like the others again. Otherwise the others come first, so a busy
        // partition doesn't keep them waiting.
        if !first.entries.isEmpty { aside.append(first) }
    }

    /// The rows set aside weren't stored, as far as is known. Returns those that were refused; the others are tried again.
    mutating func failedAside(_ failure: Failure) -> [Entry] {
        if case .refused = failure, asideInFlight.count == 1 {
            let refused = asideInFlight
            flushedAside()
            return refused
        }
        var first = aside.removeFirst()
        if case .refused = failure { first.alone += asideInFlight.count }
        first.entries.insert(contentsOf: asideInFlight, at: 0)
        asideInFlight = []
        // After a lock, the next partition is tried first.
        if case .locked = failure { aside.append(first) } else { aside.insert(first, at: 0) }
        return []
    }

    /// Puts rows behind those of their partition that are set aside.
    /// - Returns: False if there are none.
    private mutating func setAside(_ entries: [Entry], of partition: Partition) -> Bool {
        guard let index = aside.firstIndex(where: { $0.partition == partition }) else { return false }
        aside[index].entries += entries
        return true
    }
}
