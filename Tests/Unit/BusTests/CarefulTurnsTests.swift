import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

/// One worker's machines, pass by pass, beside another worker. Each partition always has messages to handle and something parked that
/// is due.
private struct CarefulSimulation {
    private typealias Machine = PartitionMachine<SimulatedItem>

    static let partitions = 4

    private let turn = FairTurn()
    private var turns: CarefulTurns
    private let other = FairTurn.Claimant()
    private var machines: [Machine]
    private var generator: SeededRandom
    private var now = ContinuousClock.now
    /// Whether the other one wants the turn, and until when it has it.
    private var otherWants = false
    private var otherUntil: ContinuousClock.Instant?
    private var next = Int64(101)
    /// How many careful transactions of other partitions there were since each wanted one.
    private var waited = [Int](repeating: 0, count: partitions)

    private(set) var broken: [String] = []
    private(set) var careful = [Int](repeating: 0, count: partitions)
    private(set) var handled = [Int](repeating: 0, count: partitions)
    private(set) var waits = 0
    /// How many careful transactions there were in one pass.
    private(set) var most = 0

    init(seed: UInt64) {
        generator = SeededRandom(seed: seed)
        turns = CarefulTurns(turn, for: FairTurn.Claimant())
        let start = now
        machines = (0..<Self.partitions).map { index in
            var machine = Machine(limits: TurnSimulation.limits, ordering: TurnSimulation.ordering)
            machine.want(true)
            // One of them has to be careful with its queue as well.
            machine.leaseTaken(Epoch(1), wasLost: index == 1)
            machine.opened(
                Cursor(position: Position(100)), parked: index == 3 ? [] : (1...2).map { Self.parked($0, at: start) })
            return machine
        }
    }

    private static func parked(_ number: Int64, at now: ContinuousClock.Instant) -> Parked<Int64> {
        Parked(
            key: TurnSimulation.key(of: number), position: Position(number), cause: .error, attempts: 1, since: now,
            retryAt: now)
    }

    mutating func run(passes: Int) { for _ in 0..<passes { pass() } }

    private mutating func advanceTheOther() {
        if let end = otherUntil, now >= end {
            turn.end(at: now)
            otherUntil = nil
        }
        if otherUntil == nil, Double.random(in: 0..<1, using: &generator) < 0.01 { otherWants = true }
        if otherWants, turn.take(for: other, at: now) {
            otherWants = false
            otherUntil = now + .milliseconds(Int.random(in: 1...100, using: &generator))
        }
    }

    private mutating func pass() {
        now += .milliseconds(1)
        advanceTheOther()
        turns.beginPass()
        var served: Set<Int> = []
        while let index = begin(isFirst: served.isEmpty) {
            if !served.insert(index).inserted { broken.append("\(index) has two turns in a pass") }
            let time = now
            let isReady = machines.map { $0.nextStep(at: time).needsCare }
            if !isReady[index] { broken.append("\(index) needs no care") }
            perform(machines[index].nextStep(at: now), index)
            now += .milliseconds(1)
            turns.end(at: now)
            careful[index] += 1
            for other in machines.indices {
                waited[other] = other == index || !isReady[other] ? 0 : waited[other] + 1
                if waited[other] >= Self.partitions { broken.append("\(other) waits for its turn") }
            }
        }
        if turns.isWaiting { waits += 1 }
        most = max(most, served.count)
        for index in machines.indices {
            let step = machines[index].nextStep(at: now, mayTakeCare: false)
            if step.needsCare { broken.append("\(index) takes care without the turn") }
            perform(step, index)
            if machines[index].trouble != nil { broken.append("\(index) is in trouble") }
        }
    }

    private mutating func begin(isFirst: Bool) -> Int? {
        let (time, before) = (now, machines)
        let isReady = before.map { $0.nextStep(at: time).needsCare }
        let index = turns.next(
            at: now, among: Self.partitions, isReady: { isReady[$0] }, wants: { before[$0].wantsCare(at: time) })
        guard isFirst else { return index }
        if (index == nil) == (otherUntil == nil), isReady.contains(true) {
            broken.append("\(index ?? -1) has the turn")
        }
        if turns.isWaiting != (index == nil && isReady.contains(true)) { broken.append("waits for nothing") }
        return index
    }

    private mutating func perform(_ step: Machine.Step, _ index: Int) {
        switch step {
        case .read:
            machines[index].messagesRead([SimulatedItem(number: next)], at: now)
            next += 1
        case .handle(let work, let cursor, _):
            handled[index] += 1
            let committed = Cursor(number: cursor.number + 1, position: work.items.last?.position ?? .start)
            machines[index].committed(committed, work, at: now)
            machines[index].ring()
        case .retry(let parked, _, _):
            let item = SimulatedItem(number: parked.position.number)
            machines[index].failed(.failed(Fault(.error, "bad")), retrying: parked, item, at: now)
        case .parkAgain(let failed, let cursor, _), .giveUp(let failed, let cursor, _):
            guard let former = failed.former else { return broken.append("settles what wasn't parked") }
            machines[index].committed(
                Cursor(number: cursor.number + 1, position: cursor.position),
                parking: Self.parked(failed.item.number, at: now), again: former, next: nil)
        case .wait:
            // Only for its turn, for which it is rung.
            if machines[index].nextWake(after: now, mayTakeCare: false) != nil {
                broken.append("\(index) wakes in vain")
            }
        case .rest, .takeLease, .open, .release: broken.append("\(index): \(step)")
        }
    }
}

/// Several workers that have nothing else to do want turns all the time, perhaps beside some that have and want short ones.
private struct LineSimulation {
    private struct Worker {
        let bell = Bell()
        var turns: CarefulTurns
        /// How long the rest of its passes takes; nil if it has nothing else to do.
        let pass: Duration?
        let length: Duration
        /// When it wants the turn or looks for it again, whatever rings.
        var looksAt: ContinuousClock.Instant
        var wantsSince: ContinuousClock.Instant
        /// Until when it has the turn,
        var hasUntil: ContinuousClock.Instant?
        /// or waits in the line.
        var waitsUntil: ContinuousClock.Instant?
        var isThere = false
        var waits: [Duration] = []

        init(_ turn: FairTurn, length: Duration, pass: Duration?, at start: ContinuousClock.Instant) {
            turns = CarefulTurns(turn, for: FairTurn.Claimant(ringing: bell))
            turns.rest = pass ?? .zero
            (self.length, self.pass) = (length, pass)
            (looksAt, wantsSince) = (start, start)
        }

        mutating func advance(to now: ContinuousClock.Instant) {
            if let end = hasUntil {
                guard now >= end else { return }
                turns.end(at: now)
                (hasUntil, wantsSince, looksAt) = (nil, now, now + (pass ?? .milliseconds(5)))
                return
            }
            let isCalled = isThere && bell.take().turn
            guard isCalled || now >= looksAt else { return }
            turns.beginPass()
            if turns.next(at: now, among: 1, isReady: { _ in true }, wants: { _ in true }) != nil {
                waits.append(now - wantsSince)
                (hasUntil, waitsUntil, isThere) = (now + length, nil, false)
            } else if let pass, waitsUntil.map({ now >= $0 }) ?? !turns.isWorthWaiting(at: now) {
                (waitsUntil, looksAt, isThere) = (nil, now + pass, false)
            } else {
                turns.turn.stays(turns.claimant)
                isThere = true
                looksAt = turns.nextGlance(at: now) ?? now
                guard pass != nil else { return }
                let end = waitsUntil ?? now + turns.patience
                (waitsUntil, looksAt) = (end, min(looksAt, end))
            }
        }
    }

    private var workers: [Worker]
    private var now: ContinuousClock.Instant

    init(_ count: Int, length: Duration, beside pass: Duration?, times: Int = 1) {
        let (turn, start) = (FairTurn(), ContinuousClock.now)
        workers = (0..<count).map { _ in Worker(turn, length: length, pass: nil, at: start) }
        if let pass {
            workers += (0..<times).map { _ in Worker(turn, length: .milliseconds(20), pass: pass, at: start) }
        }
        now = start
    }

    /// How long those with long passes waited for each of their turns, their passes included.
    var waits: [Duration] { workers.filter { $0.pass != nil }.flatMap(\.waits) }

    /// How many turns the others had.
    var others: Int { workers.filter { $0.pass == nil }.reduce(0) { $0 + $1.waits.count } }

    mutating func run(milliseconds: Int) {
        for _ in 0..<milliseconds {
            now += .milliseconds(1)
            for index in workers.indices { workers[index].advance(to: now) }
        }
    }
}

@Suite
struct CarefulTurnsTests {
    private static let start = ContinuousClock.now

    private static func time(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test(
        """
        a worker does one careful thing of each partition a pass, by turns, while the queues go on; it blocks for no other worker, and \
        that it waits counts for nothing
        """, arguments: 0..<20)
    func careful(seed: UInt64) {
        var simulation = CarefulSimulation(seed: seed)
        simulation.run(passes: 1500)
        #expect(simulation.broken.isEmpty, "\(simulation.broken.prefix(5))")
        let (careful, handled) = (simulation.careful, simulation.handled)
        #expect(careful[..<3].allSatisfy { $0 > 100 } && careful[3] == 0, "\(careful)")
        // A partition without any parked message never waits.
        #expect(handled[0] > 100 && handled[2] > 100 && handled[3] > 400, "\(handled)")
        #expect(simulation.waits > 5 && simulation.most == 3)
    }

    @Test(
        "in one pass, each partition has a turn of its own, until the worker has had the turn for 100 ms and as long as the rest took"
    )
    func share() {
        for (rest, step, count) in [(0, 20, 4), (0, 60, 2), (0, 200, 1), (800, 60, 4), (800, 300, 3), (800, 900, 1)] {
            var (turns, time) = (CarefulTurns(FairTurn(), for: FairTurn.Claimant()), 0)
            turns.rest = .milliseconds(rest)
            var served: [Int] = []
            for pass in 1...4 {
                turns.beginPass()
                while let index = turns.next(
                    at: Self.time(time), among: 4, isReady: { _ in true }, wants: { _ in true })
                {
                    served.append(index)
                    time += step
                    turns.end(at: Self.time(time))
                }
                #expect(served.count == pass * count && !turns.isWaiting)
            }
            #expect(served == served.indices.map { $0 % 4 })
        }
    }

    @Test("between two turns of a pass, those that are in the line have theirs")
    func shared() {
        let (turn, other) = (FairTurn(), FairTurn.Claimant())
        var turns = CarefulTurns(turn, for: FairTurn.Claimant())
        func next(at time: Int) -> Int? {
            turns.next(at: Self.time(time), among: 4, isReady: { _ in true }, wants: { _ in true })
        }
        turns.beginPass()
        #expect(next(at: 0) == 0)
        let isFree = turn.take(for: other, at: Self.time(10))
        turns.end(at: Self.time(20))
        #expect(!isFree && next(at: 20) == nil && turns.isWaiting)
        let hasTurn = turn.take(for: other, at: Self.time(21))
        turn.end(at: Self.time(40))
        #expect(hasTurn && next(at: 40) == 1)
    }

    @Test(
        """
        a worker that is away for long between its claims has each turn about as soon as it is there, beside two that always want \
        short ones; these lose little by it
        """, arguments: [50, 400, 800, 2700])
    func longPasses(pass: Int) {
        let time = 25 * (pass + 100)
        var alone = LineSimulation(2, length: .milliseconds(20), beside: nil)
        alone.run(milliseconds: time)
        var simulation = LineSimulation(2, length: .milliseconds(20), beside: .milliseconds(pass))
        simulation.run(milliseconds: time)
        let waits = simulation.waits
        #expect(waits.count >= 20 && waits.allSatisfy { $0 <= .milliseconds(pass + 100) }, "\(waits)")
        let least = pass < 100 ? 0.6 : 0.8
        #expect(Double(simulation.others) >= Double(alone.others) * least, "\(simulation.others) of \(alone.others)")
        #expect(alone.others > time / 25)
    }

    @Test(
        """
        beside longer turns, for all of which it can't wait, such a worker has its turn when it comes for the second time, because it \
        keeps its place; the others lose less than a third
        """, arguments: [400, 800, 2700])
    func longTurns(pass: Int) {
        let time = 25 * 2 * (pass + 270)
        var simulation = LineSimulation(3, length: .milliseconds(200), beside: .milliseconds(pass))
        simulation.run(milliseconds: time)
        let waits = simulation.waits
        #expect(waits.count >= 20 && waits.allSatisfy { $0 <= .milliseconds(2 * (pass + 250)) }, "\(waits)")
        #expect(simulation.others >= time / 200 * 2 / 3, "\(simulation.others)")
    }

    @Test(
        """
        workers with passes of seconds wait in the line for half as long: beside turns of a second, each has its own after a pass and \
        two turns of another, and the turn is seldom kept in vain
        """, arguments: [2100, 2700, 4000])
    func longWaits(pass: Int) {
        let time = 50 * (pass + 1000)
        var simulation = LineSimulation(1, length: .seconds(1), beside: .milliseconds(pass), times: 3)
        simulation.run(milliseconds: time)
        let waits = simulation.waits
        #expect(waits.count >= 135 && waits.allSatisfy { $0 <= .milliseconds(pass + 2000) }, "\(waits)")
        #expect(simulation.others >= time / 1000 * 9 / 10, "\(simulation.others)")
    }

    @Test("a worker with passes of 16 s gets the turn beside turns of 5.5 s, though it is away whenever that is kept")
    func slow() {
        var simulation = LineSimulation(1, length: .milliseconds(5500), beside: .seconds(16))
        simulation.run(milliseconds: 600_000)
        let waits = simulation.waits
        #expect(waits.count >= 15 && waits.allSatisfy { $0 <= .seconds(45) }, "\(waits)")
    }

    @Test(
        "turns are given in the order of the line; who asks again at once, or gives its place up, comes behind all others"
    )
    func line() {
        let (turn, claimants) = (FairTurn(), (0..<4).map { _ in FairTurn.Claimant() })
        var time = 0
        func takes() -> [Int] { claimants.indices.filter { turn.take(for: claimants[$0], at: Self.time(time)) } }
        func end() {
            time += 10
            turn.end(at: Self.time(time))
        }
        #expect(takes() == [0] && takes() == [])
        turn.drop(claimants[1])
        end()
        // Asked in another order than that of the line.
        let isFirst = [1, 3].contains { turn.take(for: claimants[$0], at: Self.time(time)) }
        #expect(!isFirst && turn.isNext(claimants[2], at: Self.time(time)))
        for expected in [2, 3, 0, 1, 2] {
            #expect(takes() == [expected])
            end()
        }
    }

    @Test("one that takes the turn again and again lets each of the others have it within two of its own turns")
    func greedy() {
        let (turn, greedy, others) = (FairTurn(), FairTurn.Claimant(), (0..<2).map { _ in FairTurn.Claimant() })
        var now = Self.start
        for _ in 0..<20 {
            var (waiting, turns) = (Array(others.indices), 0)
            while !waiting.isEmpty, turns < 5 {
                now += .milliseconds(1)
                if turn.take(for: greedy, at: now) {
                    turns += 1
                    let taken = waiting.map { turn.take(for: others[$0], at: now) }
                    #expect(!taken.contains(true))
                    now += .seconds(10)
                    turn.end(at: now)
                } else if let index = waiting.first(where: { turn.take(for: others[$0], at: now) }) {
                    waiting.removeAll { $0 == index }
                    now += .milliseconds(100)
                    turn.end(at: now)
                }
            }
            #expect(waiting.isEmpty && turns <= 2)
        }
    }

    @Test(
        """
        the turn is kept for the first in the line as long as the last one lasted, then for those behind that are there, then for \
        any; one that didn't come keeps its place
        """)
    func absent() {
        let bells = (0..<4).map { _ in Bell() }
        let (turn, claimants) = (FairTurn(), bells.map { FairTurn.Claimant(ringing: $0) })
        func takes(_ index: Int, at time: Int) -> Bool { turn.take(for: claimants[index], at: Self.time(time)) }
        func rung() -> [Bool] { bells.map { $0.take().turn } }
        let taken = claimants.indices.map { takes($0, at: 0) }
        #expect(taken == [true, false, false, false])
        turn.stays(claimants[3])
        turn.end(at: Self.time(1000))
        // The first one, and one that has to know until when that has time.
        #expect(rung() == [false, true, false, true] && turn.lapse(at: Self.time(1000)) == Self.time(2000))
        let isEarly = [2, 3].contains { takes($0, at: 1999) }
        turn.stays(claimants[3])
        let isAway = !takes(0, at: 2000)
        #expect(!isEarly && isAway && rung() == [false, false, false, true])
        #expect(turn.isNext(claimants[2], at: Self.time(2000)) && turn.lapse(at: Self.time(2000)) == Self.time(3000))
        let isNext = takes(3, at: 2000)
        turn.end(at: Self.time(2100))
        #expect(isNext && rung() == [false, true, false, false] && !turn.isNext(claimants[2], at: Self.time(2199)))
        let isFirst = takes(1, at: 2199)
        turn.end(at: Self.time(7199))
        #expect(isFirst && turn.lapse(at: Self.time(7199)) == Self.time(9699))
        let isLast = !takes(0, at: 9698) && takes(0, at: 9699)
        turn.end(at: Self.time(9700))
        #expect(isLast && turn.isNext(claimants[2], at: Self.time(9700)) && turn.lapse(at: Self.time(9701)) == nil)
    }

    @Test(
        """
        the turn isn't kept for one that hadn't asked for a lease and a half when the last one began, but for the next one at once; if it \
        comes after all, it has its place
        """, arguments: [7499, 7500])
    func hanging(begun: Int) {
        let bells = (0..<4).map { _ in Bell() }
        let (turn, claimants) = (FairTurn(), bells.map { FairTurn.Claimant(ringing: $0) })
        func takes(_ index: Int, at time: Int) -> Bool { turn.take(for: claimants[index], at: Self.time(time)) }
        func rung() -> [Bool] { bells.map { $0.take().turn } }
        let taken = (0..<3).map { takes($0, at: 0) }
        turn.stays(claimants[2])
        turn.end(at: Self.time(10))
        let isNext = takes(2, at: begun)
        let isLast = !takes(3, at: begun)
        turn.stays(claimants[3])
        #expect(taken == [true, false, false] && isNext && isLast && rung() == [false, true, true, false])
        let end = begun + 1000
        turn.end(at: Self.time(end))
        #expect(rung() == [false, begun < 7500, false, true])
        #expect(turn.isNext(claimants[3], at: Self.time(end)) == (begun >= 7500))
        let isFirst = takes(1, at: end)
        turn.end(at: Self.time(end + 10))
        let isFree = takes(0, at: end + 10_000)
        #expect(isFirst && isFree && rung() == [false, false, false, true])
        // It asked long ago, too, but is there.
        turn.end(at: Self.time(end + 10_010))
        #expect(rung() == [false, false, false, true])
    }

    @Test(
        "one that has woken isn't counted on until it claims the turn: another that is there has to know until when it is kept",
        arguments: [true, false])
    func awake(isThere: Bool) {
        let bells = (0..<3).map { _ in Bell() }
        let (turn, claimants) = (FairTurn(), bells.map { FairTurn.Claimant(ringing: $0) })
        let taken = claimants.map { turn.take(for: $0, at: Self.time(0)) }
        for claimant in claimants { turn.stays(claimant) }
        turn.stays(claimants[1], isThere: isThere)
        turn.end(at: Self.time(1000))
        #expect(taken == [true, false, false] && bells.map { $0.take().turn } == [false, true, !isThere])
        let isEarly = turn.take(for: claimants[2], at: Self.time(1001))
        let isFirst = turn.take(for: claimants[1], at: Self.time(1002))
        #expect(!isEarly && isFirst)
    }

    @Test("a worker doesn't wait with one claim while its other one is next, whether the turn is taken or kept")
    func besides() {
        let (turn, other, ahead) = (FairTurn(), FairTurn.Claimant(), FairTurn.Claimant())
        let turns = CarefulTurns(turn, for: FairTurn.Claimant())
        let taken = [other, turns.claimant, ahead].map { turn.take(for: $0, at: Self.time(0)) }
        func waits(_ time: Int) -> [Bool] {
            [ahead, turns.claimant].map { turns.isWorthWaiting(besides: $0, at: Self.time(time)) }
        }
        // With what needs care, but not with what goes ahead behind that.
        #expect(taken == [true, false, false] && waits(10) == [true, false] && waits(249) == [true, false])
        #expect(waits(250) == [false, false])
        turn.end(at: Self.time(400))
        #expect(waits(401) == [true, false])
        let isNext = turn.take(for: turns.claimant, at: Self.time(402))
        // The other way round.
        #expect(isNext && waits(410) == [false, true])
    }

    @Test("a claim is given up once nothing wants care any more, and stays while what wants it can't run yet")
    func dropped() {
        let (turn, other, last) = (FairTurn(), FairTurn.Claimant(), FairTurn.Claimant())
        var turns = CarefulTurns(turn, for: FairTurn.Claimant())
        func next(isReady: Bool, wants: Bool, at time: Int) -> Int? {
            turns.beginPass()
            return turns.next(at: Self.time(time), among: 2, isReady: { _ in isReady }, wants: { _ in wants })
        }
        let hasTurn = turn.take(for: other, at: Self.time(0))
        let isSecond = next(isReady: true, wants: true, at: 1) == nil && turns.isWaiting
        let isThird = !turn.take(for: last, at: Self.time(2))
        #expect(hasTurn && isSecond && isThird && turns.nextGlance(at: Self.time(2)) == Self.time(102))
        turn.end(at: Self.time(3))
        #expect(turns.nextGlance(at: Self.time(4)) == Self.time(6))
        // Something else comes first for a moment.
        let isReady = next(isReady: false, wants: true, at: 4) != nil
        #expect(!isReady && !turns.isWaiting && turns.nextGlance(at: Self.time(4)) == nil)
        #expect(turn.isNext(turns.claimant, at: Self.time(4)))
        let isIdle = next(isReady: false, wants: false, at: 5) == nil
        #expect(isIdle && turn.isNext(last, at: Self.time(5)))
        turn.drop(last, at: Self.time(6))
        #expect(next(isReady: true, wants: true, at: 7) == 0)
        turns.end(at: Self.time(8))
        #expect(next(isReady: true, wants: true, at: 9) == 1 && turn.age(at: Self.time(10)) == .milliseconds(1))
    }

    @Test(
        "a turn is late once it has lasted for one and a half leases, whether somebody waits for it or not; the next one isn't"
    )
    func late() {
        let (turn, claimant, other) = (FairTurn(), FairTurn.Claimant(), FairTurn.Claimant())
        func isLate(at time: Int) -> Bool { turn.isLate(forLeasesOf: .seconds(5), at: Self.time(time)) }
        #expect(!isLate(at: 0) && turn.age(at: Self.time(0)) == .zero)
        let hasTurn = turn.take(for: claimant, at: Self.time(1000))
        #expect(hasTurn && !isLate(at: 8499) && isLate(at: 8500) && turn.age(at: Self.time(8500)) == .seconds(7.5))
        let hasOther = turn.take(for: other, at: Self.time(8600))
        #expect(turn.wait(of: other, at: Self.time(8900)) == .milliseconds(300))
        turn.end(at: Self.time(9000))
        #expect(!hasOther && !isLate(at: 99_000) && turn.age(at: Self.time(99_000)) == .zero)
        let hasNext = turn.take(for: other, at: Self.time(9001))
        #expect(hasNext && !isLate(at: 16_500) && isLate(at: 16_501))
        #expect(turn.wait(of: other, at: Self.time(16_501)) == .zero)
    }

    @Test(
        """
        a queue that needs care and can't go on for one and a half leases stands if the turn is late, otherwise after twice as long; \
        one with due retries alone doesn't
        """)
    func stands() {
        let message = RecordedMessage(
            partition: Partition(0), position: Position(101),
            message: Message(kind: .command, type: "Act", key: .account(.new()), account: nil, body: []),
            recordedAt: .now)
        let ordering = Ordering<RecordedMessage>(
            key: { MessageOrder(.regular, $0.message.key) },
            unreadable: { item, _ in MessageOrder(.regular, item.message.key) },
            alone: { _ in nil }, isUrgent: { _ in false })
        func partition(wasLost: Bool) -> WorkerPartition {
            var machine = PartitionMachine<RecordedMessage>(limits: .init(), ordering: ordering)
            machine.want(true)
            machine.leaseTaken(Epoch(1), wasLost: wasLost)
            let parked = Parked(
                key: MessageOrder(.regular, .account(.new())), position: Position(1), cause: .error, attempts: 1,
                since: Self.start, retryAt: Self.start)
            machine.opened(Cursor(position: Position(100)), parked: wasLost ? [] : [parked])
            machine.messagesRead(wasLost ? [message] : [], at: Self.start)
            return WorkerPartition(partition: Partition(0), machine: machine)
        }
        func stands(_ partition: WorkerPartition, at time: Int, isTurnLate: Bool = true) -> Bool {
            partition.stands(forLeasesOf: .seconds(5), isTurnLate: isTurnLate, at: Self.time(time))
        }
        var retries = partition(wasLost: false)
        for time in [0, 8000] { retries.lookWhetherItStands(at: Self.time(time)) }
        #expect(retries.machine.wantsCare(at: Self.start) && !stands(retries, at: 8000))
        var queue = partition(wasLost: true)
        for time in [0, 7000] { queue.lookWhetherItStands(at: Self.time(time)) }
        #expect(!stands(queue, at: 7499) && stands(queue, at: 7500))
        #expect(!stands(queue, at: 14_999, isTurnLate: false) && stands(queue, at: 15_000, isTurnLate: false))
        // It is tried, or lost.
        queue.goesOn()
        queue.lookWhetherItStands(at: Self.time(8000))
        #expect(!stands(queue, at: 15_499) && stands(queue, at: 15_500))
        queue.machine.leaseLost()
        queue.lookWhetherItStands(at: Self.time(16_000))
        #expect(!stands(queue, at: 16_000))
    }

    @Test("what the workers of a process lack goes to another process; with no other, everybody keeps what they have")
    func process() {
        let ours = (0..<2).map { Member(owner: .new(), slot: $0) }
        let lacking = ours.map { Member(owner: $0.owner, slot: $0.slot, cannot: [Careful.turn]) }
        let other = Member(owner: .new(), slot: 0)
        let needs = Dictionary(uniqueKeysWithValues: (0..<8).map { (Partition($0), Set([Careful.turn])) })
        #expect(other.share(of: 8, among: lacking + [other], needs: needs).count == 8)
        for (before, now) in zip(ours, lacking) {
            #expect(now.share(of: 8, among: lacking + [other], needs: needs).isEmpty)
            #expect(now.share(of: 8, among: lacking, needs: needs) == before.share(of: 8, among: ours))
        }
    }

    @Test("of processes that all lack something, those that lack only their turn get the partition")
    func lackingLess() {
        let members = [Set(["A@2"]), [Careful.turn], ["A@2", Careful.turn]].map {
            Member(owner: .new(), slot: 0, cannot: $0)
        }
        let needs = Dictionary(uniqueKeysWithValues: (0..<8).map { (Partition($0), Set(["A@2", Careful.turn])) })
        #expect(members.map { $0.share(of: 8, among: members, needs: needs).count } == [0, 8, 0])
        let others = [members[0], members[2]]
        #expect(others.map { $0.share(of: 8, among: others, needs: needs).count } == [4, 4])
    }

    @Test("what waits in vain is reported apart from partitions that rest, for all workers together")
    func reported() {
        let said = Observed(ConsumerReport.Condition())
        let report = ConsumerReport { condition in said.update { $0 = condition } }
        report.report(ConsumerReport.Condition(waiting: "in vain", parked: 1), of: 1)
        report.report(ConsumerReport.Condition(parked: 2), of: 0)
        #expect(said.value.resting == nil && said.value.waiting == "in vain" && said.value.parked == 3)
        report.report(ConsumerReport.Condition(parked: 1), of: 1)
        #expect(said.value.waiting == nil && said.value.parked == 3)
    }

    @Test("only one has the turn at a time, however many wait for it, and each of them comes to it")
    func exclusion() async {
        let turn = FairTurn()
        let inside = Observed((now: 0, most: 0, done: 0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    let bell = Bell()
                    let claimant = FairTurn.Claimant(ringing: bell)
                    defer { turn.drop(claimant) }
                    for _ in 0..<2000 {
                        guard turn.take(for: claimant, within: .seconds(60)) else { continue }
                        inside.update { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.done + 1) }
                        inside.update { $0.now -= 1 }
                        turn.end()
                    }
                    // What rings it for others isn't mixed with that.
                    #expect(!bell.take().turn)
                }
            }
        }
        #expect(inside.value.most == 1 && inside.value.done == 8000 && turn.age() == .zero)
    }

    @Test("what can't be read, or is tried by itself, competes with urgent retries, because it may be urgent")
    func families() {
        #expect(Family.urgent(.alarm).mayBeUrgent && Family.unknown("A@2").mayBeUrgent && Family("alone x").mayBeUrgent)
        #expect(!Family.regular.mayBeUrgent)
    }
}
