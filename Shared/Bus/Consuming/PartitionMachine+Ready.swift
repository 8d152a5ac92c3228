import QuartetVocabulary

extension PartitionMachine {
    /// A partition whose lease is held and whose newest batch is known. It ends with the lease.
    struct Ready: Sendable {
        /// What the last transaction of the queue left to be done before it goes on. Boxed, because a message is large.
        indirect enum Activity: Sendable {
            case handling
            /// The parked keys decide which message is tried next and which wait, so they don't change while this lasts: its next
            /// transaction follows without a pause, and no retry runs in between. If an operator changes them, the partition starts
            /// over with its first message.
            case holding(Held)
        }

        /// Boxed like ``Activity``.
        indirect enum Failed: Sendable {
            case nothing
            case message(FailedMessage<Item>)
        }

        /// Messages of the queue that failed alone, one after the other. The next commit parks them.
        struct Held: Sendable {
            let last: FailedMessage<Item>
            let earlier: [FailedMessage<Item>]

            /// - Parameter before: What was held before it.
            init(_ last: FailedMessage<Item>, after before: Self?) {
                self.last = last
                earlier = before?.messages ?? []
            }

            var messages: [FailedMessage<Item>] { earlier + [last] }

            /// What to say if the partition rests.
            var fault: Fault { (messages.last { $0.fault.code == .trouble } ?? last).fault }

            /// Whether they are parked even if nothing else succeeds. A message that fails by its own fault, or can't be
            /// read, says nothing about the database's health.
            var mayBeParkedAlone: Bool {
                last.fault.code == .error || messages.allSatisfy { $0.fault.code != .trouble }
            }
        }

        /// Messages that are read and not yet committed, in order.
        struct Queue: Sendable {
            private(set) var items: [Item] = []
            /// How many of the first ones are handled alone, because their batch failed.
            var alone = 0
            /// How many of the first ones, read or not, may have ended the last lease.
            var careful = 0
            /// A message that failed by its own fault while no more keys could be parked.
            var stuck = Failed.nothing

            mutating func append(_ read: [Item]) { items.append(contentsOf: read) }

            mutating func remove(_ count: Int) {
                items.removeFirst(min(count, items.count))
                alone = max(0, alone - count)
                careful = max(0, careful - count)
                stuck = .nothing
            }

            /// How this message failed before, if it is the stuck one.
            func failure(of item: Item) -> FailedMessage<Item>? {
                if case .message(let failed) = stuck, failed.item.position == item.position { failed } else { nil }
            }
        }

        enum Pause: Sendable {
            case due(attempt: Int)
            case until(ContinuousClock.Instant)

            func isOn(at now: ContinuousClock.Instant) -> Bool {
                if case .until(let end) = self { now < end } else { true }
            }
        }

        enum Turn: Sendable {
            case queue, retries
        }

        let limits: Limits
        let givesUp: Bool
        let ordering: Ordering<Item>
        let epoch: Epoch
        private(set) var cursor: Cursor
        var queue = Queue()
        /// The first parked message of each order.
        private(set) var parked: [Item.OrderKey: Parked<Item.OrderKey>] = [:]
        /// How many leases ended while the message at a position was being tried.
        private(set) var crashes: [Position: Int]
        /// How many connections were lost while the message at a position was being tried alone.
        private(set) var losses: [Position: Int]
        var activity = Activity.handling
        /// A parked message that failed again: it is parked again or given up next.
        var settling = Failed.nothing
        /// Contentions of the queue in a row.
        var contentions = 0
        /// Rests of the queue since it last got through, whatever retries do.
        var rests = 0
        /// Why nothing gets through.
        var trouble: String?
        /// Of the queue alone: retries have pauses of their own.
        var pause: Pause?
        /// A retry that led to nothing, until a pause is chosen for it.
        var postponed: (parked: Parked<Item.OrderKey>, attempt: Int, isOfAll: Bool)?
        /// The retries in a row that couldn't be settled.
        var unsettled: Set<Position> = []
        /// Why the last of these couldn't.
        var unsettledFault: Fault?
        /// Before this, nothing parked is retried, because none of these could be settled.
        private(set) var retriesResumeAt: ContinuousClock.Instant?
        /// There may be something to read.
        var isRung = true
        /// Whose turn is next, if both have something to do.
        private(set) var turn: Turn
        /// Whether the next retry is the first urgent one that is due, not the one that is due for longest.
        private var isUrgentsTurn = true

        init(
            limits: Limits, givesUp: Bool, ordering: Ordering<Item>, epoch: Epoch, cursor: Cursor,
            crashes: [Position: Int], losses: [Position: Int], turn: Turn?
        ) {
            self.limits = limits
            self.givesUp = givesUp
            self.ordering = ordering
            self.epoch = epoch
            self.cursor = cursor
            self.crashes = crashes
            self.losses = losses
            // A message that ends one lease after the other takes no turns but its own.
            let suspects = Set(crashes.keys).union(losses.keys)
            let hadQueueItsTurn = !suspects.isEmpty && suspects.allSatisfy { $0 > cursor.position }
            self.turn = turn ?? (hadQueueItsTurn ? .retries : .queue)
        }
    }
}

extension PartitionMachine.Ready {
    typealias Step = PartitionMachine<Item>.Step

    // MARK: The next step

    func nextStep(at now: ContinuousClock.Instant, mayTakeCare: Bool) -> Step {
        if case .due(let attempt) = pause { return .rest(attempt: attempt) }
        if let postponed { return .rest(attempt: postponed.attempt) }
        if case .message(let failed) = settling {
            return isOver(failed, at: now)
                ? .giveUp(failed, after: cursor, epoch: epoch) : .parkAgain(failed, after: cursor, epoch: epoch)
        }
        if let pause, pause.isOn(at: now) { return mayTakeCare ? retry(at: now) ?? .wait : .wait }
        let step = nextOfBoth(at: now, mayTakeCare: mayTakeCare)
        return step.needsCare && !mayTakeCare ? .wait : step
    }

    /// Whatever is next, of the queue or of the retries.
    private func nextOfBoth(at now: ContinuousClock.Instant, mayTakeCare: Bool) -> Step {
        if case .handling = activity, mayTakeCare, turn == .retries || isIdle, let retry = retry(at: now) {
            return retry
        }
        return nextOfQueue(at: now)
    }

    private var isIdle: Bool { queue.items.isEmpty && !isRung }

    private func nextOfQueue(at now: ContinuousClock.Instant) -> Step {
        switch activity {
        case .holding(let held):
            let end =
                held.mayBeParkedAlone
                ? queue.items.firstIndex { $0.position == held.last.item.position } : candidate(after: held)
            // What is held waits until a message of another key is read.
            guard let end else { return read(after: queue.items.last?.position) }
            return .handle(work(Array(queue.items[...end]), parking: held.messages), after: cursor, epoch: epoch)
        case .handling:
            guard let first = queue.items.first else { return isIdle ? .wait : read(after: cursor.position) }
            if let dead = dead(first, at: now) { return .giveUp(dead, after: cursor, epoch: epoch) }
            return .handle(work(startingWith: first, at: now), after: cursor, epoch: epoch)
        }
    }

    func nextWake(after now: ContinuousClock.Instant, mayTakeCare: Bool) -> ContinuousClock.Instant? {
        let dueAt = mayTakeCare ? parked.values.lazy.map(\.retryAt).min() : nil
        let retryAt = dueAt.map { max($0, retriesResumeAt ?? $0) }
        guard case .until(let end) = pause, now < end else { return retryAt }
        return min(end, retryAt ?? end)
    }

    func wantsCare(at now: ContinuousClock.Instant) -> Bool {
        retry(at: now) != nil || nextStep(at: now, mayTakeCare: true).needsCare
    }

    func queueNeedsCare(at now: ContinuousClock.Instant) -> Bool {
        if let pause, pause.isOn(at: now) { return false }
        return nextOfQueue(at: now).needsCare
    }

    private func read(after position: Position?) -> Step {
        .read(after: position ?? cursor.position)
    }

    private func retry(at now: ContinuousClock.Instant) -> Step? {
        if let retriesResumeAt, now < retriesResumeAt { return nil }
        let due = parked.values.lazy.filter { $0.retryAt <= now }
        let urgent = isUrgentsTurn ? due.filter { ordering.isUrgent($0.key) }.min(by: isEarlier) : nil
        return (urgent ?? due.min(by: isEarlier)).map { .retry($0, after: cursor, epoch: epoch) }
    }

    /// Those that could be settled when they were tried last, or weren't tried since any could, come before the others.
    private func isEarlier(_ first: Parked<Item.OrderKey>, _ second: Parked<Item.OrderKey>) -> Bool {
        let (isUnsettled, isOther) = (unsettled.contains(first.position), unsettled.contains(second.position))
        return isUnsettled == isOther
            ? (first.retryAt, first.position) < (second.retryAt, second.position) : isOther
    }

    private func work(startingWith first: Item, at now: ContinuousClock.Instant) -> Work<Item> {
        if !isParkedFirst(first), let trap = trap(first, at: now) { return work([first], parking: [trap]) }
        if queue.alone > 0 || queue.careful > 0 || isSuspect(first) { return work([first]) }
        if crashes.isEmpty, losses.isEmpty, queue.items.count <= limits.batch { return work(queue.items) }
        // Up to the next message that may have ended a lease or a connection: that one is tried alone.
        return work(Array(queue.items.prefix(limits.batch).prefix { !isSuspect($0) }))
    }

    private func work(_ items: [Item], parking held: [FailedMessage<Item>] = []) -> Work<Item> {
        Work(
            items: items, diverted: parked.isEmpty && held.isEmpty ? [] : diverted(among: items, behind: held),
            held: held,
            isCareful: queue.careful > 0 || items.last.map(isSuspect) ?? false,
            isDoubtful: queue.alone > 0 || !held.isEmpty)
    }

    private func diverted(among items: [Item], behind held: [FailedMessage<Item>]) -> Set<Position> {
        let positions = Set(held.map(\.item.position))
        let keys = Set(held.map(\.key))
        return Set(
            items.lazy.filter { item in
                let key = ordering.key(item)
                return (parked[key] != nil || keys.contains(key)) && !positions.contains(item.position)
            }.map(\.position))
    }

    /// Whether it may have ended a lease or a connection.
    func isSuspect(_ item: Item) -> Bool { crashes[item.position] != nil || losses[item.position] != nil }

    /// Whether it has to wait behind a parked message.
    func isParkedFirst(_ item: Item) -> Bool { !parked.isEmpty && parked[ordering.key(item)] != nil }

    /// The next message of the queue, behind what is held, that doesn't wait behind another of its order.
    func candidate(after held: Held) -> Int? {
        let keys = Set(held.messages.map(\.key))
        return queue.items.firstIndex { item in
            guard item.position > held.last.item.position else { return false }
            let key = ordering.key(item)
            return parked[key] == nil && !keys.contains(key)
        }
    }

    /// Why some parked messages couldn't be settled when they were retried last.
    var stalled: String? {
        guard let unsettledFault, parked.values.contains(where: { $0.unsettled > 0 }) else { return nil }
        return "what is parked can be neither parked again nor given up: \(unsettledFault)"
    }

    /// Whether nothing failed that isn't settled yet.
    var isUndisturbed: Bool {
        guard case .handling = activity, case .nothing = settling else { return false }
        return trouble == nil && contentions == 0
    }

    // MARK: What happened

    mutating func committedAhead(_ cursor: Cursor) { self.cursor = cursor }

    mutating func parkedRead(_ parked: [Parked<Item.OrderKey>]) {
        if case .message = settling { return }
        let former = self.parked
        self.parked = Dictionary(parked.map { ($0.key, $0.inPlace(of: former[$0.key])) }) {
            $0.position < $1.position ? $0 : $1
        }
        if self.parked.keys != former.keys { activity = .handling }
    }

    mutating func nothingToRetry(_ parked: [Parked<Item.OrderKey>]) {
        endTurn(of: .retries)
        parkedRead(parked)
    }

    mutating func messagesRead(_ items: [Item], at now: ContinuousClock.Instant) {
        queue.append(items)
        isRung = items.count >= limits.batch
        lookForOthers(at: now)
    }

    mutating func committed(
        _ cursor: Cursor, _ work: Work<Item>, parking: [Parked<Item.OrderKey>], next: [Item],
        at now: ContinuousClock.Instant
    ) {
        self.cursor = cursor
        queue.remove(work.items.count)
        for parked in parking {
            park(parked)
            forget(parked.position)
        }
        if !crashes.isEmpty || !losses.isEmpty { for item in work.handled { forget(item.position) } }
        activity = .handling
        contentions = 0
        endTurn(of: .queue)
        if work.diverted.count < work.items.count || queue.items.isEmpty { gotThrough() }
        if queue.items.isEmpty { messagesRead(next, at: now) }
    }

    mutating func committed(
        _ cursor: Cursor, retrying former: Parked<Item.OrderKey>, next: Parked<Item.OrderKey>?,
        at now: ContinuousClock.Instant
    ) {
        settled(former, at: cursor, next: next)
        endTurn(of: .retries)
        guard former.cause == .trouble else { return }
        // What was in the way may be over for the others, too. What sets some of them back is something else.
        for (key, other) in parked where other.cause == .trouble && other.retryAt > now && !other.isSetBack {
            parked[key]?.retryAt = now
        }
    }

    mutating func committed(
        _ cursor: Cursor, parking: Parked<Item.OrderKey>, again former: Parked<Item.OrderKey>,
        next: Parked<Item.OrderKey>?
    ) {
        settled(former, at: cursor, next: parking.key == former.key ? parking : next)
        if parking.key != former.key { park(parking) }
    }

    /// Of several parked messages of an order, the earliest comes first.
    private mutating func park(_ parking: Parked<Item.OrderKey>) {
        if let first = parked[parking.key], first.position < parking.position { return }
        parked[parking.key] = parking
    }

    private mutating func forget(_ position: Position) {
        crashes[position] = nil
        losses[position] = nil
    }

    mutating func committed(
        _ cursor: Cursor, givingUp dead: FailedMessage<Item>, next: Parked<Item.OrderKey>?
    ) {
        if let former = dead.former { return settled(former, at: cursor, next: next) }
        self.cursor = cursor
        queue.remove(1)
        forget(dead.item.position)
        contentions = 0
        endTurn(of: .queue)
        gotThrough()
    }

    /// A parked message was handled, parked again or given up.
    private mutating func settled(
        _ former: Parked<Item.OrderKey>, at cursor: Cursor, next: Parked<Item.OrderKey>?
    ) {
        self.cursor = cursor
        parked[former.key] = next
        forget(former.position)
        settling = .nothing
        unsettled = []
        // With more to do, that shows whether the trouble is over.
        if queue.items.isEmpty { gotThrough() }
    }

    private mutating func gotThrough() { (trouble, rests) = (nil, 0) }

    /// A transaction of the queue or a retry has ended, however it did. What is to be settled then is settled first.
    mutating func endTurn(of last: Turn) {
        if last == .retries { isUrgentsTurn.toggle() }
        turn = last == .queue ? .retries : .queue
    }

    /// A retry led to nothing.
    /// - Parameters:
    ///   - attempt: What the message's pause is chosen for; nil if it takes none.
    ///   - isOfAll: Whether all other retries take the same pause. The queue never does.
    mutating func setBack(
        _ former: Parked<Item.OrderKey>, contentions: Int, unsettled: Int, restsAs attempt: Int?, isOfAll: Bool = false
    ) {
        guard parked[former.key]?.position == former.position else { return }
        parked[former.key]?.contentions = contentions
        parked[former.key]?.unsettled = unsettled
        if let attempt { postponed = (former, attempt, isOfAll) }
    }

    mutating func rest(until end: ContinuousClock.Instant) {
        if case .due = pause {
            pause = .until(end)
        } else if let (former, _, isOfAll) = postponed {
            if parked[former.key]?.position == former.position { parked[former.key]?.retryAt = end }
            if isOfAll { retriesResumeAt = end }
            postponed = nil
        }
    }
}
