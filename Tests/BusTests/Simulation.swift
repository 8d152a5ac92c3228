import Testing
import Vocabulary

@testable import Bus

/// A log, its batches and leases as PostgreSQL would keep them, without PostgreSQL: what the machines are run against.
struct SimulatedPartition {
    /// Positions are 1 to `length`.
    var length: Int64 = 0
    var cursor = Cursor()
    /// In commit order: what was handled, message by message.
    var effects: [Int64] = []
    var owner: Int?
    var epoch: Int64 = 0
    var leaseEnds = 0

    /// Commits a batch if nobody else built on the same one: the unique key.
    mutating func commit(_ items: [Int64], after base: Cursor) -> Cursor? {
        guard base.number == cursor.number, let last = items.last else { return nil }
        cursor = Cursor(number: base.number + 1, position: Position(last))
        effects.append(contentsOf: items)
        return cursor
    }

    func read(after position: Position, limit: Int) -> [Int64] {
        guard position.number < length else { return [] }
        return Array(((position.number + 1)...length).prefix(limit))
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
    static let poison = SimulatedFaults(rawValue: 32)
    static let all: SimulatedFaults = [.crash, .pause, .unknownCommit, .transient, .duplicateRing, .poison]
}

/// Several workers' machines on one partition, stepped in an order drawn from a seed. A step is split where a real one
/// can be interrupted: a worker decides what to do, others run, then it does it on what may be stale belief.
struct Simulation {
    struct Worker {
        var machine: PartitionMachine<Int64>
        var isPaused = false
        /// Decided and not yet done.
        var step: PartitionMachine<Int64>.Step?
    }

    var partition = SimulatedPartition()
    var workers: [Worker]
    var generator: SeededGenerator
    var faults: SimulatedFaults
    var time = 0
    var givenUp: Set<Int64> = []
    var history: [String] = []
    static let limits = PartitionMachine<Int64>.Limits(batch: 4, attempts: 2, transientAttempts: 3)
    /// What an honest commit says; a test may break it to see the check fail.
    var fence = true

    init(seed: UInt64, workers: Int, faults: SimulatedFaults) {
        generator = SeededGenerator(seed: seed)
        self.faults = faults
        self.workers = (0..<workers).map { _ in Worker(machine: PartitionMachine(limits: Self.limits)) }
        for index in self.workers.indices { self.workers[index].machine.want(true) }
    }

    /// Messages whose number divides by 13 are poison: handling them always fails.
    func isPoison(_ item: Int64) -> Bool { faults.contains(.poison) && item % 13 == 0 }

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
        for round in 0..<4000 {
            time += 1
            if round % 10 == 0 {
                for index in workers.indices {
                    workers[index].machine.ring()
                    workers[index].machine.want(true)
                }
            }
            for index in workers.indices { advance(index) }
            if partition.cursor.position.number == partition.length { return }
        }
    }

    private mutating func disturb(_ index: Int) {
        if faults.contains(.crash), chance(0.01) {
            workers[index] = Worker(machine: PartitionMachine(limits: Self.limits))
            workers[index].machine.want(true)
            history.append("\(index) crashes")
        }
        if faults.contains(.pause), chance(0.02) { workers[index].isPaused.toggle() }
        if faults.contains(.duplicateRing), chance(0.1) { workers[index].machine.ring() }
        if chance(0.02) { workers[index].machine.want(true) }
    }

    private mutating func advance(_ index: Int) {
        guard let step = workers[index].step else {
            workers[index].step = workers[index].machine.nextStep()
            return
        }
        workers[index].step = nil
        perform(step, index)
    }

    private mutating func perform(_ step: PartitionMachine<Int64>.Step, _ index: Int) {
        switch step {
        case .wait: break
        case .backOff: workers[index].machine.backedOff()
        case .takeLease:
            guard partition.owner == nil || partition.owner == index || partition.leaseEnds < time else {
                return workers[index].machine.leaseRefused()
            }
            partition.owner = index
            partition.epoch += 1
            partition.leaseEnds = time + 40
            workers[index].machine.leaseTaken(Epoch(partition.epoch))
        case .readCursor: workers[index].machine.cursorRead(partition.cursor)
        case .read(let position, let limit):
            workers[index].machine.messagesRead(partition.read(after: position, limit: limit))
        case .release:
            if partition.owner == index { partition.owner = nil }
            workers[index].machine.released()
        case .giveUp(let item, let cursor, _, _):
            guard let committed = partition.commit([item], after: cursor) else {
                return workers[index].machine.failed(.fenced, handling: 1)
            }
            givenUp.insert(item)
            workers[index].machine.committed(committed, handled: 1, next: [])
        case .handle(let items, let cursor, _):
            handle(items, cursor, index)
        }
    }

    private mutating func handle(_ items: [Int64], _ cursor: Cursor, _ index: Int) {
        history.append("\(index) handles \(items) after batch \(cursor.number)")
        if faults.contains(.transient), chance(0.05) {
            return workers[index].machine.failed(.transient("deadlock"), handling: items.count)
        }
        if items.contains(where: isPoison) {
            return workers[index].machine.failed(.permanent("poison"), handling: items.count)
        }
        let base = fence ? cursor : Cursor(number: partition.cursor.number, position: cursor.position)
        let readsAhead = workers[index].machine.readsAhead(handling: items.count)
        let committed = partition.commit(items, after: base)
        if faults.contains(.unknownCommit), chance(0.05) {
            history.append("\(index) never hears whether it committed")
            return workers[index].machine.failed(.connectionLost, handling: items.count)
        }
        guard let committed else { return workers[index].machine.failed(.fenced, handling: items.count) }
        let next = readsAhead ? partition.read(after: committed.position, limit: Self.limits.batch) : []
        workers[index].machine.committed(committed, handled: items.count, next: next)
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
