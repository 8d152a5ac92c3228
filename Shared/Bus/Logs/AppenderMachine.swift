/// The protocol of micro-batching: nobody waits for a timer, while one flush is in flight the next one fills.
/// It does no I/O; `Entry` is whatever the caller needs to answer whoever waits.
///
/// A flush that the server refuses (bad data) is repeated row by row, so that the refusal reaches only the one at
/// fault. One whose connection was lost may or may not have been committed; its rows go first in the next flush.
/// That is safe for commands, whose ids make the second one a duplicate.
public struct AppenderMachine<Entry: Sendable>: Sendable {
    /// How a flush failed.
    public enum Failure: Sendable {
        /// The server refused the rows.
        case refused
        /// Nobody knows whether they were committed.
        case connectionLost
    }

    private let batchLimit: Int
    private let queueLimit: Int
    private var queue: [Entry] = []
    private var inFlight: [Entry] = []
    /// How many at the head of the queue must be flushed alone.
    private var alone = 0

    /// All its parts, as the properties describe them.
    public init(batchLimit: Int, queueLimit: Int) {
        self.batchLimit = batchLimit
        self.queueLimit = queueLimit
    }

    /// Rows queued and in flight.
    public var waiting: Int { queue.count + inFlight.count }

    /// Returns false when the queue is full: the caller must be told to come back later.
    public mutating func enqueue(_ entry: Entry) -> Bool {
        guard waiting < queueLimit else { return false }
        queue.append(entry)
        return true
    }

    /// What waits, in the order in which it is sent.
    public var queued: [Entry] { inFlight + queue }

    /// Takes what was flushed before and may be lost, however long the queue is: it was taken on when it first came.
    public mutating func enqueueAgain(_ entries: [Entry]) {
        queue.append(contentsOf: entries)
    }

    /// What to send now; nil while a flush is in flight or when there is nothing.
    public mutating func nextFlush() -> [Entry]? {
        guard inFlight.isEmpty, !queue.isEmpty else { return nil }
        let count = alone > 0 ? 1 : min(batchLimit, queue.count)
        inFlight = Array(queue.prefix(count))
        queue.removeFirst(count)
        alone = max(0, alone - count)
        return inFlight
    }

    /// The flush is committed. Returns whom to tell.
    public mutating func flushed() -> [Entry] {
        defer { inFlight = [] }
        return inFlight
    }

    /// The flush failed. Returns whom to tell that their row was refused; the others are tried again.
    public mutating func failed(_ failure: Failure) -> [Entry] {
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
