import Testing
import Vocabulary

@testable import Bus

@Suite
struct PartitionMachineTests {
    @Test(
        "handles every message once and in its key's order, whatever fails, crashes, pauses, repeats or stays unknown",
        arguments: 0..<300)
    func exactlyOnceInOrder(seed: UInt64) {
        var simulation = Simulation(seed: seed, workers: 3, faults: .all)
        simulation.run(messages: 60, steps: 3000)
        simulation.settle()
        let story = "seed \(seed): \(simulation.history.suffix(30).joined(separator: "\n"))"
        let effects = simulation.partition.effects
        #expect(effects.sorted() == Self.numbers(simulation), "\(story)")
        for key in 0..<Int64(3) {
            let ofKey = effects.filter { $0 % 3 == key }
            #expect(ofKey == ofKey.sorted(), "\(story)")
        }
        let codes = Dictionary(
            uniqueKeysWithValues: effects.filter { Simulation.isPoison($0) || Simulation.isTrap($0) }
                .map { ($0, Simulation.isTrap($0) ? Fault.Code.crashed : .error) })
        #expect(simulation.partition.givenUp == codes, "\(story)")
    }

    private static func numbers(_ simulation: Simulation) -> [Int64] {
        Array((0..<simulation.partition.length).map { $0 + 1 })
    }

    @Test("needs the batch's key: without the fence the same run does things twice")
    func theFenceIsWhatKeepsIt() {
        let broken = (0..<300).contains { seed in
            var simulation = Simulation(seed: UInt64(seed), workers: 3, faults: .all)
            simulation.fence = false
            simulation.run(messages: 60, steps: 3000)
            simulation.settle()
            return simulation.partition.effects.sorted() != Self.numbers(simulation)
        }
        #expect(broken)
    }

    private static func machine(
        batch: Int = 4, parkedKeys: Int = 10, givesUp: Bool = true, with numbers: [Int64]
    ) -> PartitionMachine<SimulatedItem> {
        var limits = PartitionMachine<SimulatedItem>.Limits()
        (limits.batch, limits.attempts, limits.parkedKeys) = (batch, 2, parkedKeys)
        var machine = PartitionMachine<SimulatedItem>(limits: limits, givesUp: givesUp)
        machine.want(true)
        machine.leaseTaken(Epoch(1))
        machine.opened(Cursor())
        machine.messagesRead(numbers.map(SimulatedItem.init))
        return machine
    }

    private static let fault = TransactionFailure.permanent(Fault(.error, "bad"))

    @Test(
        "parks a lone failing message, puts later ones of its key behind it, goes on with the others, gives it up at last"
    )
    func poisonIsParked() throws {
        var machine = Self.machine(with: [1, 2, 4])
        machine.failed(Self.fault, handling: 3)
        guard case .handle(let first, _, _) = machine.nextStep(at: .now), first.items.map(\.number) == [1] else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
        machine.failed(Self.fault, handling: 1)
        guard case .park(let failed, _, _) = machine.nextStep(at: .now), failed.attempts == 1 else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
        let later = ContinuousClock.now + .seconds(60)
        let parked = Parked<Int64>(key: 1, position: Position(1), attempts: 1, retryAt: later)
        machine.committed(Cursor(number: 1, position: Position(1)), parking: parked)
        guard case .handle(let second, _, _) = machine.nextStep(at: .now), second.handled.map(\.number) == [2] else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
        machine.committed(Cursor(number: 2, position: Position(2)), handled: 1, next: [])
        guard case .handle(let third, _, _) = machine.nextStep(at: .now), third.diverted == [Position(4)] else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
        machine.committed(Cursor(number: 3, position: Position(4)), handled: 1, next: [])
        guard case .retry(parked, _, _) = machine.nextStep(at: later) else {
            throw Unexpected(step: machine.nextStep(at: later))
        }
        machine.failed(Self.fault, retrying: parked, SimulatedItem(number: 1))
        guard case .giveUp(let dead, _, _) = machine.nextStep(at: later), dead.attempts == 2 else {
            throw Unexpected(step: machine.nextStep(at: later))
        }
        let next = Parked<Int64>(key: 1, position: Position(4), attempts: 0, retryAt: .now)
        machine.committed(Cursor(number: 4, position: Position(4)), ending: parked, next: next)
        machine.messagesRead([])
        guard case .retry(next, _, _) = machine.nextStep(at: later) else {
            throw Unexpected(step: machine.nextStep(at: later))
        }
    }

    @Test("one that may skip nothing keeps it parked however often it fails, until an operator discards it")
    func neverGivenUp() throws {
        var machine = Self.machine(givesUp: false, with: [1])
        machine.failed(Self.fault, handling: 1)
        var parked = Parked<Int64>(key: 1, position: Position(1), attempts: 1, retryAt: .now)
        for attempts in 1...100 {
            guard case .park(let failed, _, _) = machine.nextStep(at: .now), failed.attempts == attempts else {
                throw Unexpected(step: machine.nextStep(at: .now))
            }
            parked.attempts = attempts
            machine.committed(Cursor(number: Int64(attempts), position: Position(1)), parking: parked)
            machine.messagesRead([])
            machine.failed(Self.fault, retrying: parked, SimulatedItem(number: 1))
        }
        machine.committed(Cursor(number: 101, position: Position(1)), parking: parked)
        parked.isDiscarded = true
        machine.parkedRead([parked], crashes: [:])
        let isRefused = machine.refuse(parked, SimulatedItem(number: 1))
        guard isRefused, case .giveUp(let dead, _, _) = machine.nextStep(at: .now), dead.fault.code == .discarded else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
    }

    @Test("a partition with too much parked waits for the next failing one instead of growing")
    func parkedIsBounded() throws {
        var machine = Self.machine(parkedKeys: 1, with: [1, 2])
        machine.failed(Self.fault, handling: 1)
        let later = ContinuousClock.now + .seconds(60)
        machine.committed(
            Cursor(number: 1, position: Position(1)),
            parking: Parked(key: 1, position: Position(1), attempts: 1, retryAt: later))
        for _ in 0..<2 {
            guard case .handle = machine.nextStep(at: .now) else { throw Unexpected(step: machine.nextStep(at: .now)) }
            machine.failed(Self.fault, handling: 1)
            guard case .backOff = machine.nextStep(at: .now) else { throw Unexpected(step: machine.nextStep(at: .now)) }
            machine.backedOff()
        }
        guard case .giveUp(let dead, _, _) = machine.nextStep(at: .now), dead.item.number == 2 else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
    }

    @Test("releases between batches when the partition is no longer its share")
    func releases() throws {
        var machine = Self.machine(with: [1])
        machine.want(false)
        guard case .release(Epoch(1)) = machine.nextStep(at: .now) else {
            throw Unexpected(step: machine.nextStep(at: .now))
        }
        machine.released()
        guard case .wait = machine.nextStep(at: .now) else { throw Unexpected(step: machine.nextStep(at: .now)) }
    }

    struct Unexpected: Error { let step: PartitionMachine<SimulatedItem>.Step }
}

@Suite
struct ShareTests {
    @Test("covers every partition once, and processes differ by at most one", arguments: 1...5, 1...3)
    func fair(processes: Int, workers: Int) {
        var generator = SeededGenerator(seed: UInt64(processes * 10 + workers))
        for partitions in Int32(1)...17 {
            let members = (0..<processes).map { _ in
                (0..<workers).map {
                    Member(owner: OwnerID.derived(at: .now, from: Array("\(generator.next())".utf8)), slot: Int32($0))
                }
            }
            let all = members.flatMap { $0 }.shuffled(using: &generator)
            let shares = members.map { process in process.map { $0.share(of: partitions, among: all) } }
            let flat = shares.flatMap { $0 }.flatMap { $0 }
            #expect(flat.count == Int(partitions) && Set(flat).count == flat.count)
            let loads = shares.map { $0.map(\.count).reduce(0, +) }
            #expect(loads.max()! - loads.min()! <= 1)
        }
    }

    @Test("is empty for a member that the others don't see")
    func stranger() {
        let member = Member(owner: .new(), slot: 0)
        #expect(member.share(of: 8, among: [Member(owner: .new(), slot: 0)]).isEmpty)
    }
}
