import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

@Suite
struct PartitionMachineTests {
    private typealias Machine = PartitionMachine<SimulatedItem>

    @Test(
        """
        handles every message once, in its key's order, whatever fails, crashes, pauses, repeats or stays unknown \
        meanwhile; gives up only what fails by its own fault or crashes its owners
        """,
        arguments: 0..<400)
    func exactlyOnceInOrder(seed: UInt64) {
        var simulation = Simulation(seed: seed, workers: 3, faults: .all)
        simulation.run(messages: 60, steps: 3000)
        simulation.settle()
        let story = "seed \(seed): \(simulation.history.suffix(30).joined(separator: "\n"))"
        let effects = simulation.partition.effects
        #expect(effects.sorted() == Self.numbers(simulation), "\(story)")
        for key in 0..<Int64(3) {
            // Later ones don't wait for one that can't be read.
            let ofKey = effects.filter { $0 % 3 == key && !Simulation.isNewKind($0) }
            #expect(ofKey == ofKey.sorted(), "\(story)")
        }
        let codes = Dictionary(
            uniqueKeysWithValues: effects.filter { Simulation.isPoison($0) || Simulation.isTrap($0) }
                .map { ($0, Simulation.isTrap($0) ? Fault.Code.crashed : .error) })
        #expect(simulation.partition.givenUp == codes, "\(story)")
        #expect(simulation.broken.isEmpty, "seed \(seed): \(simulation.broken)")
    }

    private static func numbers(_ simulation: Simulation) -> [Int64] {
        Array((0..<simulation.partition.length).map { $0 + 1 })
    }

    @Test("without the fence the same runs do things twice")
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

    // MARK: One machine, step by step

    private static let start = ContinuousClock.now
    private static let fault = TransactionFailure.failed(Fault(.error, "bad"))
    private static let trouble = TransactionFailure.failed(Fault(.trouble, "disk full"))

    private static func machine(
        batch: Int = 4, parkedKeys: Int = 10, probes: Int = 8, givesUp: Bool = true,
        ordering: Ordering<SimulatedItem> = .byKey, with numbers: [Int64]
    ) -> Machine {
        var limits = Machine.Limits()
        (limits.batch, limits.attempts, limits.parkedKeys, limits.probes) = (batch, 2, parkedKeys, probes)
        limits.leastTime = .seconds(1)
        var machine = Machine(limits: limits, givesUp: givesUp, ordering: ordering)
        machine.want(true)
        machine.leaseTaken(Epoch(1))
        machine.opened(Cursor())
        machine.messagesRead(numbers.map(SimulatedItem.init), at: start)
        return machine
    }

    private static func work(
        _ machine: Machine, at now: ContinuousClock.Instant = start, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Work<SimulatedItem> {
        guard case .handle(let work, _, _) = machine.nextStep(at: now) else {
            Issue.record("\(machine.nextStep(at: now))", sourceLocation: sourceLocation)
            throw Unexpected(machine.nextStep(at: now))
        }
        return work
    }

    /// Commits what the machine has in hand; what it holds waits for `pause`.
    private static func commit(
        _ machine: inout Machine, pause: Duration = .seconds(60), at now: ContinuousClock.Instant = start
    ) throws {
        let work = try work(machine, at: now)
        machine.committed(
            Cursor(number: 1, position: work.items.last?.position ?? .start), work,
            parking: work.held.map { $0.parked(for: pause, at: start) }, at: start)
    }

    @Test("parks a lone failing message with later ones of its key, goes on with the others, and gives it up at last")
    func poisonIsParked() throws {
        var machine = Self.machine(with: [1, 2, 4])
        machine.failed(Self.fault, handling: try Self.work(machine), at: Self.start)
        let first = try Self.work(machine)
        #expect(first.handled.map(\.number) == [1])
        machine.failed(Self.fault, handling: first, at: Self.start)
        let parking = try Self.work(machine)
        #expect(parking.held.map(\.item.number) == [1] && parking.handled.isEmpty && parking.items.count == 1)
        try Self.commit(&machine)
        #expect(try Self.work(machine).handled.map(\.number) == [2])
        try Self.commit(&machine)
        #expect(try Self.work(machine).diverted == [Position(4)])
        try Self.commit(&machine)
        machine.messagesRead([], at: Self.start)
        let later = Self.start + .seconds(60)
        guard case .retry(let parked, _, _) = machine.nextStep(at: later), parked.position == Position(1) else {
            throw Unexpected(machine.nextStep(at: later))
        }
        machine.failed(Self.fault, retrying: parked, SimulatedItem(number: 1), at: later)
        guard case .giveUp(let dead, _, _) = machine.nextStep(at: later), dead.attempts == 2 else {
            throw Unexpected(machine.nextStep(at: later))
        }
        let next = Parked<Int64>(key: 1, position: Position(4), cause: nil, attempts: 0, since: later, retryAt: later)
        machine.committed(Cursor(number: 4, position: Position(4)), givingUp: dead, next: next)
        guard case .retry(next, _, _) = machine.nextStep(at: later) else {
            throw Unexpected(machine.nextStep(at: later))
        }
    }

    @Test("gives nothing up before the least time is over, however often it failed")
    func notTooEarly() throws {
        var machine = Self.machine(with: [1])
        machine.failed(Self.fault, handling: try Self.work(machine), at: Self.start)
        try Self.commit(&machine, pause: .zero)
        machine.messagesRead([], at: Self.start)
        for attempts in 2...10 {
            guard case .retry(let parked, _, _) = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.failed(Self.fault, retrying: parked, SimulatedItem(number: 1), at: Self.start)
            guard case .parkAgain(let failed, _, _) = machine.nextStep(at: Self.start), failed.attempts == attempts
            else { throw Unexpected(machine.nextStep(at: Self.start)) }
            machine.committed(
                Cursor(number: 1, position: Position(1)), parking: failed.parked(for: .zero, at: Self.start),
                again: parked, next: nil)
        }
    }

    @Test("parks what fails by trouble only when a message of another key gets through")
    func troubleOfOne() throws {
        var machine = Self.machine(with: [1, 4, 2])
        machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start)
        machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start)
        let probe = try Self.work(machine)
        #expect(probe.held.map(\.item.number) == [1] && probe.diverted == [Position(4)])
        #expect(probe.handled.map(\.number) == [2])
        try Self.commit(&machine)
        #expect(machine.parked.count == 1 && machine.trouble == nil)
    }

    @Test("rests and parks nothing while nothing gets through, then begins again with the first message")
    func troubleOfAll() throws {
        var machine = Self.machine(probes: 2, with: [1, 2, 3])
        machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start)
        for _ in 0..<2 { machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start) }
        guard case .rest(attempt: 1) = machine.nextStep(at: Self.start), machine.trouble == "disk full" else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        #expect(machine.parked.isEmpty)
        let end = Self.start + .seconds(1)
        machine.rest(until: end)
        guard case .wait = machine.nextStep(at: Self.start), machine.nextWake(after: Self.start) == end else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        #expect(machine.nextWake(after: end) == nil)
        let again = try Self.work(machine, at: end)
        #expect(again.handled.map(\.number) == [1] && again.held.isEmpty)
        try Self.commit(&machine, at: end)
        #expect(machine.trouble == nil)
    }

    @Test("a new lease starts without the pause, the trouble and the messages of the last one")
    func nothingOutlivesItsLease() throws {
        var machine = Self.machine(probes: 1, with: [1, 2])
        for _ in 0..<2 { machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start) }
        machine.rest(until: Self.start + .seconds(60))
        machine.leaseLost()
        guard case .takeLease = machine.nextStep(at: Self.start), machine.nextWake(after: Self.start) == nil else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.leaseTaken(Epoch(2))
        machine.opened(Cursor())
        guard case .read(after: .start) = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.messagesRead([1, 2].map(SimulatedItem.init), at: Self.start)
        #expect(try Self.work(machine).handled.map(\.number) == [1, 2])
        #expect(machine.trouble == nil)
    }

    @Test("keeps resting with a lone failing key until a message of another key comes")
    func troubleOfTheOnlyOne() throws {
        var machine = Self.machine(batch: 2, with: [1])
        for attempt in 1...3 {
            machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start)
            guard case .rest(attempt: attempt) = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.rest(until: Self.start)
        }
        machine.ring()
        machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start)
        guard case .read(after: Position(1)) = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.messagesRead([SimulatedItem(number: 2)], at: Self.start)
        let probe = try Self.work(machine)
        #expect(probe.held.map(\.item.number) == [1] && probe.handled.map(\.number) == [2])
    }

    @Test("retries the others at once when one parked by trouble gets through")
    func troublePasses() throws {
        var machine = Self.machine(with: [1, 2, 3])
        machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start)
        for _ in 0..<2 { machine.failed(Self.trouble, handling: try Self.work(machine), at: Self.start) }
        try Self.commit(&machine)
        machine.messagesRead([], at: Self.start)
        let parked = machine.parked.sorted { $0.position < $1.position }
        try #require(parked.map(\.position) == [Position(1), Position(2)])
        guard case .wait = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.committed(Cursor(number: 2, position: Position(3)), retrying: parked[0], next: nil, at: Self.start)
        guard case .retry(let other, _, _) = machine.nextStep(at: Self.start), other.position == Position(2) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
    }

    @Test("a consumer that may skip nothing keeps a failing message parked until an operator discards it")
    func neverGivenUp() throws {
        var machine = Self.machine(givesUp: false, with: [1])
        machine.failed(Self.fault, handling: try Self.work(machine), at: Self.start)
        try Self.commit(&machine, pause: .zero)
        machine.messagesRead([], at: Self.start)
        let end = Self.start + .seconds(86_400)
        for attempts in 2...100 {
            guard case .retry(let parked, _, _) = machine.nextStep(at: end) else {
                throw Unexpected(machine.nextStep(at: end))
            }
            machine.failed(Self.fault, retrying: parked, SimulatedItem(number: 1), at: end)
            guard case .parkAgain(let failed, _, _) = machine.nextStep(at: end), failed.attempts == attempts else {
                throw Unexpected(machine.nextStep(at: end))
            }
            machine.committed(
                Cursor(number: 1, position: Position(1)), parking: failed.parked(for: .zero, at: end), again: parked,
                next: nil)
        }
        guard case .retry(var parked, _, _) = machine.nextStep(at: end) else {
            throw Unexpected(machine.nextStep(at: end))
        }
        parked.isDiscarded = true
        let isRefused = machine.refuse(parked, SimulatedItem(number: 1), at: end)
        guard isRefused, case .giveUp(let dead, _, _) = machine.nextStep(at: end), dead.fault.code == .discarded else {
            throw Unexpected(machine.nextStep(at: end))
        }
    }

    @Test("gives up, untried, what ended three leases; a consumer that may skip nothing retries it now and then")
    func traps() throws {
        for givesUp in [true, false] {
            var machine = Self.machine(givesUp: givesUp, with: [])
            machine.leaseLost()
            machine.leaseTaken(Epoch(4), wasLost: true)
            machine.opened(Cursor(), crashes: [Position(1): 3])
            machine.messagesRead([1, 2].map(SimulatedItem.init), at: Self.start)
            guard !givesUp else {
                guard case .giveUp(let dead, _, _) = machine.nextStep(at: Self.start), dead.fault.code == .crashed
                else {
                    throw Unexpected(machine.nextStep(at: Self.start))
                }
                continue
            }
            let work = try Self.work(machine)
            #expect(work.held.map(\.item.number) == [1] && work.handled.isEmpty)
            try Self.commit(&machine)
            #expect(try Self.work(machine).handled.map(\.number) == [2])
            let later = Self.start + .seconds(60)
            try Self.commit(&machine)
            machine.messagesRead([], at: Self.start)
            guard case .retry(let parked, _, _) = machine.nextStep(at: later), parked.cause == .crashed else {
                throw Unexpected(machine.nextStep(at: later))
            }
            let isRefused = machine.refuse(parked, SimulatedItem(number: 1), at: later)
            #expect(!isRefused)
        }
    }

    /// What can't be read waits in the order -1, and what is tried by itself in one above 100.
    private static let families = Ordering<SimulatedItem>(
        key: { $0.orderKey }, unreadable: { _, _ in -1 }, alone: { 100 + $0.number }, isUrgent: { _ in false })

    @Test("what can't be read waits by itself: later messages of its key go on")
    func unreadable() throws {
        var machine = Self.machine(batch: 1, ordering: Self.families, with: [1, 4, 7])
        let unknown = TransactionFailure.failed(Fault(.unknown, "a newer kind", needs: "new"))
        machine.failed(unknown, handling: try Self.work(machine), at: Self.start)
        try Self.commit(&machine)
        #expect(try Self.work(machine).handled.map(\.number) == [4])
        // The second one doesn't take the first one's place.
        machine.failed(unknown, handling: try Self.work(machine), at: Self.start)
        try Self.commit(&machine)
        #expect(machine.parked.map(\.position) == [Position(1)] && machine.parked.map(\.key) == [-1])
        #expect(try Self.work(machine).handled.map(\.number) == [7])
        try Self.commit(&machine)
        // A replica that can read it parks it in its own order if it fails there.
        let later = Self.start + .seconds(60)
        machine.messagesRead([], at: Self.start)
        guard case .retry(let parked, _, _) = machine.nextStep(at: later) else {
            throw Unexpected(machine.nextStep(at: later))
        }
        machine.failed(Self.trouble, retrying: parked, SimulatedItem(number: 1), at: later)
        guard case .parkAgain(let failed, _, _) = machine.nextStep(at: later), failed.key == 1 else {
            throw Unexpected(machine.nextStep(at: later))
        }
        let next = Parked<Int64>(key: -1, position: Position(4), cause: nil, attempts: 0, since: later, retryAt: later)
        machine.committed(
            Cursor(number: 4, position: Position(7)), parking: failed.parked(for: .seconds(60), at: later),
            again: parked,
            next: next)
        #expect(Set(machine.parked.map(\.key)) == [-1, 1])
    }

    @Test("what nobody would send again is tried on by itself for a day, while later messages of its key go on")
    func alone() throws {
        var machine = Self.machine(ordering: Self.families, with: [1])
        machine.failed(Self.fault, handling: try Self.work(machine), at: Self.start)
        try Self.commit(&machine, pause: .seconds(60))
        machine.messagesRead([SimulatedItem(number: 4)], at: Self.start)
        #expect(try Self.work(machine).diverted == [Position(4)])
        func retry(after time: Duration) throws -> (FailedMessage<SimulatedItem>, Parked<Int64>) {
            let now = Self.start + time
            guard case .retry(let parked, _, _) = machine.nextStep(at: now) else {
                throw Unexpected(machine.nextStep(at: now))
            }
            machine.failed(Self.fault, retrying: parked, SimulatedItem(number: 1), at: now)
            switch machine.nextStep(at: now) {
            case .parkAgain(let failed, _, _), .giveUp(let failed, _, _): return (failed, parked)
            case let other: throw Unexpected(other)
            }
        }
        let (failed, former) = try retry(after: .seconds(60))
        #expect(failed.key == 101)
        let again = failed.parked(for: .zero, at: Self.start)
        machine.committed(Cursor(number: 2, position: Position(1)), parking: again, again: former, next: nil)
        let work = try Self.work(machine, at: Self.start)
        #expect(work.handled.map(\.number) == [4] && work.diverted.isEmpty)
        try Self.commit(&machine)
        machine.messagesRead([], at: Self.start)
        #expect(try retry(after: .seconds(86_399)).0.key == 101)
        machine.committed(Cursor(number: 3, position: Position(4)), parking: again, again: again, next: nil)
        let end = Self.start + .seconds(86_401)
        let (dead, _) = try retry(after: .seconds(86_401))
        guard case .giveUp = machine.nextStep(at: end), dead.key == 101 else {
            throw Unexpected(machine.nextStep(at: end))
        }
    }

    @Test("what lost three connections is parked untried, and tried now and then, but never given up")
    func losses() throws {
        var machine = Self.machine(with: [])
        machine.leaseLost()
        machine.leaseTaken(Epoch(4), wasLost: true)
        machine.opened(Cursor(), losses: [Position(1): 3])
        machine.messagesRead([1, 2].map(SimulatedItem.init), at: Self.start)
        let work = try Self.work(machine)
        #expect(work.held.map(\.item.number) == [1] && work.handled.isEmpty && work.held.map(\.fault.code) == [.lost])
        try Self.commit(&machine)
        #expect(try Self.work(machine).handled.map(\.number) == [2])
        let later = Self.start + .seconds(86_400)
        let parked = Parked<Int64>(
            key: 1, position: Position(1), cause: .lost, attempts: 3, since: Self.start, retryAt: later)
        func openAgain(_ losses: [Position: Int]) -> Bool {
            machine.leaseLost()
            machine.leaseTaken(Epoch(5), wasLost: true)
            machine.opened(Cursor(number: 1, position: Position(2)), parked: [parked], losses: losses)
            return machine.refuse(parked, SimulatedItem(number: 1), at: later)
        }
        let (isRefused, isRefusedAfterALoss) = (openAgain([:]), openAgain([Position(1): 1]))
        #expect(!isRefused && isRefusedAfterALoss)
        guard case .parkAgain(let failed, _, _) = machine.nextStep(at: later), failed.attempts == 4 else {
            throw Unexpected(machine.nextStep(at: later))
        }
    }

    @Test("a partition with too much parked stops at the next failing message instead of growing, and says so")
    func parkedIsBounded() throws {
        var machine = Self.machine(parkedKeys: 1, with: [1, 2])
        machine.failed(Self.fault, handling: try Self.work(machine), at: Self.start)
        machine.failed(Self.fault, handling: try Self.work(machine), at: Self.start)
        try Self.commit(&machine)
        let later = Self.start + .seconds(2)
        for now in [Self.start, later] {
            machine.failed(Self.fault, handling: try Self.work(machine, at: now), at: now)
            guard case .rest = machine.nextStep(at: now) else { throw Unexpected(machine.nextStep(at: now)) }
            #expect(machine.trouble?.hasPrefix("no more keys can be parked") == true)
            machine.rest(until: Self.start)
        }
        guard case .giveUp(let dead, _, _) = machine.nextStep(at: later), dead.item.number == 2 else {
            throw Unexpected(machine.nextStep(at: later))
        }
    }

    @Test("releases between batches when the partition is no longer its share")
    func releases() throws {
        var machine = Self.machine(with: [1])
        machine.want(false)
        guard case .release(Epoch(1)) = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.leaseLost()
        guard case .wait = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
    }

}

@Suite
struct ShareTests {
    @Test("shares cover every partition once, and processes' shares differ by at most one", arguments: 1...5, 1...3)
    func fair(processes: Int, workers: Int) {
        var generator = SeededRandom(seed: UInt64(processes * 10 + workers))
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

    @Test("the share of a member that others don't see is empty")
    func stranger() {
        let member = Member(owner: .new(), slot: 0)
        #expect(member.share(of: 8, among: [Member(owner: .new(), slot: 0)]).isEmpty)
    }

    @Test("a partition with unknown messages goes to members that may know them, and to all if none does")
    func needs() {
        let (old, fresh) = (Member(owner: .new(), slot: 0, cannot: ["A@2"]), Member(owner: .new(), slot: 0))
        let needs = [Partition(0): Set(["A@2"]), Partition(1): ["A@2"]]
        #expect(old.share(of: 4, among: [old, fresh], needs: needs).isDisjoint(with: needs.keys))
        #expect(fresh.share(of: 4, among: [old, fresh], needs: needs).isSuperset(of: needs.keys))
        #expect(old.share(of: 4, among: [old], needs: needs).count == 4)
        let all = old.share(of: 4, among: [old, fresh], needs: needs)
            .union(fresh.share(of: 4, among: [old, fresh], needs: needs))
        #expect(all.count == 4)
    }
}
