import Testing
import Vocabulary

@testable import Bus

@Suite
struct PartitionMachineTests {
    @Test(
        "handles every message once and in order, whatever crashes, pauses, repeats or stays unknown",
        arguments: 0..<300)
    func exactlyOnceInOrder(seed: UInt64) {
        var simulation = Simulation(seed: seed, workers: 3, faults: .all)
        simulation.run(messages: 60, steps: 3000)
        simulation.settle()
        #expect(
            simulation.partition.effects
                == Array(1...max(1, simulation.partition.length)).filter { $0 <= simulation.partition.length },
            "seed \(seed): \(simulation.history.suffix(20).joined(separator: "\n"))")
        #expect(simulation.givenUp == Set(simulation.partition.effects.filter { $0 % 13 == 0 }), "seed \(seed)")
    }

    @Test("needs the batch's key: without the fence the same run does things twice")
    func theFenceIsWhatKeepsIt() {
        let broken = (0..<300).contains { seed in
            var simulation = Simulation(seed: UInt64(seed), workers: 3, faults: .all)
            simulation.fence = false
            simulation.run(messages: 60, steps: 3000)
            simulation.settle()
            return simulation.partition.effects != Array(1...max(1, simulation.partition.length))
        }
        #expect(broken)
    }

    @Test("gives a lone failing message back-off between its tries, then gives it up and goes on")
    func poisonIsGivenUp() throws {
        var machine = PartitionMachine<Int64>(limits: .init(batch: 4, attempts: 2))
        machine.want(true)
        machine.leaseTaken(Epoch(1))
        machine.cursorRead(Cursor())
        machine.messagesRead([1, 2])
        machine.failed(.permanent("bad"), handling: 2)
        guard case .handle([1], _, _) = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
        machine.failed(.permanent("bad"), handling: 1)
        guard case .backOff(1) = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
        machine.backedOff()
        guard case .handle([1], _, _) = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
        machine.failed(.permanent("bad"), handling: 1)
        machine.backedOff()
        guard case .giveUp(1, _, _, "bad") = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
        machine.committed(Cursor(number: 1, position: Position(1)), handled: 1, next: [])
        guard case .handle([2], _, _) = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
    }

    @Test("releases between batches when the partition is no longer its share")
    func releases() throws {
        var machine = PartitionMachine<Int64>(limits: .init())
        machine.want(true)
        machine.leaseTaken(Epoch(3))
        machine.cursorRead(Cursor())
        machine.messagesRead([1])
        machine.want(false)
        guard case .release(Epoch(3)) = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
        machine.released()
        guard case .wait = machine.nextStep() else { throw Unexpected(step: machine.nextStep()) }
    }

    struct Unexpected: Error { let step: PartitionMachine<Int64>.Step }
}

@Suite
struct ShareTests {
    @Test("covers every partition once, and processes differ by at most one", arguments: 1...5, 1...3)
    func fair(processes: Int, workers: Int) {
        var generator = SeededGenerator(seed: UInt64(processes * 10 + workers))
        for partitions in Int32(1)...17 {
            let members = (0..<processes).map { _ in
                (0..<workers).map { Member(owner: OwnerID.new(at: .now, using: &generator), slot: Int32($0)) }
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
