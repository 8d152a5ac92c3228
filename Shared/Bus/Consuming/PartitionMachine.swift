import QuartetVocabulary

/// The protocol by which one worker handles one partition. It does no I/O: it says what to do next, and its caller reports
/// how that ended. So a test can run it against any order of crashes, pauses, trouble and lost answers.
///
/// 1. **Unowned.** If the partition is in this worker's share, take the lease. If that is refused, wait until asked again.
/// 2. **Opening.** Read the newest batch and what is parked. Whatever another owner did before, this is the truth.
/// 3. **Ready.** Read when rung, handle what was read, commit batch `number + 1`. Two workers that build on the same batch
///    both insert its successor, and one fails: it was **fenced**, forgets everything and is unowned again.
/// 4. A batch that fails by **contention** is handled again at once with fresh loads. After any other failure, its messages
///    are handled one at a time. What happens to a message that fails alone depends on whose fault that is:
///    - The message's own: it is **parked** and retried with growing pauses. Later messages of its order wait behind it;
///      others go on. After enough tries over enough time it is **given up**, or tried on **alone**, for much longer, if
///      nobody would send it again.
///    - Trouble: it is **held** while messages of other keys are tried. The first of these that succeeds commits together
///      with the parking of the held ones, which are then retried without end. If none succeeds, nothing is parked: the
///      partition **rests** and starts over.
///    - An unknown type: it is parked and retried without end. Only what needs the same type waits behind it.
/// 5. A lost connection, or a commit whose answer was lost, ends the session. Nothing is guessed: the worker takes the lease
///    again and reads the newest batch. A message that was tried alone each time a connection was lost is parked after
///    several such losses and retried with long pauses, without end.
/// 6. After a lease that wasn't given back, and for parked messages, the worker is **careful**: it handles one message per
///    transaction and first commits a note that says which. A message that ended several leases in a row is a **trap**: it
///    is given up untried, or stays parked if nothing may be given up.
///
/// 7. The queue and the retries **take turns**. A transaction ends the turn of whose it was, however it ended; only what is held
///    or settled goes on with its turn. So between two retries the queue has a turn if anything is read or rung, and between two of
///    the queue's a due retry has one. Of the retries, the first urgent one and the one that is due for longest take turns.
///    That outlives a lease. Without a memory of it, a lease begins with the queue, unless only a message of the queue may have
///    ended the last one.
///
/// A lease that has run out by this worker's own clock stops it between batches. The lease saves work; the batch's unique
/// key keeps the result right.
package struct PartitionMachine<Item: PartitionItem>: Sendable {
    /// What the worker does next. Each step that changes the database commits the batch after its cursor.
    enum Step: Sendable {
        /// Nothing until ``PartitionMachine/nextWake(after:)``, a ring, or a change of the share or lease.
        case wait
        /// Choose a pause that suits the number of failures in a row, and start it with ``PartitionMachine/rest(until:)``.
        case rest(attempt: Int)
        case takeLease
        /// Read the newest batch, the parked messages, and which messages were being tried when earlier owners ended.
        case open
        case read(after: Position)
        /// Handle these messages in one transaction.
        case handle(Work<Item>, after: Cursor, epoch: Epoch)
        /// Read this parked message and handle it, carefully.
        case retry(Parked<Item.OrderKey>, after: Cursor, epoch: Epoch)
        /// Leave this message parked until its next retry.
        case parkAgain(FailedMessage<Item>, after: Cursor, epoch: Epoch)
        /// Record that this message failed for good.
        case giveUp(FailedMessage<Item>, after: Cursor, epoch: Epoch)
        case release(Epoch)

        /// Whether another such step of the process may have to end first.
        var needsCare: Bool {
            switch self {
            case .retry: true
            case .handle(let work, _, _): work.isCareful && !work.handled.isEmpty
            default: false
            }
        }
    }

    package struct Limits: Sendable {
        /// The most messages in one transaction.
        package var batch = 64
        /// A message that fails by its own fault is tried at least this often before it is given up.
        package var attempts = 5
        /// How long a message that fails by its own fault is tried, at least, before it is given up.
        package var leastTime: Duration = .seconds(60)
        /// After this many contentions in a row, the transaction counts as failed.
        package var contentions = 10
        /// So many in a row come from neighbours that are about to finish. Later ones need a pause.
        package var promptContentions = 3
        /// After so many parked messages in a row that could be neither parked again nor given up, none is retried for a pause.
        package var unsettled = 3
        /// How many messages of different keys fail by trouble, one after the other, before the partition rests.
        package var probes = 8
        /// How long that takes, at most, while an urgent retry is due. Each rest doubles it, so that the queue gets on as well.
        package var urgentPatience: Duration = .seconds(5)
        /// How many messages are read, at most, to find one of another key.
        package var window = 1024
        /// How many leases a message ends before it counts as a trap, or how many connections before it is parked.
        package var crashes = 3
        /// How long a message that nobody would send again is tried alone before it is given up.
        package var aloneTime: Duration = .seconds(86_400)
        /// How many orders may be parked at once. At this limit, the next failing message stops the whole partition.
        package var parkedKeys = 1000

        package init() {}
    }

    private enum Phase: Sendable {
        /// - isRefused: Another worker has the lease. Ask again when the share has been worked out again.
        case unowned(isRefused: Bool)
        /// - wasLost: The former lease wasn't given back.
        case opening(Epoch, wasLost: Bool)
        case ready(Ready)
    }

    private let limits: Limits
    private let givesUp: Bool
    private let ordering: Ordering<Item>
    private var phase = Phase.unowned(isRefused: false)
    /// Whose turn was next when the last lease was lost; nil if this worker has had none since it connected.
    private var turn: Ready.Turn?
    /// Whether this partition is in the worker's share.
    private(set) var isWanted = false

    /// - Parameter givesUp: False for a consumer that may skip nothing: a failing message stays parked until it succeeds or
    ///   an operator discards it.
    init(limits: Limits, givesUp: Bool = true, ordering: Ordering<Item>) {
        self.limits = limits
        self.givesUp = givesUp
        self.ordering = ordering
    }

    // MARK: What it knows

    /// The lease's number while it is held.
    var epoch: Epoch? {
        switch phase {
        case .unowned: nil
        case .opening(let epoch, _): epoch
        case .ready(let ready): ready.epoch
        }
    }

    /// How far the partition is handled; nil unless ready.
    var position: Position? { ifReady { $0.cursor.position } }

    /// Where a transaction that moves nothing can begin; nil while something failed, rests or isn't known.
    var place: (cursor: Cursor, epoch: Epoch)? {
        guard isWanted, case .ready(let ready) = phase, ready.isUndisturbed else { return nil }
        return (ready.cursor, ready.epoch)
    }

    /// Whether a message may be handled before the cursor comes to it: it waits behind nothing parked, and can't have ended a
    /// lease or a connection.
    func mayGoAhead(_ item: Item) -> Bool { ifReady { !$0.isParkedFirst(item) && !$0.isSuspect(item) } ?? false }

    /// The first parked message of each order.
    var parked: some Collection<Parked<Item.OrderKey>> { (ifReady { $0.parked } ?? [:]).values }

    /// Why the partition rests, from its first rest until something succeeds.
    var trouble: String? { ifReady { $0.trouble } }

    /// Why parked messages can be neither parked again nor given up, though all else goes on; nil if they can.
    var stalled: String? { ifReady { $0.stalled } }

    /// When there is something to do although nothing rang; nil if there isn't.
    func nextWake(after now: ContinuousClock.Instant, mayTakeCare: Bool = true) -> ContinuousClock.Instant? {
        ifReady { $0.nextWake(after: now, mayTakeCare: mayTakeCare) }
    }

    /// What to do now. Asking changes nothing.
    /// - Parameter mayTakeCare: Whether that may be a step that needs care.
    func nextStep(at now: ContinuousClock.Instant, mayTakeCare: Bool = true) -> Step {
        switch phase {
        case .unowned(let isRefused): isWanted && !isRefused ? .takeLease : .wait
        case .opening(let epoch, _): isWanted ? .open : .release(epoch)
        case .ready(let ready): isWanted ? ready.nextStep(at: now, mayTakeCare: mayTakeCare) : .release(ready.epoch)
        }
    }

    /// Whether something is due that needs care, even if something else comes first.
    func wantsCare(at now: ContinuousClock.Instant) -> Bool { isWanted && ifReady { $0.wantsCare(at: now) } ?? false }

    /// Whether what its queue does next needs care, so that nothing of it goes on without. Retries don't matter.
    func queueNeedsCare(at now: ContinuousClock.Instant) -> Bool {
        isWanted && ifReady { $0.queueNeedsCare(at: now) } ?? false
    }

    /// Whether one of the next messages may have ended an owner, and hasn't been tried since.
    var isCareful: Bool {
        switch phase {
        case .unowned: false
        case .opening(_, let wasLost): wasLost
        case .ready(let ready): ready.queue.careful > 0
        }
    }

    /// Whether the pipeline that commits should carry the next read: only when nothing else is left to handle.
    func readsAhead(handling count: Int) -> Bool { ifReady { $0.queue.items.count } == count }

    // MARK: The lease

    /// The share was worked out again. A lease that was refused may be asked for again.
    mutating func want(_ wanted: Bool) {
        isWanted = wanted
        if case .unowned = phase { phase = .unowned(isRefused: false) }
    }

    /// The lease is ours. What was believed before is forgotten.
    /// - Parameter wasLost: The lease before wasn't given back, so one of the next messages may have ended its owner.
    mutating func leaseTaken(_ epoch: Epoch, wasLost: Bool = false) {
        phase = .opening(epoch, wasLost: wasLost)
    }

    /// Another worker has the lease.
    mutating func leaseRefused() {
        if case .unowned = phase { phase = .unowned(isRefused: true) }
    }

    /// The lease ran out, was fenced or given back, or its connection died. Everything is read again under a new one.
    mutating func leaseLost() {
        if case .ready(let ready) = phase { turn = ready.turn }
        phase = .unowned(isRefused: false)
    }

    /// The newest batch was read.
    /// - Parameters:
    ///   - parked: The first parked message of each order.
    ///   - crashes: How many leases ended while the message at a position was being tried.
    ///   - losses: How many connections of this worker were lost while the message at a position was being tried alone.
    mutating func opened(
        _ cursor: Cursor, parked: [Parked<Item.OrderKey>] = [], crashes: [Position: Int] = [:],
        losses: [Position: Int] = [:]
    ) {
        guard case .opening(let epoch, let wasLost) = phase else { return }
        var ready = Ready(
            limits: limits, givesUp: givesUp, ordering: ordering, epoch: epoch, cursor: cursor, crashes: crashes,
            losses: losses, turn: turn)
        if wasLost { ready.queue.careful = limits.batch }
        ready.parkedRead(parked)
        phase = .ready(ready)
    }

    // MARK: Reading and resting

    /// The doorbell rang, or a poll is due: there may be something to read.
    mutating func ring() { whenReady { $0.isRung = true } }

    /// The parked messages were read again: an operator may have changed when one is retried.
    mutating func parkedRead(_ parked: [Parked<Item.OrderKey>]) { whenReady { $0.parkedRead(parked) } }

    /// The one that was to be retried is gone: an operator removed it.
    /// - Parameter parked: The first parked message of each order.
    mutating func nothingToRetry(_ parked: [Parked<Item.OrderKey>]) { whenReady { $0.nothingToRetry(parked) } }

    /// Fewer messages than the limit mean that there were no more at that moment.
    mutating func messagesRead(_ items: [Item], at now: ContinuousClock.Instant) {
        whenReady { $0.messagesRead(items, at: now) }
    }

    /// Starts the pause that ``Step/rest(attempt:)`` asked for.
    mutating func rest(until end: ContinuousClock.Instant) { whenReady { $0.rest(until: end) } }

    // MARK: What was committed

    /// The batch after `cursor` is committed.
    /// - Parameters:
    ///   - parking: How each of `work.held` is parked.
    ///   - next: What was read behind the commit, in the same pipeline.
    mutating func committed(
        _ cursor: Cursor, _ work: Work<Item>, parking: [Parked<Item.OrderKey>] = [], next: [Item] = [],
        at now: ContinuousClock.Instant
    ) {
        whenReady { $0.committed(cursor, work, parking: parking, next: next, at: now) }
    }

    /// A parked message is done.
    /// - Parameter next: The message of its order that waited behind it.
    mutating func committed(
        _ cursor: Cursor, retrying former: Parked<Item.OrderKey>, next: Parked<Item.OrderKey>?,
        at now: ContinuousClock.Instant
    ) {
        whenReady { $0.committed(cursor, retrying: former, next: next, at: now) }
    }

    /// A message that failed again stays parked, as `parking` says, perhaps in another order.
    /// - Parameter next: The next message of its former order, if it left that.
    mutating func committed(
        _ cursor: Cursor, parking: Parked<Item.OrderKey>, again former: Parked<Item.OrderKey>,
        next: Parked<Item.OrderKey>?
    ) {
        whenReady { $0.committed(cursor, parking: parking, again: former, next: next) }
    }

    /// A message is given up.
    /// - Parameter next: The message of its order that waited behind it, if it had been parked.
    mutating func committed(
        _ cursor: Cursor, givingUp dead: FailedMessage<Item>, next: Parked<Item.OrderKey>?
    ) {
        whenReady { $0.committed(cursor, givingUp: dead, next: next) }
    }

    /// A message that the cursor hasn't reached is handled; the cursor stays there.
    mutating func committedAhead(_ cursor: Cursor) { whenReady { $0.committedAhead(cursor) } }

    // MARK: What failed

    /// The transaction of pending messages did not commit, as far as is known.
    mutating func failed(
        _ failure: TransactionFailure, handling work: Work<Item>, at now: ContinuousClock.Instant
    ) {
        whenReady { $0.endTurn(of: .queue) }
        whenAtFault(failure, isHolding: !work.held.isEmpty) { $0.failed($1, handling: work, at: now) }
    }

    /// The transaction that retried a parked message did not commit, as far as is known.
    mutating func failed(
        _ failure: TransactionFailure, retrying former: Parked<Item.OrderKey>, _ item: Item,
        at now: ContinuousClock.Instant
    ) {
        whenReady { $0.endTurn(of: .retries) }
        switch failure {
        case .fenced, .connectionLost: leaseLost()
        case .contention(let fault): whenReady { $0.contended(fault, retrying: former, item, at: now) }
        case .failed(let fault): whenReady { $0.failed(fault, retrying: former, item, at: now) }
        }
    }

    /// The transaction that parks a message again or gives it up did not commit, as far as is known.
    mutating func failedToSettle(
        _ failure: TransactionFailure, _ failed: FailedMessage<Item>, at now: ContinuousClock.Instant
    ) {
        guard let former = failed.former else {
            whenReady { $0.endTurn(of: .queue) }
            return whenAtFault(failure, isHolding: false) { $0.rest($1) }
        }
        switch failure {
        case .fenced, .connectionLost: leaseLost()
        case .contention(let fault), .failed(let fault): whenReady { $0.unsettled(fault, former) }
        }
    }

    /// Whether a parked message must not be tried. If so, it is parked again or given up next.
    mutating func refuse(
        _ former: Parked<Item.OrderKey>, _ item: Item, at now: ContinuousClock.Instant
    ) -> Bool {
        whenReady { $0.refuse(former, item, at: now) } ?? false
    }

    // MARK: Phases

    // A closure, because in generic code a key path is instantiated at each call.
    private func ifReady<Value>(_ read: (Ready) -> Value?) -> Value? {
        if case .ready(let ready) = phase { read(ready) } else { nil }
    }

    /// Takes the state out of its phase while it changes, so that nothing in it is copied.
    @discardableResult
    private mutating func whenReady<Result>(_ change: (inout Ready) -> Result) -> Result? {
        guard case .ready(var ready) = phase else { return nil }
        phase = .unowned(isRefused: false)
        defer { phase = .ready(ready) }
        return change(&ready)
    }

    /// Calls `change` with the fault when the failure of a transaction of the queue is one that somebody has to answer for.
    private mutating func whenAtFault(
        _ failure: TransactionFailure, isHolding: Bool, _ change: (inout Ready, Fault) -> Void
    ) {
        switch failure {
        case .fenced, .connectionLost: leaseLost()
        case .contention(let fault):
            whenReady { if $0.isTooMuchContention(isHolding: isHolding) { change(&$0, fault) } }
        case .failed(let fault):
            whenReady {
                $0.contentions = 0
                change(&$0, fault)
            }
        }
    }
}
