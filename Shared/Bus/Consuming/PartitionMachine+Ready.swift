import Vocabulary

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
        let epoch: Epoch
        private(set) var cursor: Cursor
        var queue = Queue()
        /// The first parked message of each parked key.
        private(set) var parked: [Item.OrderKey: Parked<Item.OrderKey>] = [:]
        /// How many leases ended while the message at a position was being tried.
        private(set) var crashes: [Position: Int]
        var activity = Activity.handling
        /// Contentions in a row.
        var contentions = 0
        var trouble: Trouble?
        var pause: Pause?
        /// There may be something to read.
        var isRung = true
        /// A parked message was handled last, so the queue is next.
        private var isQueuesTurn = false

        init(limits: Limits, givesUp: Bool, epoch: Epoch, cursor: Cursor, crashes: [Position: Int]) {
            self.limits = limits
            self.givesUp = givesUp
            self.epoch = epoch
            self.cursor = cursor
            self.crashes = crashes
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
        if parked[first.orderKey] == nil, let trap = trap(first, at: now) { return work([first], parking: [trap]) }
        if queue.alone > 0 || queue.careful > 0 || crashes[first.position] != nil { return work([first]) }
        if crashes.isEmpty, queue.items.count <= limits.batch { return work(queue.items) }
        // Up to the next message that ended a lease: that one is tried alone.
        return work(Array(queue.items.prefix(limits.batch).prefix { crashes[$0.position] == nil }))
    }

    private func work(_ items: [Item], parking held: [FailedMessage<Item>] = []) -> Work<Item> {
        Work(
            items: items, diverted: parked.isEmpty && held.isEmpty ? [] : diverted(among: items, behind: held),
            held: held,
            isCareful: queue.careful > 0 || items.last.map { crashes[$0.position] != nil } ?? false,
            isDoubtful: queue.alone > 0 || !held.isEmpty)
    }

    private func diverted(among items: [Item], behind held: [FailedMessage<Item>]) -> Set<Position> {
        let positions = Set(held.map(\.item.position))
        let keys = Set(held.map(\.item.orderKey))
        return Set(
            items.lazy
                .filter {
                    (parked[$0.orderKey] != nil || keys.contains($0.orderKey)) && !positions.contains($0.position)
                }
                .map(\.position))
    }

    /// The next message of the queue, behind what is held, that doesn't wait behind another of its key.
    func candidate(after held: Held) -> Int? {
        let keys = Set(held.messages.map(\.item.orderKey))
        return queue.items.firstIndex {
            $0.position > held.last.item.position && parked[$0.orderKey] == nil && !keys.contains($0.orderKey)
        }
    }

    // MARK: What happened

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
            self.parked[parked.key] = parked
            crashes[parked.position] = nil
        }
        if !crashes.isEmpty { for item in work.handled { crashes[item.position] = nil } }
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

    mutating func committed(_ cursor: Cursor, parkingAgain parking: Parked<Item.OrderKey>) {
        settled(parking, at: cursor, next: parking)
    }

    mutating func committed(
        _ cursor: Cursor, givingUp dead: FailedMessage<Item>, next: Parked<Item.OrderKey>?
    ) {
        if let former = dead.former { return settled(former, at: cursor, next: next) }
        self.cursor = cursor
        queue.remove(1)
        crashes[dead.item.position] = nil
        gotThrough()
    }

    /// A parked message was handled, parked again or given up.
    private mutating func settled(
        _ former: Parked<Item.OrderKey>, at cursor: Cursor, next: Parked<Item.OrderKey>?
    ) {
        self.cursor = cursor
        parked[former.key] = next
        crashes[former.position] = nil
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
