public import Vocabulary

/// How far a consumer has come in a partition: its newest batch.
public struct Cursor: Hashable, Sendable {
    /// The newest batch's number; 0 before the first.
    public var number: Int64
    /// The position in that partition.
    public var position: Position
    /// The time that batch's rules were given; the next one's is never less.
    public var givenTime: Instant?

    /// All its parts, as the properties describe them.
    public init(number: Int64 = 0, position: Position = .start, givenTime: Instant? = nil) {
        self.number = number
        self.position = position
        self.givenTime = givenTime
    }
}

/// The protocol by which one worker handles one partition. It does no I/O: it says what to do next and is told how
/// that ended, so a test can run it against any order of crashes, pauses and lost answers.
///
/// 1. **Unowned.** When the partition is this worker's share, take the lease. Refused: wait to be asked again.
/// 2. **Opening.** Read the newest batch. Whatever another owner did before, this is the truth.
/// 3. **Ready.** Read when rung, handle what was read, commit batch `number + 1`. Two workers that believe in the same
///    batch both insert its successor and one fails: it was **fenced**, forgets everything and is unowned again.
/// 4. A batch that fails is handled again at once with fresh loads if its error is **transient**; for any other error
///    its messages are handled one at a time; one that fails alone is retried with back-off and then **given up**.
/// 5. A commit whose answer was lost, or a lost connection, ends the session: nothing is guessed, the lease is taken
///    anew and the newest batch read.
///
/// A lease that ran out on this worker's own clock stops it between batches. The lease saves work; the batch's key
/// keeps it right.
public struct PartitionMachine<Item: Sendable>: Sendable {
    /// What the worker is to do now.
    public enum Step: Sendable {
        /// Nothing until rung, or until the share or lease changes.
        case wait
        /// Nothing until `after` has passed since the last failure.
        case backOff(attempt: Int)
        case takeLease
        case readCursor
        case read(after: Position, limit: Int)
        /// Handle these in one transaction that commits the batch after `cursor`.
        case handle([Item], after: Cursor, epoch: Epoch)
        /// Record that this one failed, in the batch after `cursor`.
        case giveUp(Item, after: Cursor, epoch: Epoch, error: String)
        case release(Epoch)
    }

    /// How a transaction failed.
    public enum Failure: Sendable, Equatable {
        /// Somebody else committed the batch's successor.
        case fenced
        /// May succeed at once if run again: a deadlock, a serialisation failure, a unique key on a shared row.
        case transient(String)
        /// Anything else that the server or the rules said.
        case permanent(String)
        /// The connection is gone, or the commit's answer never came.
        case connectionLost
    }

    /// How much at once, and how often again.
    public struct Limits: Sendable {
        /// Messages in one transaction, at most.
        public var batch: Int
        /// Tries of one message alone before it is given up.
        public var attempts: Int
        /// Tries in a row that fail transiently before they count as permanent.
        public var transientAttempts: Int

        /// All its parts, as the properties describe them.
        public init(batch: Int = 64, attempts: Int = 5, transientAttempts: Int = 20) {
            self.batch = batch
            self.attempts = attempts
            self.transientAttempts = transientAttempts
        }
    }

    private enum Phase: Sendable {
        case unowned
        case opening(Epoch)
        case ready(Epoch, Cursor)
    }

    private let limits: Limits
    private var phase: Phase = .unowned
    /// Read and not yet committed, in order.
    private var pending: [Item] = []
    /// How many of the first pending messages must be handled alone, after their batch failed.
    private var alone = 0
    private var attempts = 0
    private var transientAttempts = 0
    private var lastError = ""
    private var isBackingOff = false
    private var isRung = false
    private var isRefused = false
    /// Whether this partition is in the worker's share.
    public private(set) var isWanted = false

    /// All its parts, as the properties describe them.
    public init(limits: Limits) {
        self.limits = limits
    }

    /// Whether the lease is held, as far as is known.
    public var isOwned: Bool {
        if case .unowned = phase { false } else { true }
    }

    /// The lease's number while it is held.
    public var epoch: Epoch? {
        switch phase {
        case .unowned: nil
        case .opening(let epoch), .ready(let epoch, _): epoch
        }
    }

    /// What to do now. Asking changes nothing.
    public func nextStep() -> Step {
        switch phase {
        case .unowned:
            return isWanted && !isRefused ? .takeLease : .wait
        case .opening(let epoch):
            return isWanted ? .readCursor : .release(epoch)
        case .ready(let epoch, let cursor):
            guard isWanted else { return .release(epoch) }
            if isBackingOff { return .backOff(attempt: max(attempts, transientAttempts)) }
            guard let first = pending.first else {
                return isRung ? .read(after: cursor.position, limit: limits.batch) : .wait
            }
            if alone > 0 {
                return attempts >= limits.attempts
                    ? .giveUp(first, after: cursor, epoch: epoch, error: lastError)
                    : .handle([first], after: cursor, epoch: epoch)
            }
            return .handle(Array(pending.prefix(limits.batch)), after: cursor, epoch: epoch)
        }
    }

    // MARK: What happened

    /// The doorbell rang, or a poll is due: there may be something to read.
    public mutating func ring() { isRung = true }

    /// The share was worked out anew; a refused lease may be asked for again.
    public mutating func want(_ wanted: Bool) {
        isWanted = wanted
        isRefused = false
    }

    /// The lease is ours. What was believed before is forgotten.
    public mutating func leaseTaken(_ epoch: Epoch) {
        forget()
        phase = .opening(epoch)
    }

    /// Somebody else has it.
    public mutating func leaseRefused() { isRefused = true }

    /// The newest batch was read.
    public mutating func cursorRead(_ cursor: Cursor) {
        guard case .opening(let epoch) = phase else { return }
        phase = .ready(epoch, cursor)
        isRung = true
    }

    /// What `read` found. Fewer than the limit means that there was no more at that moment.
    public mutating func messagesRead(_ items: [Item]) {
        guard case .ready = phase else { return }
        pending.append(contentsOf: items)
        isRung = items.count >= limits.batch
    }

    /// The batch after `cursor` is committed; `next` was read in the same pipeline, behind it.
    public mutating func committed(_ cursor: Cursor, handled: Int, next: [Item]) {
        guard case .ready(let epoch, _) = phase else { return }
        phase = .ready(epoch, cursor)
        pending.removeFirst(handled)
        alone = max(0, alone - handled)
        attempts = 0
        transientAttempts = 0
        if pending.isEmpty { messagesRead(next) }
    }

    /// Whether the pipeline that commits should carry the next read: only when nothing else is left to handle.
    public func readsAhead(handling count: Int) -> Bool { count == pending.count }

    /// The transaction that handled the first `count` pending messages did not commit, as far as is known.
    public mutating func failed(_ failure: Failure, handling count: Int) {
        switch failure {
        case .fenced, .connectionLost:
            leaseLost()
        case .transient(let error):
            transientAttempts += 1
            lastError = error
            if transientAttempts >= limits.transientAttempts {
                countFailure(handling: count)
            } else {
                // The first few come from neighbours that are just done; later ones need a pause.
                isBackingOff = transientAttempts > 3
            }
        case .permanent(let error):
            lastError = error
            countFailure(handling: count)
        }
    }

    /// The pause after a failure is over.
    public mutating func backedOff() { isBackingOff = false }

    /// The lease ran out, was fenced or its connection died: everything must be read again under a new one.
    public mutating func leaseLost() {
        forget()
        phase = .unowned
    }

    /// The lease was given back.
    public mutating func released() {
        forget()
        phase = .unowned
    }

    private mutating func countFailure(handling count: Int) {
        if count > 1 {
            alone = max(alone, count)
        } else {
            alone = max(alone, 1)
            attempts += 1
            isBackingOff = true
        }
        transientAttempts = 0
    }

    private mutating func forget() {
        pending.removeAll(keepingCapacity: true)
        alone = 0
        attempts = 0
        transientAttempts = 0
        isBackingOff = false
        isRung = false
        isRefused = false
    }
}
