import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

/// What the simulated world does to a worker.
struct SimulatedFaults: OptionSet {
    let rawValue: Int
    static let crash = SimulatedFaults(rawValue: 1)
    static let pause = SimulatedFaults(rawValue: 2)
    static let unknownCommit = SimulatedFaults(rawValue: 4)
    static let contention = SimulatedFaults(rawValue: 8)
    static let duplicateRing = SimulatedFaults(rawValue: 16)
    /// Some messages always fail, and some crash the process that handles them.
    static let poison = SimulatedFaults(rawValue: 32)
    /// The database is in trouble now and then, for everything or for some.
    static let trouble = SimulatedFaults(rawValue: 64)
    /// Some messages are of a kind that old replicas don't know; sooner or later a new one joins.
    static let newKinds = SimulatedFaults(rawValue: 128)
    static let all: SimulatedFaults = [
        .crash, .pause, .unknownCommit, .contention, .duplicateRing, .poison, .trouble, .newKinds,
    ]
}

/// Several workers' machines on one partition, stepped in an order drawn from a seed. A step is split where a real one
/// can be interrupted: a worker decides what to do, others run, then it does it on what may be stale belief.
struct Simulation {
    struct Worker {
        var machine: PartitionMachine<SimulatedItem>
        /// Fresh at each start.
        var owner: Int
        /// Knows every kind.
        var isNew: Bool
        var isPaused = false
        /// Decided and not yet done.
        var step: PartitionMachine<SimulatedItem>.Step?
    }

    /// What fails by trouble.
    enum Trouble: Equatable {
        case nothing, everything, handling
        case key(Int64)
    }

    var partition = SimulatedPartition()
    var workers: [Worker] = []
    var generator: SeededRandom
    var faults: SimulatedFaults
    var trouble = Trouble.nothing
    var time = 0
    var history: [String] = []
    /// Promises that were broken on the way.
    var broken: [String] = []
    private var firstFailure: [Int64: Int] = [:]
    private var owners = 0
    private let origin = ContinuousClock.now
    static let limits = {
        var limits = PartitionMachine<SimulatedItem>.Limits()
        (limits.batch, limits.attempts, limits.contentions, limits.probes) = (4, 2, 3, 2)
        (limits.leastTime, limits.parkedKeys) = (.milliseconds(30), 2)
        return limits
    }()
    /// What an honest commit says; a test may break it to see the check fail.
    var fence = true

    private var now: ContinuousClock.Instant { origin + .milliseconds(time) }

    init(seed: UInt64, workers: Int, faults: SimulatedFaults) {
        generator = SeededRandom(seed: seed)
        self.faults = faults
        for _ in 0..<workers { self.workers.append(fresh(isNew: !faults.contains(.newKinds))) }
    }

    private mutating func fresh(isNew: Bool) -> Worker {
        owners += 1
        var worker = Worker(
            machine: PartitionMachine(limits: Self.limits, ordering: .byKeyIfKnown), owner: owners, isNew: isNew)
        worker.machine.want(true)
        return worker
    }

    /// Handling one of these always fails.
    static func isPoison(_ number: Int64) -> Bool { number % 13 == 0 }
    /// Handling one of these ends the process.
    static func isTrap(_ number: Int64) -> Bool { number % 29 == 0 }
    /// Only new replicas can read one of these.
    static func isNewKind(_ number: Int64) -> Bool { number % 17 == 0 }

    mutating func run(messages: Int64, steps: Int) {
        for _ in 0..<steps {
            time += 1
            if partition.length < messages, chance(0.3) {
                partition.length += 1
                if chance(0.7) { for index in workers.indices { workers[index].machine.ring() } }
            }
            if faults.contains(.trouble), chance(0.01) {
                trouble =
                    [.nothing, .nothing, .everything, .handling, .key(0), .key(1)]
                    .randomElement(using: &generator) ?? .nothing
                history.append("trouble: \(trouble)")
            }
            let index = Int.random(in: workers.indices, using: &generator)
            disturb(index)
            if !workers[index].isPaused { advance(index) }
        }
    }

    /// No more faults: whatever is left must be handled by the idle poll alone.
    mutating func settle() {
        faults.remove([.crash, .pause, .unknownCommit, .contention, .trouble])
        trouble = .nothing
        for index in workers.indices { workers[index].isPaused = false }
        workers[0] = fresh(isNew: true)
        for round in 0..<20_000 {
            time += 1
            if round % 10 == 0 {
                for index in workers.indices {
                    workers[index].machine.ring()
                    share(index)
                }
            }
            for index in workers.indices { advance(index) }
            if partition.isDone { return }
        }
    }

    /// A partition that needs it belongs to those that know more, if there are any.
    private mutating func share(_ index: Int) {
        workers[index].machine.want(
            workers[index].isNew || !partition.needsNew || !workers.contains { $0.isNew && !$0.isPaused })
    }

    private mutating func disturb(_ index: Int) {
        if faults.contains(.crash), chance(0.01) {
            workers[index] = fresh(isNew: workers[index].isNew || chance(0.1))
            history.append("\(index) crashes")
        }
        if faults.contains(.pause), chance(0.02) { workers[index].isPaused.toggle() }
        if faults.contains(.duplicateRing), chance(0.1) { workers[index].machine.ring() }
        if chance(0.02) { share(index) }
    }

    private mutating func advance(_ index: Int) {
        guard let step = workers[index].step else {
            workers[index].step = workers[index].machine.nextStep(at: now)
            return
        }
        workers[index].step = nil
        perform(step, index)
    }

    private mutating func perform(_ step: PartitionMachine<SimulatedItem>.Step, _ index: Int) {
        switch step {
        case .wait: break
        case .rest: workers[index].machine.rest(until: now + .milliseconds(1))
        case .takeLease: takeLease(index)
        case .open:
            let epoch = workers[index].machine.epoch?.number ?? 0
            let ended = partition.attempts.map { (Position($0.key), $0.value.keys.filter { $0 < epoch }.count) }
            var heads = partition.parkedHeads()
            for head in heads.indices where heads[head].cause == .unknown && workers[index].isNew {
                heads[head].retryAt = now
            }
            workers[index].machine.opened(
                partition.cursor, parked: heads,
                crashes: Dictionary(uniqueKeysWithValues: ended.filter { $0.1 > 0 }))
        case .read(let position):
            workers[index].machine.messagesRead(partition.read(after: position, limit: Self.limits.batch), at: now)
        case .release:
            if partition.owner == workers[index].owner { partition.owner = nil }
            workers[index].machine.leaseLost()
        case .handle(let work, let cursor, _): handle(work, cursor, index)
        case .retry(let parked, let cursor, _): retry(parked, cursor, index)
        case .parkAgain(let failed, let cursor, _): parkAgain(failed, cursor, index)
        case .giveUp(let failed, let cursor, _): giveUp(failed, cursor, index)
        }
    }

    private mutating func takeLease(_ index: Int) {
        let owner = workers[index].owner
        guard partition.owner == nil || partition.owner == owner || partition.leaseEnds < time else {
            return workers[index].machine.leaseRefused()
        }
        let former = partition.owner
        if former == owner {
            // It lives, and nobody took over: what it tried ended its connection at most.
            partition.attempts = partition.attempts.mapValues { $0.filter { $0.value != owner } }
        }
        partition.owner = owner
        partition.epoch += 1
        partition.leaseEnds = time + 40
        workers[index].machine.leaseTaken(Epoch(partition.epoch), wasLost: former != nil)
    }

    private mutating func handle(_ work: Work<SimulatedItem>, _ cursor: Cursor, _ index: Int) {
        let handled = work.handled.map(\.number)
        history.append(
            "\(index) handles \(handled) of \(work.items.count), holding \(work.held.map(\.item.number)), after batch \(cursor.number)"
        )
        if handled.isEmpty, !work.held.isEmpty, work.held.allSatisfy({ $0.fault.code == .trouble }) {
            broken.append("parks \(work.held.map(\.item.number)) although nothing got through")
        }
        if work.isCareful {
            guard holdsLease(index) else { return workers[index].machine.failed(.fenced, handling: work, at: now) }
            if note(handled, index) { return }
        }
        if endsProcess(handled, index) { return }
        if let failure = failure(handled, index) {
            if work.isCareful { for number in handled { partition.attempts[number] = nil } }
            return workers[index].machine.failed(failure, handling: work, at: now)
        }
        guard let last = work.items.last?.position else { return }
        let readsAhead = workers[index].machine.readsAhead(handling: work.items.count)
        let parking = work.held.map { $0.parked(for: .milliseconds(5), at: now) }
        let waiting = work.items.filter { work.diverted.contains($0.position) }
            .map { Parked(key: $0.orderKey, position: $0.position, cause: nil, attempts: 0, since: now, retryAt: now) }
        let committed = commit(after: cursor, at: last) { partition in
            partition.effects += handled
            for parked in parking + waiting { partition.parked[parked.position.number] = parked }
            for number in handled + parking.map(\.position.number) { partition.attempts[number] = nil }
        }
        if isUnknown(index) {
            return workers[index].machine.failed(.connectionLost, handling: work, at: now)
        }
        guard let committed else { return workers[index].machine.failed(.fenced, handling: work, at: now) }
        let next = readsAhead ? partition.read(after: committed.position, limit: Self.limits.batch) : []
        workers[index].machine.committed(committed, work, parking: parking, next: next, at: now)
    }

    private mutating func retry(_ parked: Parked<Int64>, _ cursor: Cursor, _ index: Int) {
        let item = SimulatedItem(number: parked.position.number)
        if workers[index].machine.refuse(parked, item, at: now) { return }
        history.append("\(index) tries \(item.number) again after batch \(cursor.number)")
        guard holdsLease(index) else {
            return workers[index].machine.failed(.fenced, retrying: parked, item, at: now)
        }
        if note([item.number], index) || endsProcess([item.number], index) { return }
        if let failure = failure([item.number], index) {
            partition.attempts[item.number] = nil
            return workers[index].machine.failed(failure, retrying: parked, item, at: now)
        }
        let committed = commit(after: cursor, at: cursor.position) { partition in
            partition.effects.append(item.number)
            partition.parked[item.number] = nil
            partition.attempts[item.number] = nil
        }
        guard let committed, !isUnknown(index) else {
            return workers[index].machine.failed(
                committed == nil ? .fenced : .connectionLost, retrying: parked, item, at: now)
        }
        workers[index].machine.committed(
            committed, retrying: parked, next: partition.next(of: parked.key), at: now)
    }

    private mutating func parkAgain(_ failed: FailedMessage<SimulatedItem>, _ cursor: Cursor, _ index: Int) {
        let number = failed.item.number
        history.append("\(index) parks \(number) again after batch \(cursor.number)")
        if let failure = failure([], index) { return workers[index].machine.failedToSettle(failure, failed, at: now) }
        let parking = failed.parked(for: .milliseconds(5), at: now)
        guard let former = failed.former else { return broken.append("parks \(number) again, which isn't parked") }
        let committed = commit(after: cursor, at: cursor.position) { partition in
            partition.parked[number] = parking
            partition.attempts[number] = nil
        }
        guard let committed, !isUnknown(index) else {
            return workers[index].machine.failedToSettle(
                committed == nil ? .fenced : .connectionLost, failed, at: now)
        }
        workers[index].machine.committed(
            committed, parking: parking, again: former, next: partition.next(of: former.key))
    }

    private mutating func giveUp(_ failed: FailedMessage<SimulatedItem>, _ cursor: Cursor, _ index: Int) {
        let number = failed.item.number
        history.append("\(index) gives \(number) up after batch \(cursor.number)")
        if let failure = failure([], index) { return workers[index].machine.failedToSettle(failure, failed, at: now) }
        if failed.fault.code == .error, time - (firstFailure[number] ?? time) < 30 {
            broken.append("gives \(number) up too early")
        }
        let position = failed.former == nil ? failed.item.position : cursor.position
        let committed = commit(after: cursor, at: position) { partition in
            partition.effects.append(number)
            partition.givenUp[number] = failed.fault.code
            partition.parked[number] = nil
            partition.attempts[number] = nil
        }
        guard let committed, !isUnknown(index) else {
            return workers[index].machine.failedToSettle(
                committed == nil ? .fenced : .connectionLost, failed, at: now)
        }
        workers[index].machine.committed(
            committed, givingUp: failed, next: partition.next(of: failed.former?.key ?? failed.item.orderKey))
    }

    // MARK: What goes wrong

    private func holdsLease(_ index: Int) -> Bool { workers[index].machine.epoch?.number == partition.epoch }

    /// Writes down what is tried; true if the process is killed right after, whatever it tried.
    private mutating func note(_ numbers: [Int64], _ index: Int) -> Bool {
        for number in numbers {
            partition.attempts[number, default: [:]][workers[index].machine.epoch?.number ?? 0] = workers[index].owner
        }
        guard faults.contains(.crash), chance(0.01) else { return false }
        history.append("\(index) is killed while it tries \(numbers)")
        workers[index] = fresh(isNew: workers[index].isNew)
        return true
    }

    private mutating func endsProcess(_ numbers: [Int64], _ index: Int) -> Bool {
        guard faults.contains(.poison), numbers.contains(where: Self.isTrap) else { return false }
        history.append("\(index) is ended")
        workers[index] = fresh(isNew: workers[index].isNew)
        return true
    }

    private mutating func failure(_ numbers: [Int64], _ index: Int) -> TransactionFailure? {
        if !workers[index].isNew, faults.contains(.newKinds), numbers.contains(where: Self.isNewKind) {
            if numbers.count == 1 {
                partition.needsNew = true
                share(index)
            }
            return .failed(Fault(.unknown, "a newer kind", needs: "new"))
        }
        let isInTrouble =
            switch trouble {
            case .nothing: false
            case .everything: true
            case .handling: !numbers.isEmpty
            case .key(let key): numbers.contains { $0 % 3 == key }
            }
        if isInTrouble { return .failed(Fault(.trouble, "trouble")) }
        if faults.contains(.contention), chance(0.05) { return .contention(Fault(.trouble, "deadlock")) }
        guard faults.contains(.poison), numbers.contains(where: Self.isPoison) else { return nil }
        for number in numbers { firstFailure[number] = firstFailure[number] ?? time }
        return .failed(Fault(.error, "poison"))
    }

    private mutating func commit(
        after cursor: Cursor, at position: Position, _ change: (inout SimulatedPartition) -> Void
    ) -> Cursor? {
        let base = fence ? cursor : Cursor(number: partition.cursor.number, position: cursor.position)
        return partition.commit(after: base, at: position, change)
    }

    private mutating func isUnknown(_ index: Int) -> Bool {
        guard faults.contains(.unknownCommit), chance(0.05) else { return false }
        history.append("\(index) never hears whether it committed")
        return true
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &generator) < probability
    }
}
