/// The protocol of micro-batching: the next flush fills while one is in flight. It does no I/O. `Entry` is whatever identifies a row and its sender.
///
/// A flush that the server refuses (bad data) is repeated row by row, so that the refusal reaches only the row at
/// fault. A flush whose connection was lost may or may not have been committed; its rows go first in the next one. That
/// is safe for commands, whose ids make the second one a duplicate.
struct AppenderMachine<Entry: Sendable>: Sendable {
    enum Failure: Sendable {
        /// The server refused the rows.
        case refused
        /// It isn't known whether they were committed.
        case connectionLost
    }

    private let batchLimit: Int
    private let queueLimit: Int
    private var queue: [Entry] = []
    private var inFlight: [Entry] = []
    /// How many at the head of the queue must be flushed alone.
    private var alone = 0

    init(batchLimit: Int, queueLimit: Int) {
        self.batchLimit = batchLimit
        self.queueLimit = queueLimit
    }

    /// Rows queued and in flight.
    var waiting: Int { queue.count + inFlight.count }

    /// Whether the next flush can't take more than it has.
    var isFull: Bool { alone > 0 || queue.count >= batchLimit }

    /// Returns false when the queue is full: the caller has to try again later.
    mutating func enqueue(_ entry: Entry) -> Bool {
        guard waiting < queueLimit else { return false }
        queue.append(entry)
        return true
    }

    /// In the order in which they are sent.
    var queued: [Entry] { inFlight + queue }

    /// Queues rows that were flushed before and may be lost. They were accepted once, so the limit doesn't apply.
    mutating func enqueueAgain(_ entries: [Entry]) {
        queue.append(contentsOf: entries)
    }

    /// The rows to send now; nil while a flush is in flight or when nothing is queued.
    mutating func nextFlush() -> [Entry]? {
        guard inFlight.isEmpty, !queue.isEmpty else { return nil }
        let count = alone > 0 ? 1 : min(batchLimit, queue.count)
        inFlight = Array(queue.prefix(count))
        queue.removeFirst(count)
        alone = max(0, alone - count)
        return inFlight
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
            alone = max(alone, inFlight.count)
        case .connectionLost:
            break
        }
        queue.insert(contentsOf: inFlight, at: 0)
        return []
    }
}
