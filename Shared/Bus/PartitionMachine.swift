public import Vocabulary

/// How far a consumer has come in a partition: its newest batch.
public struct Cursor: Hashable, Sendable {
    /// The newest batch's number; 0 before the first.
    public var number: Int64
    /// The position in that partition.
    public var position: Position
    /// The time that batch's rules were given; the next one's is never less.
    public var givenTime: Instant?
    /// When that was, where this process saw it.
    public var givenAt: ContinuousClock.Instant?

    /// All its parts, as the properties describe them.
    public init(
        number: Int64 = 0, position: Position = .start, givenTime: Instant? = nil,
        givenAt: ContinuousClock.Instant? = nil
    ) {
        self.number = number
        self.position = position
        self.givenTime = givenTime
        self.givenAt = givenAt
    }
}

/// The protocol by which one worker handles one partition. It does no I/O: it says what to do next and is told how
/// that ended, so a test can run it against any order of crashes, pauses and lost answers.
///
/// 1. **Unowned.** When the partition is this worker's share, take the lease. Refused: wait to be asked again.
/// 2. **Opening.** Read the newest batch and what is parked. Whatever another owner did before, this is the truth.
/// 3. **Ready.** Read when rung, handle what was read, commit batch `number + 1`. Two workers that believe in the same
///    batch both insert its successor and one fails: it was **fenced**, forgets everything and is unowned again.
/// 4. A batch that fails is handled again at once with fresh loads if its error is **transient**; for any other error
///    its messages are handled one at a time. One that fails alone is **parked**: tried again with growing pauses, while
///    later ones of its key are put behind it and other keys go on. In the end it is **given up**.
/// 5. A commit whose answer was lost, or a lost connection, ends the session: nothing is guessed, the lease is taken
///    anew and the newest batch read.
/// 6. After an owner that did not give its lease back, and for whatever is parked, the worker is **careful**: a committed
///    note says what is tried. First that is a batch, since most owners end for reasons of their own; those of a batch that
///    ended its owner are tried one a transaction. What ended several owners alone is given up untried.
///
/// A lease that ran out on this worker's own clock stops it between batches. The lease saves work; the batch's key
/// keeps it right.
public struct PartitionMachine<Item: PartitionItem>: Sendable {
    /// What the worker is to do now. Each that changes the database commits the batch after its cursor.
    public enum Step: Sendable {
        /// Nothing until rung, or until the share or lease changes.
        case wait
        /// Nothing until a pause after the last failure is over.
        case backOff(attempt: Int)
        case takeLease
        /// Read the newest batch, what is parked, and what owners were trying when they ended.
        case open
        case read(after: Position, limit: Int)
        /// Handle these in one transaction.
        case handle(Work<Item>, after: Cursor, epoch: Epoch)
        /// Read this one again and handle it, as a careful one.
        case retry(Parked<Item.OrderKey>, after: Cursor, epoch: Epoch)
        /// Set this one aside until it is tried again.
        case park(FailedMessage<Item>, after: Cursor, epoch: Epoch)
        /// Record that this one failed for good.
        case giveUp(FailedMessage<Item>, after: Cursor, epoch: Epoch)
        case release(Epoch)
    }

    /// How much at once, and how often again.
    public struct Limits: Sendable {
        /// Messages in one transaction, at most.
        public var batch = 64
        /// Tries of one message alone before it is given up.
        public var attempts = 5
        /// The same for one that nobody here can read: an update may come meanwhile.
        public var unreadableAttempts = 8
        /// Tries in a row that fail transiently before they count as permanent.
        public var transientAttempts = 20
        /// Owners that a message may end before it is given up untried.
        public var crashes = 3
        /// Keys that may be parked at once; more, and the whole partition waits.
        public var parkedKeys = 1000

        /// Sane defaults.
        public init() {}
    }

    private enum Phase: Sendable {
        case unowned
        case opening(Epoch)
        case ready(Epoch, Cursor)
    }

    private let limits: Limits
    /// False: what fails stays parked until it succeeds or an operator gives it up.
    private let givesUp: Bool
    private var phase: Phase = .unowned
    /// Read and not yet committed, in order.
    private var pending: [Item] = []
    private var parked: [Item.OrderKey: Parked<Item.OrderKey>] = [:]
    /// How many owners a message has ended alone, by position; 0 for one that was in a batch which ended its owner.
    private var crashes: [Position: Int] = [:]
    /// How many of the next messages may have ended the last owner.
    private var careful = 0
    /// How many of the first pending messages must be handled alone, after their batch failed.
    private var alone = 0
    /// One that failed alone and must be settled before anything else.
    private var failed: FailedMessage<Item>?
    private var attempts = 0
    private var transientAttempts = 0
    private var isBackingOff = false
    private var isRung = false
    private var isRefused = false
    /// Whether the last thing that was handled had been parked: then it's the others' turn.
    private var isOthersTurn = false
    /// Whether this partition is in the worker's share.
    public private(set) var isWanted = false

    /// - Parameter givesUp: false for a reader that may skip nothing.
    public init(limits: Limits, givesUp: Bool = true) {
        self.limits = limits
        self.givesUp = givesUp
    }

    /// Whether the lease is held, as far as is known.
    public var isOwned: Bool { epoch != nil }

    /// The lease's number while it is held.
    public var epoch: Epoch? {
        switch phase {
        case .unowned: nil
        case .opening(let epoch), .ready(let epoch, _): epoch
        }
    }

    /// How far it has come, while it is ready.
    public var position: Position? { if case .ready(_, let cursor) = phase { cursor.position } else { nil } }

    /// Whether anything waits to be tried again.
    public var hasParked: Bool { !parked.isEmpty }

    /// How many keys are held back.
    public var parkedKeys: Int { parked.count }

    /// When the next parked message is to be tried.
    public var nextRetry: ContinuousClock.Instant? { parked.isEmpty ? nil : parked.values.compactMap(\.retryAt).min() }

    /// What to do now. Asking changes nothing.
    public func nextStep(at now: ContinuousClock.Instant) -> Step {
        switch phase {
        case .unowned:
            return isWanted && !isRefused ? .takeLease : .wait
        case .opening(let epoch):
            return isWanted ? .open : .release(epoch)
        case .ready(let epoch, let cursor):
            guard isWanted else { return .release(epoch) }
            if isBackingOff { return .backOff(attempt: max(attempts, transientAttempts)) }
            if let failed { return settle(failed, cursor, epoch) }
            if let due = dueRetry(at: now), !isOthersTurn || (pending.isEmpty && !isRung) {
                return .retry(due, after: cursor, epoch: epoch)
            }
            guard let first = pending.first else {
                return isRung ? .read(after: cursor.position, limit: limits.batch) : .wait
            }
            if let fault = fault(untried: first.position), parked[first.orderKey] == nil {
                return settle(FailedMessage(item: first, former: nil, fault: fault), cursor, epoch)
            }
            let isSuspect = crashes[first.position] != nil
            let items = alone > 0 || isSuspect ? [first] : unsuspected(careful > 0 ? careful : limits.batch)
            return .handle(
                Work(items: items, diverted: divert(items), isCareful: careful > 0 || isSuspect), after: cursor,
                epoch: epoch)
        }
    }

    /// The first pending ones, at most so many, up to the next suspect: that one is tried alone.
    private func unsuspected(_ count: Int) -> [Item] {
        let first = pending.prefix(min(limits.batch, count))
        return Array(crashes.isEmpty ? first : first.prefix { crashes[$0.position] == nil })
    }

    private func divert(_ items: [Item]) -> Set<Position> {
        parked.isEmpty ? [] : Set(items.lazy.filter { parked[$0.orderKey] != nil }.map(\.position))
    }

    private func dueRetry(at now: ContinuousClock.Instant) -> Parked<Item.OrderKey>? {
        guard !parked.isEmpty else { return nil }
        return parked.values.filter { $0.retryAt.map { $0 <= now } ?? false }.min { $0.position < $1.position }
    }

    /// Why this one isn't even tried.
    private func fault(untried position: Position) -> Fault? {
        guard !crashes.isEmpty, let ended = crashes[position], ended >= limits.crashes else { return nil }
        return Fault(.crashed, "it ended \(ended) workers")
    }

    private func settle(_ failed: FailedMessage<Item>, _ cursor: Cursor, _ epoch: Epoch) -> Step {
        let limit =
            switch failed.fault.code {
            case .error: givesUp ? limits.attempts : .max
            case .unreadable: givesUp ? limits.unreadableAttempts : .max
            case .crashed: givesUp ? 0 : .max
            case .discarded: 0
            }
        if failed.attempts >= limit { return .giveUp(failed, after: cursor, epoch: epoch) }
        if failed.former == nil, parked.count >= limits.parkedKeys {
            // Too much is set aside already: here the whole partition waits for this one.
            guard attempts < limit else { return .giveUp(failed, after: cursor, epoch: epoch) }
            return .handle(
                Work(items: [failed.item], diverted: [], isCareful: careful > 0), after: cursor, epoch: epoch)
        }
        return .park(failed, after: cursor, epoch: epoch)
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
    /// - Parameter isTakenOver: the last owner did not give it back: one of the messages at hand may have ended it.
    public mutating func leaseTaken(_ epoch: Epoch, isTakenOver: Bool = false) {
        forget()
        careful = isTakenOver ? limits.batch : 0
        phase = .opening(epoch)
    }

    /// Somebody else has it.
    public mutating func leaseRefused() { isRefused = true }

    /// The newest batch was read, the first parked message of each key, and how many owners ended at which position.
    public mutating func opened(
        _ cursor: Cursor, parked: [Parked<Item.OrderKey>] = [], crashes: [Position: Int] = [:]
    ) {
        guard case .opening(let epoch) = phase else { return }
        phase = .ready(epoch, cursor)
        self.parked = Dictionary(parked.map { ($0.key, $0) }) { $0.position < $1.position ? $0 : $1 }
        self.crashes = crashes
        isRung = true
    }

    /// What is parked was read again: an operator may have changed when it is tried.
    public mutating func parkedRead(_ parked: [Parked<Item.OrderKey>], crashes: [Position: Int]) {
        guard case .ready = phase, failed == nil else { return }
        self.parked = Dictionary(parked.map { ($0.key, $0) }) { $0.position < $1.position ? $0 : $1 }
        self.crashes = crashes
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
        careful = max(0, careful - handled)
        isOthersTurn = false
        succeeded()
        if pending.isEmpty { messagesRead(next) }
    }

    /// One that failed alone is set aside, in the batch that is committed with it.
    public mutating func committed(_ cursor: Cursor, parking: Parked<Item.OrderKey>) {
        guard case .ready(let epoch, _) = phase, let failed = failed ?? untried() else { return }
        phase = .ready(epoch, cursor)
        if failed.former == nil { takeFirst() }
        parked[parking.key] = parking
        isOthersTurn = true
        succeeded()
    }

    /// One that was parked is done, or one that failed is given up; `next` is the one of its key that waited behind it.
    public mutating func committed(
        _ cursor: Cursor, ending: Parked<Item.OrderKey>?, next: Parked<Item.OrderKey>?
    ) {
        guard case .ready(let epoch, _) = phase else { return }
        phase = .ready(epoch, cursor)
        if let ending { parked[ending.key] = next } else { takeFirst() }
        isOthersTurn = true
        succeeded()
    }

    /// Whether the pipeline that commits should carry the next read: only when nothing else is left to handle.
    public func readsAhead(handling count: Int) -> Bool { count == pending.count }

    /// The transaction that handled the first `count` pending messages did not commit, as far as is known.
    public mutating func failed(_ failure: TransactionFailure, handling count: Int) {
        failed(failure, count: count, former: nil, item: count == 1 ? pending.first : nil)
    }

    /// The transaction that tried a parked message again did not commit, as far as is known.
    public mutating func failed(_ failure: TransactionFailure, retrying former: Parked<Item.OrderKey>, _ item: Item) {
        failed(failure, count: 1, former: former, item: item)
    }

    /// A parked message isn't tried again.
    public mutating func refuse(_ former: Parked<Item.OrderKey>, _ item: Item) -> Bool {
        let fault =
            former.isDiscarded ? Fault(.discarded, "an operator gave it up") : fault(untried: former.position)
        guard let fault else { return false }
        failed = FailedMessage(item: item, former: former, fault: fault)
        return true
    }

    private mutating func failed(_ failure: TransactionFailure, count: Int, former: Parked<Item.OrderKey>?, item: Item?)
    {
        switch failure {
        case .fenced, .connectionLost:
            leaseLost()
        case .transient(let error):
            transientAttempts += 1
            if transientAttempts >= limits.transientAttempts {
                countFailure(Fault(.error, error), count: count, former: former, item: item)
            } else {
                // The first few come from neighbours that are just done; later ones need a pause.
                isBackingOff = transientAttempts > 3
            }
        case .permanent(let fault):
            countFailure(fault, count: count, former: former, item: item)
        }
    }

    private mutating func countFailure(
        _ fault: Fault, count: Int, former: Parked<Item.OrderKey>?, item: Item?
    ) {
        transientAttempts = 0
        guard count <= 1 else {
            alone = max(alone, count)
            return
        }
        if former == nil { alone = max(alone, 1) }
        if failed != nil || (former == nil && parked.count >= limits.parkedKeys) {
            // Settling it failed as well, or it can't be set aside.
            attempts += 1
            isBackingOff = true
        }
        if failed == nil, let item { failed = FailedMessage(item: item, former: former, fault: fault) }
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

    /// The first pending one, when it is settled without having been tried.
    private func untried() -> FailedMessage<Item>? {
        pending.first.flatMap { first in
            fault(untried: first.position).map { FailedMessage(item: first, former: nil, fault: $0) }
        }
    }

    private mutating func takeFirst() {
        pending.removeFirst()
        alone = max(0, alone - 1)
        careful = max(0, careful - 1)
    }

    private mutating func succeeded() {
        failed = nil
        attempts = 0
        transientAttempts = 0
    }

    private mutating func forget() {
        pending.removeAll(keepingCapacity: true)
        parked = [:]
        crashes = [:]
        careful = 0
        alone = 0
        isBackingOff = false
        isRung = false
        isRefused = false
        isOthersTurn = false
        succeeded()
    }
}

/// Messages of one transaction.
public struct Work<Item: PartitionItem>: Sendable {
    /// In order; the cursor goes to the last one.
    public let items: [Item]
    /// Those that wait behind a parked one of their key: they are put there, not handled.
    public let diverted: Set<Position>
    /// The one item may end this process: that it is tried must be known before.
    public let isCareful: Bool

    /// What is handled now.
    public var handled: [Item] { diverted.isEmpty ? items : items.filter { !diverted.contains($0.position) } }
}

/// One message that failed alone.
public struct FailedMessage<Item: PartitionItem>: Sendable {
    /// The message.
    public let item: Item
    /// It had been parked before; nil for one that the cursor has not passed.
    public let former: Parked<Item.OrderKey>?
    /// How it failed last.
    public let fault: Fault
    /// How often it failed by now.
    public var attempts: Int { (former?.attempts ?? 0) + 1 }
}

/// How a transaction failed.
public enum TransactionFailure: Sendable, Equatable {
    /// Somebody else committed the batch's successor.
    case fenced
    /// May succeed at once if run again: a deadlock, a serialisation failure, a unique key on a shared row.
    case transient(String)
    /// Anything else that the server or the rules said.
    case permanent(Fault)
    /// The connection is gone, or the commit's answer never came.
    case connectionLost
}
