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
/// that ended, so a test can run it against any order of crashes, pauses, troubles and lost answers.
///
/// 1. **Unowned.** When the partition is this worker's share, take the lease. Refused: wait to be asked again.
/// 2. **Opening.** Read the newest batch and what is parked. Whatever another owner did before, this is the truth.
/// 3. **Ready.** Read when rung, handle what was read, commit batch `number + 1`. Two workers that believe in the same
///    batch both insert its successor and one fails: it was **fenced**, forgets everything and is unowned again.
/// 4. A batch that fails by **contention** is handled again at once with fresh loads. After any other failure its messages
///    are handled one at a time. What happens to one that fails alone depends on whose fault that is:
///    - Its own: it is **parked**, and tried again with growing pauses while later ones of its key wait behind it and other
///      keys go on. After enough tries over enough time it is **given up**.
///    - Trouble: it is **held** while messages of other keys are tried. The first that gets through commits together with
///      the parking of what is held; that is tried again without end. If none gets through, nothing is parked: the
///      partition **rests** and begins again.
///    - Nobody here knows its type: it is parked and tried again without end.
/// 5. A commit whose answer was lost, or a lost connection, ends the session: nothing is guessed, the lease is taken
///    again and the newest batch read.
/// 6. After a lease that wasn't given back, and for whatever is parked, the worker is **careful**: one message a
///    transaction, and a note is committed first that says which. What ended several leases in a row is a **trap**: it is
///    given up untried, or stays parked if nothing may be given up.
///
/// A lease that ran out on this worker's own clock stops it between batches. The lease saves work; the batch's key
/// keeps it right.
public struct PartitionMachine<Item: PartitionItem>: Sendable {
    /// What the worker is to do now. Each that changes the database commits the batch after its cursor.
    public enum Step: Sendable {
        /// Nothing until rung, or until the share or lease changes.
        case wait
        /// Nothing until a pause after the last failure is over.
        case rest(attempt: Int)
        case takeLease
        /// Read the newest batch, what is parked, and what owners were trying when they ended.
        case open
        case read(after: Position, limit: Int)
        /// Handle these in one transaction.
        case handle(Work<Item>, after: Cursor, epoch: Epoch)
        /// Read this parked one and handle it, carefully.
        case retry(Parked<Item.OrderKey>, after: Cursor, epoch: Epoch)
        /// Leave this one parked until it is tried again.
        case parkAgain(FailedMessage<Item>, after: Cursor, epoch: Epoch)
        /// Record that this one failed for good.
        case giveUp(FailedMessage<Item>, after: Cursor, epoch: Epoch)
        case release(Epoch)
    }

    /// How much at once, and how often again.
    public struct Limits: Sendable {
        /// Messages in one transaction, at most.
        public var batch = 64
        /// Tries of a message that fails by its own fault before it is given up, at least.
        public var attempts = 5
        /// How long these tries go on, at least.
        public var leastTime: Duration = .seconds(60)
        /// Tries in a row that meet contention before that counts as what it would be if it never ended.
        public var contentions = 10
        /// Messages of different keys that fail by trouble, one after the other, before the partition rests.
        public var probes = 8
        /// Messages that are looked at, at most, to find one of another key.
        public var window = 1024
        /// Leases that a message may end before it counts as a trap.
        public var crashes = 3
        /// Keys that may be parked at once. With more, the whole partition waits.
        public var parkedKeys = 1000

        /// Sane defaults.
        public init() {}
    }

    enum Phase: Sendable {
        case unowned
        case opening(Epoch)
        case ready(Epoch, Cursor)
    }

    let limits: Limits
    /// False: what fails stays parked until it succeeds or an operator gives it up.
    let givesUp: Bool
    var phase: Phase = .unowned
    /// Read and not yet committed, in order.
    var pending: [Item] = []
    var parked: [Item.OrderKey: Parked<Item.OrderKey>] = [:]
    /// How many leases in a row a message has ended, by position.
    var crashes: [Position: Int] = [:]
    /// How many of the next messages may have ended the last lease.
    var careful = 0
    /// How many of the first pending messages are handled alone, after their batch failed.
    var alone = 0
    /// Pending ones that failed alone, one after the other, and are parked by the next commit.
    var held: [FailedMessage<Item>] = []
    /// These are parked although nothing else got through: the last one failed by its own fault.
    var isSettling = false
    /// The first pending one failed by its own fault and can't be parked.
    var stuck: FailedMessage<Item>?
    /// A parked one that failed again.
    var retried: FailedMessage<Item>?
    var contentions = 0
    /// Rests since something got through.
    var rests = 0
    var isResting = false
    var isRung = false
    private var isRefused = false
    /// Whether the last thing that was handled had been parked: then it's the others' turn.
    var isOthersTurn = false
    /// Why the partition rests, from its first rest until something gets through.
    public internal(set) var trouble: String?
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

    /// How many keys are held back.
    public var parkedKeys: Int { parked.count }

    /// The keys that are held back, by the message that each waits for.
    public var parkedHeads: some Collection<Parked<Item.OrderKey>> { parked.values }

    /// When the next parked message is to be tried; nil while the partition rests.
    public var nextRetry: ContinuousClock.Instant? {
        guard case .ready = phase, !isResting else { return nil }
        return parked.values.lazy.map(\.retryAt).min()
    }

    /// What to do now. Asking changes nothing.
    public func nextStep(at now: ContinuousClock.Instant) -> Step {
        switch phase {
        case .unowned:
            return isWanted && !isRefused ? .takeLease : .wait
        case .opening(let epoch):
            return isWanted ? .open : .release(epoch)
        case .ready(let epoch, let cursor):
            guard isWanted else { return .release(epoch) }
            if isResting { return .rest(attempt: max(rests, contentions)) }
            if let retried {
                return isOver(retried, at: now)
                    ? .giveUp(retried, after: cursor, epoch: epoch) : .parkAgain(retried, after: cursor, epoch: epoch)
            }
            if held.isEmpty, let due = dueRetry(at: now), !isOthersTurn || (pending.isEmpty && !isRung) {
                return .retry(due, after: cursor, epoch: epoch)
            }
            guard let first = pending.first, let last = pending.last else {
                return isRung ? .read(after: cursor.position, limit: limits.batch) : .wait
            }
            if held.isEmpty, let dead = dead(first, at: now) { return .giveUp(dead, after: cursor, epoch: epoch) }
            // Without work, what is held waits for a message of another key to be read.
            return work(at: now).map { .handle($0, after: cursor, epoch: epoch) }
                ?? .read(after: last.position, limit: limits.batch)
        }
    }

    private func dueRetry(at now: ContinuousClock.Instant) -> Parked<Item.OrderKey>? {
        parked.values.lazy.filter { $0.retryAt <= now }.min { $0.position < $1.position }
    }

    /// The next transaction of what is pending.
    private func work(at now: ContinuousClock.Instant) -> Work<Item>? {
        if let last = held.last {
            let end = isSettling ? pending.firstIndex { $0.position == last.item.position } : candidate
            return end.map { work(Array(pending[...$0]), held: held) }
        }
        guard let first = pending.first else { return nil }
        if parked[first.orderKey] == nil, let trap = trap(first, at: now) { return work([first], held: [trap]) }
        let isAlone = alone > 0 || careful > 0 || crashes[first.position] != nil
        return work(isAlone ? [first] : unsuspected, held: [])
    }

    private func work(_ items: [Item], held: [FailedMessage<Item>]) -> Work<Item> {
        let positions = Set(held.map(\.item.position))
        let keys = Set(held.map(\.item.orderKey))
        let diverted = items.lazy
            .filter { (parked[$0.orderKey] != nil || keys.contains($0.orderKey)) && !positions.contains($0.position) }
            .map(\.position)
        return Work(
            items: items, diverted: parked.isEmpty && held.isEmpty ? [] : Set(diverted), held: held,
            isCareful: careful > 0 || items.last.map { crashes[$0.position] != nil } ?? false,
            isDoubtful: alone > 0 || !held.isEmpty)
    }

    /// The first pending ones, up to the next that ended a lease: that one is tried alone.
    private var unsuspected: [Item] {
        let first = pending.prefix(limits.batch)
        return Array(crashes.isEmpty ? first : first.prefix { crashes[$0.position] == nil })
    }

    /// The place of the next pending message that doesn't wait behind another.
    var candidate: Int? {
        guard let last = held.last else { return pending.isEmpty ? nil : 0 }
        let keys = Set(held.map(\.item.orderKey))
        return pending.firstIndex {
            $0.position > last.item.position && parked[$0.orderKey] == nil && !keys.contains($0.orderKey)
        }
    }

    // MARK: What happened

    /// The doorbell rang, or a poll is due: there may be something to read.
    public mutating func ring() { isRung = true }

    /// The share was worked out again; a refused lease may be asked for again.
    public mutating func want(_ wanted: Bool) {
        isWanted = wanted
        isRefused = false
    }

    /// The lease is ours. What was believed before is forgotten.
    /// - Parameter wasLost: it was not given back before: one of the messages at hand may have ended it.
    public mutating func leaseTaken(_ epoch: Epoch, wasLost: Bool = false) {
        forget()
        careful = wasLost ? limits.batch : 0
        phase = .opening(epoch)
    }

    /// Somebody else has it.
    public mutating func leaseRefused() { isRefused = true }

    /// The newest batch was read, the first parked message of each key, and how many leases ended at which position.
    public mutating func opened(
        _ cursor: Cursor, parked: [Parked<Item.OrderKey>] = [], crashes: [Position: Int] = [:]
    ) {
        guard case .opening(let epoch) = phase else { return }
        phase = .ready(epoch, cursor)
        self.crashes = crashes
        parkedRead(parked)
        isRung = true
    }

    /// What is parked was read again: an operator may have changed when it is tried.
    public mutating func parkedRead(_ parked: [Parked<Item.OrderKey>]) {
        guard case .ready = phase, retried == nil else { return }
        self.parked = Dictionary(parked.map { ($0.key, $0) }) { $0.position < $1.position ? $0 : $1 }
    }

    /// What `read` found. Fewer than the limit means that there was no more at that moment.
    public mutating func messagesRead(_ items: [Item], at now: ContinuousClock.Instant) {
        guard case .ready = phase else { return }
        pending.append(contentsOf: items)
        isRung = items.count >= limits.batch
        lookForOthers(at: now)
    }

    /// The batch after `cursor` is committed, with `parking` for each of `work.held`; `next` was read in the same pipeline,
    /// behind it.
    public mutating func committed(
        _ cursor: Cursor, _ work: Work<Item>, parking: [Parked<Item.OrderKey>] = [], next: [Item] = [],
        at now: ContinuousClock.Instant
    ) {
        guard case .ready(let epoch, _) = phase else { return }
        phase = .ready(epoch, cursor)
        take(work.items.count)
        for parked in parking {
            self.parked[parked.key] = parked
            crashes[parked.position] = nil
        }
        for item in work.handled { crashes[item.position] = nil }
        held = []
        isSettling = false
        stuck = nil
        isOthersTurn = false
        if work.diverted.count < work.items.count || pending.isEmpty { gotThrough() }
        if pending.isEmpty { messagesRead(next, at: now) }
    }

    /// A parked message is done; `next` is the one of its key that waited behind it.
    public mutating func committed(
        _ cursor: Cursor, retrying former: Parked<Item.OrderKey>, next: Parked<Item.OrderKey>?,
        at now: ContinuousClock.Instant
    ) {
        guard case .ready(let epoch, _) = phase else { return }
        phase = .ready(epoch, cursor)
        end(former, next)
        gotThrough()
        guard former.cause == .trouble else { return }
        // What was in the way may be over for the others, too.
        for (key, other) in parked where other.cause == .trouble && other.retryAt > now { parked[key]?.retryAt = now }
    }

    /// One that failed again is parked as `parking` says.
    public mutating func committed(_ cursor: Cursor, parkingAgain parking: Parked<Item.OrderKey>) {
        guard case .ready(let epoch, _) = phase else { return }
        phase = .ready(epoch, cursor)
        end(parking, parking)
    }

    /// One is given up; `next` is the one of its key that waited behind it if it had been parked.
    public mutating func committed(
        _ cursor: Cursor, givingUp dead: FailedMessage<Item>, next: Parked<Item.OrderKey>?
    ) {
        guard case .ready(let epoch, _) = phase else { return }
        phase = .ready(epoch, cursor)
        if let former = dead.former { return end(former, next) }
        take(1)
        stuck = nil
        crashes[dead.item.position] = nil
        gotThrough()
    }

    /// Whether the pipeline that commits should carry the next read: only when nothing else is left to handle.
    public func readsAhead(handling count: Int) -> Bool { count == pending.count }

    /// The pause after a failure is over.
    public mutating func rested() { isResting = false }

    /// The lease ran out, was fenced, given back, or its connection died: everything must be read again under a new one.
    public mutating func leaseLost() {
        forget()
        phase = .unowned
    }

    // MARK: Its own state

    private mutating func take(_ count: Int) {
        pending.removeFirst(min(count, pending.count))
        alone = max(0, alone - count)
        careful = max(0, careful - count)
    }

    private mutating func end(_ former: Parked<Item.OrderKey>, _ next: Parked<Item.OrderKey>?) {
        parked[former.key] = next
        crashes[former.position] = nil
        retried = nil
        contentions = 0
        isOthersTurn = true
        // With more to do, that shows whether the trouble is over.
        if pending.isEmpty { gotThrough() }
    }

    private mutating func gotThrough() {
        contentions = 0
        rests = 0
        trouble = nil
    }

    private mutating func forget() {
        pending.removeAll(keepingCapacity: true)
        parked = [:]
        crashes = [:]
        careful = 0
        alone = 0
        held = []
        isSettling = false
        stuck = nil
        retried = nil
        isResting = false
        isRung = false
        isRefused = false
        isOthersTurn = false
        gotThrough()
    }
}
