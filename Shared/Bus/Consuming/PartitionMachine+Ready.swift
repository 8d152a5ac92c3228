import QuartetVocabulary

extension PartitionMachine {
    /// A partition whose lease is held and whose newest batch is known. It ends with the lease.
    struct Ready: Sendable {
        /// What the last transaction left to be done before the queue goes on. Boxed, because a message is large.
        indirect enum Activity: Sendable {
            case handling
            case holding(Held)
            /// A parked message failed again: it is parked again or given up.
            case settling(FailedMessage<Item>)
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
            /// A message that failed by its own fault while no more keys could be parked; boxed like ``Activity``.
            indirect enum Stuck: Sendable {
                case none
                case message(FailedMessage<Item>)
            }
            var stuck = Stuck.none

            mutating func append(_ read: [Item]) { items.append(contentsOf: read) }

            mutating func remove(_ count: Int) {
                items.removeFirst(min(count, items.count))
                alone = max(0, alone - count)
                careful = max(0, careful - count)
                stuck = .none
            }

            /// How this message failed before, if it is the stuck one.
            func failure(of item: Item) -> FailedMessage<Item>? {
                if case .message(let failed) = stuck, failed.item.position == item.position { failed } else { nil }
            }
        }

        /// Why nothing gets through.
        struct Trouble: Sendable {
            let reason: String
            /// Rests since something last succeeded.
            let rests: Int
        }

        enum Pause: Sendable {
            case due(attempt: Int)
            case until(ContinuousClock.Instant)
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
        /// Contentions in a row.
        var contentions = 0
        var trouble: Trouble?
        var pause: Pause?
        /// There may be something to read.
        var isRung = true
        /// A parked message was handled last, so the queue is next.
        private var isQueuesTurn = false

        init(
            limits: Limits, givesUp: Bool, ordering: Ordering<Item>, epoch: Epoch, cursor: Cursor,
            crashes: [Position: Int], losses: [Position: Int]
        ) {
            self.limits = limits
            self.givesUp = givesUp
            self.ordering = ordering
            self.epoch = epoch
            self.cursor = cursor
            self.crashes = crashes
            self.losses = losses
        }
    }
}

extension PartitionMachine.Ready {
    typealias Step = PartitionMachine<Item>.Step

    // MARK: The next step

    func nextStep(at now: ContinuousClock.Instant) -> Step {
        switch pause {
        case .due(let attempt): return .rest(attempt: attempt)
        case .until(let end) where now < end: return .wait
        case .until, nil: break
        }
        switch activity {
        case .settling(let failed):
            return isOver(failed, at: now)
                ? .giveUp(failed, after: cursor, epoch: epoch) : .parkAgain(failed, after: cursor, epoch: epoch)
        case .holding(let held):
            let end =
                held.mayBeParkedAlone
                ? queue.items.firstIndex { $0.position == held.last.item.position } : candidate(after: held)
            // What is held waits until a message of another key is read.
            guard let end else { return read(after: queue.items.last?.position) }
            return .handle(work(Array(queue.items[...end]), parking: held.messages), after: cursor, epoch: epoch)
        case .handling:
            if let due = dueRetry(at: now), !isQueuesTurn || (queue.items.isEmpty && !isRung) {
                return .retry(due, after: cursor, epoch: epoch)
            }
            guard let first = queue.items.first else { return isRung ? read(after: cursor.position) : .wait }
            if let dead = dead(first, at: now) { return .giveUp(dead, after: cursor, epoch: epoch) }
            return .handle(work(startingWith: first, at: now), after: cursor, epoch: epoch)
        }
    }

    func nextWake(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        if case .until(let end) = pause, now < end { end } else { parked.values.lazy.map(\.retryAt).min() }
    }

    private func read(after position: Position?) -> Step {
        .read(after: position ?? cursor.position)
    }

    private func dueRetry(at now: ContinuousClock.Instant) -> Parked<Item.OrderKey>? {
        parked.values.lazy.filter { $0.retryAt <= now }.min { $0.position < $1.position }
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

    /// Whether nothing failed that isn't settled yet.
    var isUndisturbed: Bool {
        guard case .handling = activity else { return false }
        return trouble == nil && contentions == 0
    }

    // MARK: What happened

    mutating func committedAhead(_ cursor: Cursor) { self.cursor = cursor }

    mutating func parkedRead(_ parked: [Parked<Item.OrderKey>]) {
        if case .settling = activity { return }
        self.parked = Dictionary(parked.map { ($0.key, $0) }) { $0.position < $1.position ? $0 : $1 }
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
        isQueuesTurn = false
        if work.diverted.count < work.items.count || queue.items.isEmpty { gotThrough() }
        if queue.items.isEmpty { messagesRead(next, at: now) }
    }

    mutating func committed(
        _ cursor: Cursor, retrying former: Parked<Item.OrderKey>, next: Parked<Item.OrderKey>?,
        at now: ContinuousClock.Instant
    ) {
        settled(former, at: cursor, next: next)
        gotThrough()
        guard former.cause == .trouble else { return }
        // What was in the way may be over for the others, too.
        for (key, other) in parked where other.cause == .trouble && other.retryAt > now { parked[key]?.retryAt = now }
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
        gotThrough()
    }

    /// A parked message was handled, parked again or given up.
    private mutating func settled(
        _ former: Parked<Item.OrderKey>, at cursor: Cursor, next: Parked<Item.OrderKey>?
    ) {
        self.cursor = cursor
        parked[former.key] = next
        forget(former.position)
        activity = .handling
        contentions = 0
        isQueuesTurn = true
        // With more to do, that shows whether the trouble is over.
        if queue.items.isEmpty { gotThrough() }
    }

    private mutating func gotThrough() {
        contentions = 0
        trouble = nil
    }
}
