import Testing
import Vocabulary

@testable import Bus

/// A message of the simulated log: its number is its position, and every third one has the same key.
struct SimulatedItem: PartitionItem, Hashable {
    let number: Int64
    var orderKey: Int64 { number % 3 }
    var position: Position { Position(number) }
}

/// A log, its batches, leases and parked messages as PostgreSQL would keep them, without PostgreSQL: what the machines
/// are run against.
struct SimulatedPartition {
    /// Positions are 1 to `length`.
    var length: Int64 = 0
    var cursor = Cursor()
    /// In commit order: what was handled, message by message.
    var effects: [Int64] = []
    var givenUp: [Int64: Fault.Code] = [:]
    /// How often each parked message failed, by number; 0 for one that waits behind another of its key.
    var parked: [Int64: Int] = [:]
    /// Who was trying what.
    var attempts: [Int64: Set<Int>] = [:]
    /// By which owners a message was tried together with others.
    var suspected: [Int64: Set<Int>] = [:]
    var owner: Int?
    var epoch: Int64 = 0
    var leaseEnds = 0

    /// Commits a batch if nobody else built on the same one: the unique key.
    mutating func commit(after base: Cursor, at position: Position, _ change: (inout Self) -> Void) -> Cursor? {
        guard base.number == cursor.number else { return nil }
        cursor = Cursor(number: base.number + 1, position: position)
        change(&self)
        return cursor
    }

    /// Whether everything is handled.
    var isDone: Bool { cursor.position.number == length && parked.isEmpty }

    func read(after position: Position, limit: Int) -> [SimulatedItem] {
        guard position.number < length else { return [] }
        return Array(((position.number + 1)...length).prefix(limit)).map(SimulatedItem.init)
    }

    func parkedHeads() -> [Parked<Int64>] {
        Dictionary(grouping: parked.keys, by: { $0 % 3 }).values.compactMap { $0.min() }.map(head)
    }

    func next(of key: Int64, after number: Int64) -> Parked<Int64>? {
        parked.keys.filter { $0 % 3 == key && $0 > number }.min().map(head)
    }

    /// Time stands still in here: what is to be tried again is due at once.
    private func head(_ number: Int64) -> Parked<Int64> {
        Parked(key: number % 3, position: Position(number), attempts: parked[number] ?? 0, retryAt: .now)
    }
}

/// What the simulated world does to a worker.
struct SimulatedFaults: OptionSet {
    let rawValue: Int
    static let crash = SimulatedFaults(rawValue: 1)
    static let pause = SimulatedFaults(rawValue: 2)
    static let unknownCommit = SimulatedFaults(rawValue: 4)
    static let transient = SimulatedFaults(rawValue: 8)
    static let duplicateRing = SimulatedFaults(rawValue: 16)
    /// Some messages always fail, and some end the process of whoever handles them.
    static let poison = SimulatedFaults(rawValue: 32)
    static let all: SimulatedFaults = [.crash, .pause, .unknownCommit, .transient, .duplicateRing, .poison]
}

/// Several workers' machines on one partition, stepped in an order drawn from a seed. A step is split where a real one
/// can be interrupted: a worker decides what to do, others run, then it does it on what may be stale belief.
struct Simulation {
    struct Worker {
        var machine: PartitionMachine<SimulatedItem>
        /// Fresh at each start.
        var owner: Int
        var isPaused = false
        /// Decided and not yet done.
        var step: PartitionMachine<SimulatedItem>.Step?
    }

    var partition = SimulatedPartition()
    var workers: [Worker]
    var generator: SeededGenerator
    var faults: SimulatedFaults
    var time = 0
    var history: [String] = []
    private var owners = 0
    static let limits = {
        var limits = PartitionMachine<SimulatedItem>.Limits()
        (limits.batch, limits.attempts, limits.transientAttempts) = (4, 2, 3)
        return limits
    }()
    /// What an honest commit says; a test may break it to see the check fail.
    var fence = true

    init(seed: UInt64, workers: Int, faults: SimulatedFaults) {
        generator = SeededGenerator(seed: seed)
        self.faults = faults
        self.workers = []
        for _ in 0..<workers { self.workers.append(fresh()) }
    }

    private mutating func fresh() -> Worker {
        owners += 1
        var worker = Worker(machine: PartitionMachine(limits: Self.limits), owner: owners)
        worker.machine.want(true)
        return worker
    }

    /// Handling one of these always fails.
    static func isPoison(_ number: Int64) -> Bool { number % 13 == 0 }
    /// Handling one of these ends the process.
    static func isTrap(_ number: Int64) -> Bool { number % 29 == 0 }

    mutating func run(messages: Int64, steps: Int) {
        for _ in 0..<steps {
            time += 1
            if partition.length < messages, chance(0.3) {
                partition.length += 1
                if chance(0.7) { for index in workers.indices { workers[index].machine.ring() } }
            }
            let index = Int.random(in: workers.indices, using: &generator)
            disturb(index)
            if !workers[index].isPaused { advance(index) }
        }
    }

    /// No more faults: whatever is left must be handled by the idle poll alone.
    mutating func settle() {
        faults.remove([.crash, .pause, .unknownCommit, .transient])
        for index in workers.indices { workers[index].isPaused = false }
        for round in 0..<20_000 {
            time += 1
            if round % 10 == 0 {
                for index in workers.indices {
                    workers[index].machine.ring()
                    workers[index].machine.want(true)
                }
            }
            for index in workers.indices { advance(index) }
            if partition.isDone { return }
        }
    }

    private mutating func disturb(_ index: Int) {
        if faults.contains(.crash), chance(0.01) {
            workers[index] = fresh()
            history.append("\(index) crashes")
        }
        if faults.contains(.pause), chance(0.02) { workers[index].isPaused.toggle() }
        if faults.contains(.duplicateRing), chance(0.1) { workers[index].machine.ring() }
        if chance(0.02) { workers[index].machine.want(true) }
    }

    private mutating func advance(_ index: Int) {
        guard let step = workers[index].step else {
            workers[index].step = workers[index].machine.nextStep(at: .now)
            return
        }
        workers[index].step = nil
        perform(step, index)
    }

    private mutating func perform(_ step: PartitionMachine<SimulatedItem>.Step, _ index: Int) {
        switch step {
        case .wait: break
        case .backOff: workers[index].machine.backedOff()
        case .takeLease: takeLease(index)
        case .open:
            let owner = workers[index].owner
            let suspected = partition.suspected.filter { !$0.value.subtracting([owner]).isEmpty }.map { ($0.key, 0) }
            let ended = partition.attempts.mapValues { $0.subtracting([owner]).count }.filter { $0.value > 0 }
            workers[index].machine.opened(
                partition.cursor, parked: partition.parkedHeads(),
                crashes: Dictionary((suspected + ended.map { ($0.key, $0.value) }).map { (Position($0.0), $0.1) }) {
                    max($0, $1)
                })
        case .read(let position, let limit):
            workers[index].machine.messagesRead(partition.read(after: position, limit: limit))
        case .release:
            if partition.owner == workers[index].owner { partition.owner = nil }
            workers[index].machine.released()
        case .handle(let work, let cursor, _): handle(work, cursor, index)
        case .retry(let parked, let cursor, _): retry(parked, cursor, index)
        case .park(let failed, let cursor, _): park(failed, cursor, index)
        case .giveUp(let failed, let cursor, _): giveUp(failed, cursor, index)
        }
    }

    private mutating func takeLease(_ index: Int) {
        let owner = workers[index].owner
        guard partition.owner == nil || partition.owner == owner || partition.leaseEnds < time else {
            return workers[index].machine.leaseRefused()
        }
        let isTakenOver = partition.owner != nil && partition.owner != owner
        partition.owner = owner
        partition.epoch += 1
        partition.leaseEnds = time + 40
        workers[index].machine.leaseTaken(Epoch(partition.epoch), isTakenOver: isTakenOver)
    }

    private mutating func handle(_ work: Work<SimulatedItem>, _ cursor: Cursor, _ index: Int) {
        let handled = work.handled.map(\.number)
        history.append("\(index) handles \(handled) of \(work.items.count) after batch \(cursor.number)")
        let count = work.items.count
        if work.isCareful {
            for number in handled {
                if handled.count > 1 {
                    partition.suspected[number, default: []].insert(workers[index].owner)
                } else {
                    partition.attempts[number, default: []].insert(workers[index].owner)
                }
            }
        }
        if endsProcess(handled, index) { return }
        if let failure = failure(handled) { return workers[index].machine.failed(failure, handling: count) }
        guard let last = work.items.last?.position else { return }
        let readsAhead = workers[index].machine.readsAhead(handling: count)
        let committed = commit(after: cursor, at: last) { partition in
            partition.effects += handled
            for number in work.diverted.map(\.number) { partition.parked[number] = 0 }
            for number in handled {
                partition.attempts[number] = nil
                partition.suspected[number] = nil
            }
        }
        if isUnknown(index) { return workers[index].machine.failed(.connectionLost, handling: count) }
        guard let committed else { return workers[index].machine.failed(.fenced, handling: count) }
        let next = readsAhead ? partition.read(after: committed.position, limit: Self.limits.batch) : []
        workers[index].machine.committed(committed, handled: count, next: next)
    }

    private mutating func retry(_ parked: Parked<Int64>, _ cursor: Cursor, _ index: Int) {
        let item = SimulatedItem(number: parked.position.number)
        if workers[index].machine.refuse(parked, item) { return }
        history.append("\(index) tries \(item.number) again after batch \(cursor.number)")
        partition.attempts[item.number, default: []].insert(workers[index].owner)
        if endsProcess([item.number], index) { return }
        if let failure = failure([item.number]) {
            return workers[index].machine.failed(failure, retrying: parked, item)
        }
        let committed = commit(after: cursor, at: cursor.position) { partition in
            partition.effects.append(item.number)
            partition.parked[item.number] = nil
            partition.attempts[item.number] = nil
        }
        end(committed, ending: parked, after: item.number, retrying: (parked, item), index)
    }

    private mutating func park(_ failed: FailedMessage<SimulatedItem>, _ cursor: Cursor, _ index: Int) {
        let number = failed.item.number
        history.append("\(index) parks \(number) after batch \(cursor.number)")
        let position = failed.former == nil ? failed.item.position : cursor.position
        let owner = workers[index].owner
        let committed = commit(after: cursor, at: position) { partition in
            partition.parked[number] = failed.attempts
            if failed.fault.code != .crashed { partition.attempts[number]?.remove(owner) }
        }
        if isUnknown(index) { return workers[index].machine.failed(.connectionLost, handling: 1) }
        guard let committed else { return workers[index].machine.failed(.fenced, handling: 1) }
        workers[index].machine.committed(
            committed,
            parking: Parked(key: number % 3, position: Position(number), attempts: failed.attempts, retryAt: .now))
    }

    private mutating func giveUp(_ failed: FailedMessage<SimulatedItem>, _ cursor: Cursor, _ index: Int) {
        let number = failed.item.number
        history.append("\(index) gives \(number) up after batch \(cursor.number)")
        let position = failed.former == nil ? failed.item.position : cursor.position
        let committed = commit(after: cursor, at: position) { partition in
            partition.effects.append(number)
            partition.givenUp[number] = failed.fault.code
            partition.parked[number] = nil
            partition.attempts[number] = nil
        }
        end(committed, ending: failed.former, after: number, retrying: nil, index)
    }

    private mutating func end(
        _ committed: Cursor?, ending former: Parked<Int64>?, after number: Int64,
        retrying: (Parked<Int64>, SimulatedItem)?, _ index: Int
    ) {
        let failure: TransactionFailure? = isUnknown(index) ? .connectionLost : committed == nil ? .fenced : nil
        if let failure, let retrying {
            return workers[index].machine.failed(failure, retrying: retrying.0, retrying.1)
        }
        if let failure { return workers[index].machine.failed(failure, handling: 1) }
        guard let committed else { return }
        workers[index].machine.committed(
            committed, ending: former, next: partition.next(of: number % 3, after: number))
    }

    // MARK: What goes wrong

    private mutating func endsProcess(_ numbers: [Int64], _ index: Int) -> Bool {
        guard faults.contains(.poison), numbers.contains(where: Self.isTrap) else { return false }
        history.append("\(index) is ended")
        workers[index] = fresh()
        return true
    }

    private mutating func failure(_ numbers: [Int64]) -> TransactionFailure? {
        if faults.contains(.transient), chance(0.05) { return .transient("deadlock") }
        guard faults.contains(.poison), numbers.contains(where: Self.isPoison) else { return nil }
        return .permanent(Fault(.error, "poison"))
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

/// SplitMix64: the same numbers from the same seed everywhere.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ value >> 30) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ value >> 27) &* 0x94D0_49BB_1331_11EB
        return value ^ value >> 31
    }
}
