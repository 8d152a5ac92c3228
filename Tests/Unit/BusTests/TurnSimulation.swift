import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

/// One machine on a partition in which retries and the queue are always rivals: messages arrive without a pause, and what is parked
/// is due again at once. It counts whose turn it was, and knows by itself what is due and what rests.
struct TurnSimulation {
    /// Eight orders, one of them urgent.
    static func key(of number: Int64) -> Int64 { number % 8 }
    static let ordering = Ordering<SimulatedItem>(
        key: { key(of: $0.number) }, unreadable: { item, _ in key(of: item.number) }, alone: { _ in nil },
        isUrgent: { $0 == 0 })
    static let limits = {
        var limits = PartitionMachine<SimulatedItem>.Limits()
        (limits.batch, limits.attempts, limits.probes) = (4, 3, 3)
        (limits.contentions, limits.promptContentions) = (4, 1)
        // Fewer than orders, so that now and then nothing more can be parked.
        (limits.leastTime, limits.parkedKeys) = (.milliseconds(300), 6)
        return limits
    }()

    private enum Turn {
        case queue, retry
    }

    private var machine = PartitionMachine<SimulatedItem>(limits: limits, ordering: ordering)
    private var generator: SeededRandom
    private var partition = SimulatedPartition()
    private var time = 0
    private let origin = ContinuousClock.now
    private var isCalm = false
    /// The orders that fail by trouble.
    private var troubled: Set<Int64> = []
    private var losses: [Position: Int] = [:]
    private var last: Turn?
    /// When the first parked message of each order is to be retried.
    private var due: [Position: Int] = [:]
    /// How many other retries may still have a turn before one that is due.
    private var patience: [Position: Int] = [:]
    /// How often in a row trying it again met contention,
    private var contended: [Position: Int] = [:]
    /// or could not be settled.
    private var unsettledTries: [Position: Int] = [:]
    /// Which ones in a row could not be settled,
    private var unsettledInARow: Set<Position> = []
    /// and until when all rest for that.
    private var retriesRestUntil = 0
    /// What a pause is to be chosen for, as after how many setbacks; nil for the queue.
    private var resting: (position: Position, attempt: Int, isOfAll: Bool)?
    private var queueRestsUntil = 0
    /// How often the queue failed and rested since it last got through.
    private var rests = 0
    /// Contentions of the queue in a row,
    private var contentions = 0
    /// and whether it is to pause for them.
    private var isContended = false

    private var history: [String] = []
    /// Who waited too long.
    private(set) var broken: [String] = [] { didSet { brokenAt = brokenAt ?? history.count } }
    private var brokenAt: Int?
    /// How often the queue and a retry both could run.
    private(set) var rivalries = 0
    private(set) var unsettled = 0
    private(set) var lost = 0

    private var now: ContinuousClock.Instant { origin + .milliseconds(time) }

    init(seed: UInt64) {
        generator = SeededRandom(seed: seed)
        machine.want(true)
    }

    /// Up to where it was broken first, or to its end.
    var story: ArraySlice<String> { history.prefix(brokenAt ?? history.count).suffix(40) }

    var isDone: Bool { partition.isDone }

    mutating func run(steps: Int) {
        for _ in 0..<steps {
            time += 1
            if chance(0.4) {
                partition.length += 1
                machine.ring()
            }
            if chance(0.01) {
                let first = Int64.random(in: 0..<8, using: &generator)
                let count = chance(0.5) ? Int64.random(in: 1...4, using: &generator) : 0
                troubled = Set((0..<count).map { Self.key(of: first + $0) })
            }
            readParked()
            advance()
        }
    }

    /// Nothing fails any more but what is bad itself.
    mutating func settle() {
        (isCalm, troubled) = (true, [])
        for _ in 0..<10_000 where !isDone {
            time += 1
            advance()
        }
    }

    // MARK: Steps

    /// What is parked is read again, and an operator has removed all of one order, perhaps: most often one that something waits behind
    /// among what is held.
    private mutating func readParked() {
        let step = machine.nextStep(at: now)
        var (probability, orders) = (0.005, [Int64](0..<8))
        var isHolding = false
        if case .handle(let work, _, _) = step, let last = work.held.last {
            let waiting = work.items.filter {
                work.diverted.contains($0.position) && $0.position < last.item.position
            }
            let between = Set(waiting.map { Self.key(of: $0.number) })
                .intersection(partition.parked.values.map(\.key)).sorted()
            (isHolding, probability) = (true, between.isEmpty ? 0.01 : 0.5)
            if !between.isEmpty { orders = between }
        }
        guard chance(probability) else { return }
        let isSettling =
            switch step {
            case .parkAgain, .giveUp: true
            default: false
            }
        if !isSettling, isHolding || chance(0.5), let order = orders.randomElement(using: &generator) {
            let removed = partition.parked.values.filter { $0.key == order }.map(\.position.number)
            history.append("\(time) loses \(removed), which an operator removes")
            for number in removed { partition.parked[number] = nil }
            forget(removed.map(SimulatedItem.init))
        }
        // What the database has says nothing of what only this machine knows.
        machine.parkedRead(heads())
        lookForDue()
    }

    private mutating func advance() {
        let step = machine.nextStep(at: now)
        if case .wait = step { checkWait() }
        perform(step)
        if case .open = step {
            // A lease begins with what the database says.
            (due, patience, contended, unsettledTries, resting) = ([:], [:], [:], [:], nil)
            (queueRestsUntil, rests, contentions, isContended) = (0, 0, 0, false)
            (unsettledInARow, retriesRestUntil) = ([], 0)
        }
        lookForDue()
    }

    private mutating func perform(_ step: PartitionMachine<SimulatedItem>.Step) {
        switch step {
        case .wait, .release: break
        case .rest(let attempt): rest(attempt)
        case .takeLease:
            partition.epoch += 1
            machine.leaseTaken(Epoch(partition.epoch))
        case .open: machine.opened(partition.cursor, parked: heads(), losses: losses)
        case .read(let position):
            machine.messagesRead(partition.read(after: position, limit: Self.limits.batch), at: now)
        case .handle(let work, let cursor, _): handle(work, cursor)
        case .retry(let parked, let cursor, _): retry(parked, cursor)
        case .parkAgain(let failed, let cursor, _): parkAgain(failed, cursor)
        case .giveUp(let failed, let cursor, _): giveUp(failed, cursor)
        }
    }

    private mutating func rest(_ attempt: Int) {
        let end = time + (chance(0.1) ? 60 : Int.random(in: 1...5, using: &generator))
        machine.rest(until: origin + .milliseconds(end))
        if let (position, setbacks, isOfAll) = resting {
            history.append("\(time) lets \(position) rest until \(end)")
            if attempt != setbacks {
                broken.append("\(time): a retry rests as after \(attempt) setbacks, not \(setbacks)")
            }
            if due[position] != nil { due[position] = end }
            if isOfAll { retriesRestUntil = end }
        } else {
            history.append("\(time) rests until \(end)")
            queueRestsUntil = end
            if !isContended { rests += 1 }
            let expected = isContended ? contentions : rests
            if attempt != expected { broken.append("\(time): pause \(expected) is taken for pause \(attempt)") }
        }
        (resting, isContended) = (nil, false)
    }

    /// A transaction of the queue failed.
    private mutating func countFailure(_ failure: TransactionFailure, isHolding: Bool) {
        guard case .contention = failure else {
            contentions = 0
            return
        }
        contentions += 1
        let isOverdue = contentions > Self.limits.promptContentions
        if contentions >= Self.limits.contentions || isHolding && isOverdue {
            contentions = 0
        } else {
            isContended = isOverdue
        }
    }

    private mutating func handle(_ work: Work<SimulatedItem>, _ cursor: Cursor) {
        let numbers = work.handled.map(\.number)
        history.append("\(time) handles \(numbers), holding \(work.held.map(\.item.number))")
        // What is held goes on with the turn in which it failed; what is parked untried has none.
        if last == .retry, work.held.contains(where: { $0.fault.code != .lost }) {
            broken.append("\(time): a retry ran while \(work.held.map(\.item.number)) were held")
        }
        if work.held.isEmpty || last == .retry { begin(.queue) }
        checkHeld(work)
        if work.isCareful, let first = work.handled.first, chance(0.3) {
            // After it and a retry each, it goes first again: three times at most.
            if losses.keys.contains(where: { $0 <= cursor.position }) { last = nil }
            return lose(first.position)
        }
        if let failure = failure(numbers) {
            countFailure(failure, isHolding: !work.held.isEmpty)
            return machine.failed(failure, handling: work, at: now)
        }
        guard let last = work.items.last?.position else { return }
        let isLast = machine.readsAhead(handling: work.items.count)
        let parking = work.held.map { $0.parked(for: pause(), at: now) }
        let waiting = work.items.filter { work.diverted.contains($0.position) }.map {
            Parked(key: Self.key(of: $0.number), position: $0.position, attempts: 0, since: now, retryAt: now)
        }
        let committed = partition.commit(after: cursor, at: last) { partition in
            for parked in parking + waiting { partition.parked[parked.position.number] = parked }
        }
        guard let committed else { return broken.append("handles after another batch") }
        forget(work.items)
        contentions = 0
        if isLast || work.diverted.count < work.items.count { rests = 0 }
        let next =
            isLast
            ? partition.read(after: last, limit: Self.limits.batch) : []
        machine.committed(committed, work, parking: parking, next: next, at: now)
    }

    /// What fails while something is held has to show whose fault it is, and all that is parked is passed by the cursor, once.
    private mutating func checkHeld(_ work: Work<SimulatedItem>) {
        let (held, items) = (work.held.map(\.item.number), work.items.map(\.number))
        if !held.isEmpty, work.handled.count > 1 { broken.append("\(time): holds \(held) and tries several") }
        if !Set(held).isSubset(of: items) { broken.append("\(time): parks some of \(held) ahead of \(items)") }
        if held != held.sorted() { broken.append("\(time): holds \(held), not in order") }
        let inserted = held + work.diverted.map(\.number)
        if Set(inserted).count < inserted.count || inserted.contains(where: { partition.parked[$0] != nil }) {
            broken.append("\(time): parks some of \(inserted) twice")
        }
    }

    private mutating func retry(_ parked: Parked<Int64>, _ cursor: Cursor) {
        let item = SimulatedItem(number: parked.position.number)
        history.append("\(time) retries \(item.number)")
        if due[item.position].map({ $0 > time }) ?? true { broken.append("\(time): retries what isn't due") }
        if time < retriesRestUntil { broken.append("\(time): retries something while all rest") }
        begin(.retry)
        if chance(0.02) {
            // An operator removed it.
            partition.parked[item.number] = nil
            passes(item.position)
            return machine.nothingToRetry(heads())
        }
        if machine.refuse(parked, item, at: now) {
            due[item.position] = .max
            return passes(item.position)
        }
        if chance(0.05) { return lose(item.position) }
        if chance(0.05) {
            return machine.failed(.fenced, retrying: parked, item, at: now)
        }
        guard let failure = failure([item.number]) else {
            passes(item.position)
            unsettledInARow = []
            settle(item, cursor) { machine, committed, next, now in
                machine.committed(committed, retrying: parked, next: next, at: now)
            }
            if parked.cause == .trouble {
                for head in partition.parkedHeads()
                where head.cause == .trouble && contended[head.position] == nil && unsettledTries[head.position] == nil
                {
                    due[head.position] = due[head.position].map { min($0, time) }
                }
            }
            return
        }
        machine.failed(failure, retrying: parked, item, at: now)
        guard case .contention = failure else {
            due[item.position] = .max
            return passes(item.position)
        }
        passes(item.position, isDone: false)
        let count = contended[item.position, default: 0] + 1
        if count >= Self.limits.contentions, parked.cause == nil {
            due[item.position] = .max
        } else {
            contended[item.position] = count
            if count > Self.limits.promptContentions { letRest(item.position, as: count) }
        }
    }

    private mutating func letRest(_ position: Position, as attempt: Int, isOfAll: Bool = false) {
        (due[position], resting) = (.max, (position, attempt, isOfAll))
    }

    private mutating func parkAgain(_ failed: FailedMessage<SimulatedItem>, _ cursor: Cursor) {
        if let failure = failureToSettle(failed) { return machine.failedToSettle(failure, failed, at: now) }
        if let cause = failed.former?.cause, cause != failed.fault.code, failed.fault.description == Self.deadlock {
            broken.append("\(time): contention makes \(cause) into \(failed.fault.code)")
        }
        guard let former = failed.former else { return broken.append("parks again what isn't parked") }
        let parking = failed.parked(for: pause(), at: now)
        let committed = partition.commit(after: cursor, at: cursor.position) {
            $0.parked[failed.item.number] = parking
        }
        guard let committed else { return broken.append("parks after another batch") }
        forget([failed.item])
        unsettledInARow = []
        due[failed.item.position] = nil
        machine.committed(committed, parking: parking, again: former, next: next(of: former.key))
    }

    private mutating func giveUp(_ failed: FailedMessage<SimulatedItem>, _ cursor: Cursor) {
        if failed.former == nil { begin(.queue) }
        if let failure = failureToSettle(failed) { return machine.failedToSettle(failure, failed, at: now) }
        history.append("\(time) gives \(failed.item.number) up")
        let position = failed.former == nil ? failed.item.position : cursor.position
        if failed.former == nil { (rests, contentions) = (0, 0) } else { unsettledInARow = [] }
        settle(failed.item, Cursor(number: cursor.number, position: position)) { machine, committed, next, _ in
            machine.committed(committed, givingUp: failed, next: next)
        }
    }

    private mutating func settle(
        _ item: SimulatedItem, _ cursor: Cursor,
        _ report: (
            inout PartitionMachine<SimulatedItem>, Cursor, _ next: Parked<Int64>?, ContinuousClock.Instant
        ) -> Void
    ) {
        let committed = partition.commit(after: cursor, at: cursor.position) { $0.parked[item.number] = nil }
        guard let committed else { return broken.append("settles after another batch") }
        forget([item])
        report(&machine, committed, next(of: Self.key(of: item.number)), now)
    }

    private func heads() -> [Parked<Int64>] { partition.parkedHeads().map(due) }

    private func next(of key: Int64) -> Parked<Int64>? { partition.next(of: key).map(due) }

    /// What only waited behind another is due now.
    private func due(_ parked: Parked<Int64>) -> Parked<Int64> {
        var parked = parked
        if parked.cause == nil { parked.retryAt = now }
        return parked
    }

    private mutating func forget(_ items: [SimulatedItem]) {
        for position in items.map(\.position) {
            (losses[position], contended[position], unsettledTries[position]) = (nil, nil, nil)
        }
    }

    // MARK: Turns

    private var isQueueReady: Bool { time >= queueRestsUntil && partition.cursor.position.number < partition.length }

    private var isRetryDue: Bool { time >= retriesRestUntil && due.values.contains { $0 <= time } }

    private mutating func begin(_ turn: Turn) {
        if isQueueReady && isRetryDue { rivalries += 1 }
        if turn == .retry, last == .retry, isQueueReady {
            broken.append("\(time): two retries, one after the other, while the queue waits")
        }
        if turn == .queue, last == .queue, isRetryDue {
            broken.append("\(time): two turns of the queue, one after the other, while a retry is due")
        }
        last = turn
    }

    /// A retry had its turn. Others that are due wait for those that were due before them and as many urgent ones, or the other way
    /// round, and each may meet contention before it keeps its place no longer.
    private mutating func passes(_ position: Position, isDone: Bool = true) {
        if isDone { patience[position] = nil }
        for other in patience.keys where other != position && !unsettledInARow.contains(other) {
            patience[other, default: 0] -= 1
            if patience[other, default: 0] < 0 {
                broken.append("\(time): \(other) is due, and others are retried again and again")
            }
        }
    }

    private mutating func lookForDue() {
        let heads = partition.parkedHeads()
        due = due.filter { known in heads.contains { $0.position == known.key } }
        for head in heads where due[head.position] == nil {
            due[head.position] = head.cause == nil ? time : Int((head.retryAt - origin) / .milliseconds(1))
        }
        // What couldn't be settled comes behind all others, until something is.
        patience = patience.filter { due[$0.key, default: .max] <= time && !unsettledInARow.contains($0.key) }
        let all = due.values.count { $0 <= time }
        for (position, at) in due where at <= time && patience[position] == nil && !unsettledInARow.contains(position) {
            patience[position] = 2 * all * (1 + Self.limits.promptContentions)
        }
    }

    private mutating func checkWait() {
        guard machine.position != nil else { return }
        if isRetryDue || isQueueReady { broken.append("\(time): waits, though something could run") }
        let retriesWake = due.values.min().map { max($0, retriesRestUntil) }
        let wake = [queueRestsUntil > time ? queueRestsUntil : nil, retriesWake].compactMap(\.self).min()
        if machine.nextWake(after: now) != wake.map({ origin + .milliseconds($0) }) {
            broken.append("\(time): wakes at another time than \(wake ?? 0)")
        }
    }

    // MARK: What goes wrong

    private static let deadlock = "deadlock"

    /// The connection is lost. The next one has a machine of its own.
    private mutating func lose(_ position: Position) {
        history.append("\(time) is lost")
        lost += 1
        losses[position, default: 0] += 1
        machine = PartitionMachine(limits: Self.limits, ordering: Self.ordering)
        machine.want(true)
    }

    private mutating func failure(_ numbers: [Int64]) -> TransactionFailure? {
        if !troubled.isDisjoint(with: numbers.map(Self.key)) { return .failed(Fault(.trouble, "trouble")) }
        if chance(0.2) { return .contention(Fault(.trouble, Self.deadlock)) }
        // Most of one order in three.
        return numbers.contains { $0 % 3 == 0 && $0 % 5 < 3 } ? .failed(Fault(.error, "bad")) : nil
    }

    /// Some can never be settled.
    private mutating func failureToSettle(_ failed: FailedMessage<SimulatedItem>) -> TransactionFailure? {
        guard !isCalm, failed.item.number % 9 == 0 || chance(0.1) else { return nil }
        unsettled += 1
        let failure: TransactionFailure =
            chance(0.5) ? .failed(Fault(.trouble, "trouble")) : .contention(Fault(.trouble, "deadlock"))
        let position = failed.item.position
        if failed.former == nil {
            countFailure(failure, isHolding: false)
        } else {
            contended[position] = nil
            unsettledTries[position, default: 0] += 1
            unsettledInARow.insert(position)
            let (tries, all) = (unsettledTries[position, default: 0], unsettledInARow.count)
            let isOfAll = all >= Self.limits.unsettled
            letRest(position, as: isOfAll ? max(tries, all) : tries, isOfAll: isOfAll)
        }
        return failure
    }

    /// What is parked is often due again at once.
    private mutating func pause() -> Duration { .milliseconds(Int.random(in: 0...6, using: &generator)) }

    private mutating func chance(_ probability: Double) -> Bool {
        !isCalm && Double.random(in: 0..<1, using: &generator) < probability
    }
}
