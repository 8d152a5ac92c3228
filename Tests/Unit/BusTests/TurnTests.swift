import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

/// Nothing of a partition that could run waits for long: neither the queue for retries nor these for the queue.
@Suite
struct TurnTests {
    private typealias Machine = PartitionMachine<SimulatedItem>

    private static let start = ContinuousClock.now
    private static let bad = TransactionFailure.failed(Fault(.error, "bad"))
    private static let trouble = TransactionFailure.failed(Fault(.trouble, "disk full"))
    private static let contention = TransactionFailure.contention(Fault(.trouble, "deadlock"))

    private static func parked(_ number: Int64, since: Duration = .zero) -> Parked<Int64> {
        let time = start - .seconds(60) + since
        return Parked(
            key: TurnSimulation.key(of: number), position: Position(number), cause: .error, attempts: 1, since: time,
            retryAt: time)
    }

    /// A partition whose cursor is at 100, with messages parked before and others to be handled after it.
    private static func machine(
        parked: [Parked<Int64>], with numbers: [Int64], parkedKeys: Int = 10, probes: Int = 8,
        crashes: [Position: Int] = [:], losses: [Position: Int] = [:]
    ) -> Machine {
        var limits = Machine.Limits()
        (limits.batch, limits.probes, limits.parkedKeys) = (4, probes, parkedKeys)
        var machine = Machine(limits: limits, ordering: TurnSimulation.ordering)
        machine.want(true)
        machine.leaseTaken(Epoch(1))
        machine.opened(Cursor(position: Position(100)), parked: parked, crashes: crashes, losses: losses)
        machine.messagesRead(numbers.map(SimulatedItem.init), at: start)
        return machine
    }

    private static func handles(
        _ machine: Machine, _ numbers: [Int64], at now: ContinuousClock.Instant = start,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Work<SimulatedItem> {
        guard case .handle(let work, _, _) = machine.nextStep(at: now), work.handled.map(\.number) == numbers else {
            Issue.record("\(machine.nextStep(at: now))", sourceLocation: sourceLocation)
            throw Unexpected(machine.nextStep(at: now))
        }
        return work
    }

    private static func retries(
        _ machine: Machine, _ number: Int64, at now: ContinuousClock.Instant = start,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Parked<Int64> {
        guard case .retry(let parked, _, _) = machine.nextStep(at: now), parked.position == Position(number) else {
            Issue.record("\(machine.nextStep(at: now))", sourceLocation: sourceLocation)
            throw Unexpected(machine.nextStep(at: now))
        }
        return parked
    }

    private static func commit(_ machine: inout Machine, _ work: Work<SimulatedItem>) {
        machine.committed(Cursor(number: 1, position: work.items.last?.position ?? .start), work, at: start)
    }

    /// The first batch of the queue is handled, so it is the retries' turn.
    private static func afterTheQueue(parked: [Parked<Int64>], then number: Int64) throws -> Machine {
        var machine = machine(parked: parked, with: [101])
        commit(&machine, try handles(machine, [101]))
        machine.messagesRead([SimulatedItem(number: number)], at: start)
        return machine
    }

    @Test("a retry that can be neither parked again nor given up rests alone: neither the queue nor others wait for it")
    func unsettled() throws {
        var machine = try Self.afterTheQueue(parked: [Self.parked(1)], then: 102)
        var now = Self.start
        for attempt in 1...3 {
            machine.failed(Self.bad, retrying: try Self.retries(machine, 1, at: now), SimulatedItem(number: 1), at: now)
            guard case .parkAgain(let failed, _, _) = machine.nextStep(at: now) else {
                throw Unexpected(machine.nextStep(at: now))
            }
            machine.failedToSettle(attempt == 2 ? Self.contention : Self.trouble, failed, at: now)
            guard case .rest(attempt: attempt) = machine.nextStep(at: now) else {
                throw Unexpected(machine.nextStep(at: now))
            }
            let end = now + .seconds(5)
            machine.rest(until: end)
            #expect(machine.nextWake(after: now) == end)
            let number = 101 + Int64(attempt)
            Self.commit(&machine, try Self.handles(machine, [number], at: now))
            // It is said as long as it lasts, and the queue isn't said to rest for it.
            #expect(machine.stalled != nil && machine.trouble == nil && machine.place != nil)
            machine.messagesRead([], at: now)
            guard case .wait = machine.nextStep(at: now) else { throw Unexpected(machine.nextStep(at: now)) }
            machine.messagesRead([SimulatedItem(number: number + 1)], at: now)
            now = end
        }
        // One that became due meanwhile goes before it.
        machine.parkedRead(machine.parked + [Self.parked(2)])
        _ = try Self.retries(machine, 2, at: now)
        machine.parkedRead([Self.parked(2)])
        #expect(machine.stalled == nil)
    }

    @Test("if nothing retried can be settled, all retries pause together; a single one among others holds none up")
    func nothingSettles() throws {
        let ordering = Ordering<SimulatedItem>(
            key: { $0.number }, unreadable: { item, _ in item.number }, alone: { _ in nil }, isUrgent: { _ in false })
        let (bad, end) = (Position(50), Self.start + .seconds(30))
        for isOnlyOne in [false, true] {
            var machine = Machine(limits: Machine.Limits(), ordering: ordering)
            machine.want(true)
            machine.leaseTaken(Epoch(1))
            let parked = (1...100).map { number in
                Parked(
                    key: Int64(number), position: Position(Int64(number)), cause: .error, attempts: 1,
                    since: Self.start,
                    retryAt: Self.start)
            }
            machine.opened(Cursor(position: Position(200)), parked: parked)
            machine.messagesRead([], at: Self.start)
            var (now, tries, lastDone) = (Self.start, 0, Self.start)
            while now < end {
                let step = machine.nextStep(at: now)
                switch step {
                case .retry(let parked, let cursor, _) where isOnlyOne && parked.position != bad:
                    let committed = Cursor(number: cursor.number + 1, position: cursor.position)
                    machine.committed(committed, retrying: parked, next: nil, at: now)
                    lastDone = now
                case .retry(let parked, _, _):
                    tries += 1
                    let item = SimulatedItem(number: parked.position.number)
                    machine.failed(Self.bad, retrying: parked, item, at: now)
                case .parkAgain(let failed, _, _): machine.failedToSettle(Self.trouble, failed, at: now)
                case .rest(let attempt):
                    machine.rest(until: now + min(.seconds(5), .milliseconds(10 << min(attempt, 9))))
                case .wait: now = machine.nextWake(after: now) ?? end
                default: throw Unexpected(step)
                }
            }
            #expect((8...20).contains(tries) && machine.parked.count == (isOnlyOne ? 1 : 100))
            #expect(lastDone == Self.start)
        }
    }

    @Test(
        """
        a retry that meets contention gives way to the queue and is tried again in its place; after a few times it takes pauses \
        of its own, and how it failed before stays as it was
        """)
    func contendedRetry() throws {
        var machine = Self.machine(parked: [Self.parked(1), Self.parked(2, since: .seconds(1))], with: [])
        var now = Self.start
        for contention in 1...20 {
            let number = 95 + 8 * Int64(contention)
            machine.messagesRead([SimulatedItem(number: number)], at: now)
            Self.commit(&machine, try Self.handles(machine, [number], at: now))
            let retry = try Self.retries(machine, 1, at: now)
            machine.failed(Self.contention, retrying: retry, SimulatedItem(number: 1), at: now)
            guard contention > 3 else { continue }
            guard case .rest(attempt: contention) = machine.nextStep(at: now) else {
                throw Unexpected(machine.nextStep(at: now))
            }
            now += .seconds(1)
            machine.rest(until: now)
            machine.messagesRead([], at: now)
            // Nothing else rests for it, and a new look at what is parked doesn't end its pause.
            machine.parkedRead([Self.parked(1), Self.parked(2, since: .seconds(1))])
            _ = try Self.retries(machine, 2, at: now - .milliseconds(1))
            machine.parkedRead([Self.parked(1)])
        }
        let known = try #require(machine.parked.first)
        let before = Self.parked(1)
        #expect(known.cause == before.cause && known.attempts == before.attempts && known.since == before.since)
    }

    @Test("what met contention too often counts as failed only if it is at fault or hadn't failed before")
    func tooMuchContention() throws {
        let unique = TransactionFailure.contention(Fault(.error, "duplicate key"))
        var waiting = Self.parked(2)
        (waiting.cause, waiting.attempts) = (nil, 0)
        for (parked, failure, cause) in [
            (Self.parked(1), unique, Fault.Code.error), (waiting, Self.contention, .trouble), (waiting, unique, .error),
        ] {
            var machine = Self.machine(parked: [parked], with: [])
            let item = SimulatedItem(number: parked.position.number)
            for contention in 1...10 {
                machine.failed(
                    failure, retrying: try Self.retries(machine, item.number), item, at: Self.start)
                if (4..<10).contains(contention) { machine.rest(until: Self.start) }
            }
            guard case .parkAgain(let failed, _, _) = machine.nextStep(at: Self.start), failed.fault.code == cause
            else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            #expect(failed.attempts == parked.attempts + 1)
        }
    }

    @Test("a queue that rests holds back no retries and nothing that is to be settled, and wakes for both")
    func restingQueue() throws {
        var machine = Self.machine(
            parked: [Self.parked(1), Self.parked(2, since: .seconds(62))], with: [103])
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103]), at: Self.start)
        let end = Self.start + .seconds(5)
        machine.rest(until: end)
        // One after the other: the queue has no turn between them.
        machine.failed(Self.bad, retrying: try Self.retries(machine, 1), SimulatedItem(number: 1), at: Self.start)
        guard case .parkAgain(let failed, _, _) = machine.nextStep(at: Self.start), let former = failed.former else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        let again = failed.parked(for: .seconds(3), at: Self.start)
        machine.committed(Cursor(number: 1, position: Position(100)), parking: again, again: former, next: nil)
        guard case .wait = machine.nextStep(at: Self.start) else { throw Unexpected(machine.nextStep(at: Self.start)) }
        #expect(machine.nextWake(after: Self.start) == Self.start + .seconds(2) && machine.trouble != nil)
        let later = Self.start + .seconds(3)
        for (number, next) in [(Int64(2), nil as Parked<Int64>?), (1, nil)] {
            machine.committed(
                Cursor(number: 1, position: Position(100)), retrying: try Self.retries(machine, number, at: later),
                next: next, at: later)
        }
        #expect(machine.nextWake(after: later) == end && machine.trouble != nil)
        _ = try Self.handles(machine, [103], at: end)
    }

    @Test(
        """
        while something is held, contention begins no pause in which retries would run: as soon as others would take one, the next \
        message is tried, and what is held stays held
        """)
    func contendedProbe() throws {
        var machine = Self.machine(parked: [Self.parked(2), Self.parked(3)], with: [103, 104, 105])
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103, 104, 105]), at: Self.start)
        machine.committed(
            Cursor(number: 1, position: Position(100)), retrying: try Self.retries(machine, 2), next: nil,
            at: Self.start)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103]), at: Self.start)
        for _ in 1...4 {
            machine.failed(Self.contention, handling: try Self.handles(machine, [104]), at: Self.start)
        }
        let probe = try Self.handles(machine, [105])
        #expect(probe.held.map(\.item.number) == [103, 104])
        // Once they are parked, the other retry has its turn.
        machine.committed(
            Cursor(number: 2, position: Position(105)), probe,
            parking: probe.held.map { $0.parked(for: .seconds(60), at: Self.start) }, at: Self.start)
        _ = try Self.retries(machine, 3)
    }

    @Test("if parked keys change while something is held, the partition starts over; if not, it goes on")
    func heldOnParked() throws {
        // The second one waits behind it.
        var machine = Self.machine(parked: [Self.parked(8)], with: [103, 104, 105, 106])
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103, 105, 106]), at: Self.start)
        machine.failed(
            Self.contention, retrying: try Self.retries(machine, 8), SimulatedItem(number: 8), at: Self.start)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103]), at: Self.start)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [105]), at: Self.start)
        machine.parkedRead([Self.parked(8)])
        let probe = try Self.handles(machine, [106])
        #expect(probe.held.map(\.item.number) == [103, 105] && probe.diverted == [Position(104)])
        // An operator removed it.
        machine.parkedRead([])
        let first = try Self.handles(machine, [103])
        #expect(first.held.isEmpty)
    }

    @Test("of a transaction of several messages that fails, nothing stays held")
    func heldWithSeveral() throws {
        var machine = Self.machine(parked: [], with: [103, 104, 105])
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103, 104, 105]), at: Self.start)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103]), at: Self.start)
        let probe = try Self.handles(machine, [104])
        let both = Work(
            items: [103, 104, 105].map(SimulatedItem.init), diverted: [], held: probe.held, isCareful: false,
            isDoubtful: true)
        machine.failed(Self.trouble, handling: both, at: Self.start)
        let first = try Self.handles(machine, [103])
        #expect(first.held.isEmpty)
    }

    @Test("contention and what can't be settled count apart: neither makes the other's pause longer or is a failure")
    func setbacks() throws {
        let unique = TransactionFailure.contention(Fault(.error, "duplicate key"))
        var machine = Self.machine(parked: [Self.parked(1)], with: [])
        let item = SimulatedItem(number: 1)
        for attempt in 1...9 {
            // Whatever is in its way first.
            machine.failed(unique, retrying: try Self.retries(machine, 1), item, at: Self.start)
            machine.failed(Self.bad, retrying: try Self.retries(machine, 1), item, at: Self.start)
            guard case .parkAgain(let failed, _, _) = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.failedToSettle(Self.trouble, failed, at: Self.start)
            guard case .rest(attempt: attempt) = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.rest(until: Self.start)
        }
        machine.failed(unique, retrying: try Self.retries(machine, 1), item, at: Self.start)
        _ = try Self.retries(machine, 1)

        var queue = Self.machine(parked: [], with: [103])
        for attempt in 1...6 {
            queue.failed(Self.trouble, handling: try Self.handles(queue, [103]), at: Self.start)
            guard case .rest(attempt: attempt) = queue.nextStep(at: Self.start) else {
                throw Unexpected(queue.nextStep(at: Self.start))
            }
            queue.rest(until: Self.start)
        }
        for _ in 1...4 { queue.failed(Self.contention, handling: try Self.handles(queue, [103]), at: Self.start) }
        guard case .rest(attempt: 4) = queue.nextStep(at: Self.start) else {
            throw Unexpected(queue.nextStep(at: Self.start))
        }
    }

    @Test("a message of the queue that can't be parked is tried again after each pause, and said to be in trouble")
    func unparkable() throws {
        let unique = TransactionFailure.contention(Fault(.error, "duplicate key"))
        var machine = Self.machine(parked: [], with: [103])
        for (attempt, isContention) in [(1, false), (2, true), (3, false)] {
            machine.failed(Self.bad, handling: try Self.handles(machine, [103]), at: Self.start)
            for _ in 1...(isContention ? 4 : 1) {
                machine.failed(
                    isContention ? unique : Self.trouble, handling: try Self.handles(machine, []), at: Self.start)
            }
            guard case .rest(attempt: attempt) = machine.nextStep(at: Self.start), machine.trouble != nil else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.rest(until: Self.start)
        }
    }

    @Test("what is due wants care, also while the queue's turn comes first")
    func wantsCare() {
        var machine = Self.machine(parked: [Self.parked(1)], with: [101])
        #expect(machine.wantsCare(at: Self.start) && !machine.nextStep(at: Self.start).needsCare)
        #expect(!machine.wantsCare(at: Self.start - .seconds(3600)))
        let idle = Self.machine(parked: [], with: [101], crashes: [Position(101): 1])
        #expect(idle.wantsCare(at: Self.start))
        machine.want(false)
        #expect(!machine.wantsCare(at: Self.start))
    }

    @Test("the queue tries more messages from rest to rest, however many retries get through meanwhile")
    func probes() throws {
        var machine = Self.machine(parked: [Self.parked(1)], with: [106, 107, 108, 109], probes: 2)
        var next = Int64(1)
        for rest in 1...4 {
            machine.failed(
                Self.trouble, handling: try Self.handles(machine, rest == 1 ? [106, 107, 108, 109] : [106]),
                at: Self.start)
            if rest == 1 {
                machine.committed(
                    Cursor(number: 1, position: Position(100)), retrying: try Self.retries(machine, next),
                    next: Self.parked(next + 8), at: Self.start)
                next += 8
                machine.failed(Self.trouble, handling: try Self.handles(machine, [106]), at: Self.start)
            }
            machine.failed(Self.trouble, handling: try Self.handles(machine, [107]), at: Self.start)
            if rest > 1 {
                _ = try Self.handles(machine, [108])
                return
            }
            guard case .rest(attempt: rest) = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.rest(until: Self.start)
            machine.committed(
                Cursor(number: 1, position: Position(100)), retrying: try Self.retries(machine, next),
                next: Self.parked(next + 8), at: Self.start)
            next += 8
            #expect(machine.trouble != nil)
        }
    }

    @Test("an urgent retry that is due for long lets the queue rest early, which then tries for longer")
    func urgentBehindProbes() throws {
        for (number, isUrgent) in [(Int64(8), true), (2, false)] {
            var machine = Self.machine(parked: [Self.parked(number)], with: [101, 102, 103, 105])
            let retried = SimulatedItem(number: number)
            machine.failed(Self.trouble, handling: try Self.handles(machine, [101, 102, 103, 105]), at: Self.start)
            machine.failed(
                Self.contention, retrying: try Self.retries(machine, number), retried, at: Self.start)
            var now = Self.start
            for probe in [Int64(101), 102, 103] {
                let work = try Self.handles(machine, [probe], at: now)
                now += .seconds(2.5)
                machine.failed(Self.trouble, handling: work, at: now)
            }
            if isUrgent {
                guard case .rest(attempt: 1) = machine.nextStep(at: now) else {
                    throw Unexpected(machine.nextStep(at: now))
                }
                machine.rest(until: now + .seconds(1))
                machine.failed(
                    Self.contention, retrying: try Self.retries(machine, number, at: now), retried, at: now)
                now += .seconds(1)
                for probe in [Int64(101), 102, 103] {
                    let work = try Self.handles(machine, [probe], at: now)
                    now += .seconds(2.5)
                    machine.failed(Self.trouble, handling: work, at: now)
                }
            }
            _ = try Self.handles(machine, [105], at: now)
        }
    }

    @Test("retries have their turn after the queue's, also when that rests, meets contention or gives a message up")
    func queueGivesWay() throws {
        var resting = Self.machine(parked: [Self.parked(1)], with: [101])
        resting.failed(Self.trouble, handling: try Self.handles(resting, [101]), at: Self.start)
        guard case .rest = resting.nextStep(at: Self.start) else { throw Unexpected(resting.nextStep(at: Self.start)) }
        resting.rest(until: Self.start)
        _ = try Self.retries(resting, 1)

        var contended = Self.machine(parked: [Self.parked(1)], with: [101])
        contended.failed(Self.contention, handling: try Self.handles(contended, [101]), at: Self.start)
        _ = try Self.retries(contended, 1)

        // While it can't be given up, and afterwards.
        for isGivenUp in [false, true] {
            var trap = Self.machine(parked: [Self.parked(1)], with: [101, 102], crashes: [Position(101): 3])
            let retry = try Self.retries(trap, 1)
            trap.committed(
                Cursor(number: 1, position: Position(100)), retrying: retry, next: Self.parked(9), at: Self.start)
            guard case .giveUp(let dead, _, _) = trap.nextStep(at: Self.start) else {
                throw Unexpected(trap.nextStep(at: Self.start))
            }
            if isGivenUp {
                trap.committed(Cursor(number: 2, position: Position(101)), givingUp: dead, next: nil)
            } else {
                trap.failedToSettle(Self.trouble, dead, at: Self.start)
                trap.rest(until: Self.start)
            }
            _ = try Self.retries(trap, 9)
        }
    }

    @Test("a retry frees a place for a message of the queue that can't be parked")
    func placesAreFreed() throws {
        var machine = Self.machine(parked: [Self.parked(1)], with: [103, 104], parkedKeys: 1)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103, 104]), at: Self.start)
        let retry = try Self.retries(machine, 1)
        machine.failed(Self.contention, retrying: retry, SimulatedItem(number: 1), at: Self.start)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103]), at: Self.start)
        #expect(machine.trouble?.hasPrefix("no more keys can be parked") == true)
        machine.rest(until: Self.start)
        machine.committed(
            Cursor(number: 2, position: Position(100)), retrying: try Self.retries(machine, 1), next: nil,
            at: Self.start)
        machine.failed(Self.trouble, handling: try Self.handles(machine, [103]), at: Self.start)
        let probe = try Self.handles(machine, [104])
        #expect(probe.held.map(\.item.number) == [103])
    }

    @Test(
        "a lease begins with the queue if a retry may have ended the last one, and with retries if the queue may have")
    func leases() throws {
        let suspect = Self.machine(parked: [Self.parked(1)], with: [101], crashes: [Position(1): 1])
        _ = try Self.handles(suspect, [101])
        _ = try Self.handles(Self.machine(parked: [Self.parked(1)], with: [101]), [101])
        for machine in [
            Self.machine(parked: [Self.parked(1)], with: [101], crashes: [Position(101): 1]),
            Self.machine(parked: [Self.parked(1)], with: [101], losses: [Position(101): 1]),
        ] { _ = try Self.retries(machine, 1) }
    }

    @Test("of the retries, the first urgent one and the one that is due for longest take turns")
    func urgentRetries() throws {
        let (urgent, later) = (Self.parked(8, since: .seconds(2)), Self.parked(16, since: .seconds(3)))
        #expect([urgent, later].allSatisfy { TurnSimulation.ordering.isUrgent($0.key) })
        var machine = Self.machine(
            parked: [Self.parked(1, since: .seconds(1)), Self.parked(2), Self.parked(3, since: .seconds(4)), urgent],
            with: [])
        for (number, next) in [(Int64(8), later), (2, nil), (16, nil), (1, nil), (3, nil)] {
            machine.committed(
                Cursor(number: 1, position: Position(100)), retrying: try Self.retries(machine, number), next: next,
                at: Self.start)
        }
    }

    @Test("a retry that gets over trouble makes others due that failed so, but none that is set back")
    func overTrouble() throws {
        var parked = [Self.parked(1), Self.parked(2, since: .seconds(1)), Self.parked(3, since: .seconds(3600))]
        for index in parked.indices { parked[index].cause = .trouble }
        var machine = Self.machine(parked: parked, with: [])
        machine.failed(Self.trouble, retrying: try Self.retries(machine, 1), SimulatedItem(number: 1), at: Self.start)
        guard case .parkAgain(let failed, _, _) = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.failedToSettle(Self.trouble, failed, at: Self.start)
        machine.rest(until: Self.start + .seconds(5))
        for (number, isLast) in [(Int64(2), false), (3, true)] {
            machine.committed(
                Cursor(number: 1, position: Position(100)), retrying: try Self.retries(machine, number), next: nil,
                at: Self.start)
            guard isLast else { continue }
            guard case .wait = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
        }
        #expect(machine.nextWake(after: Self.start) == Self.start + .seconds(5))
    }

    @Test("what is discarded is due at once, and its pauses last when it is read again")
    func discarded() throws {
        var discarded = Self.parked(1)
        discarded.isDiscarded = true
        var machine = Self.machine(parked: [Self.parked(1, since: .seconds(3600))], with: [])
        machine.parkedRead([discarded])
        let retry = try Self.retries(machine, 1)
        let isRefused = machine.refuse(retry, SimulatedItem(number: 1), at: Self.start)
        guard isRefused, case .giveUp(let failed, _, _) = machine.nextStep(at: Self.start) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        machine.failedToSettle(Self.trouble, failed, at: Self.start)
        machine.rest(until: Self.start + .seconds(5))
        machine.parkedRead([discarded])
        guard case .wait = machine.nextStep(at: Self.start) else { throw Unexpected(machine.nextStep(at: Self.start)) }
        #expect(machine.nextWake(after: Self.start) == Self.start + .seconds(5))
    }

    @Test("what only waits behind something parked needs no care, though it may have ended a lease")
    func careless() throws {
        let machine = Self.machine(
            parked: [Self.parked(5, since: .seconds(3600))], with: [101], crashes: [Position(101): 1])
        guard case .handle(let work, _, _) = machine.nextStep(at: Self.start, mayTakeCare: false) else {
            throw Unexpected(machine.nextStep(at: Self.start))
        }
        #expect(work.isCareful && work.diverted == [Position(101)])
    }

    @Test("when an operator has removed what was to be retried, it is the queue's turn")
    func removed() throws {
        var machine = try Self.afterTheQueue(parked: [Self.parked(1), Self.parked(2)], then: 102)
        _ = try Self.retries(machine, 1)
        machine.nothingToRetry([Self.parked(2)])
        _ = try Self.handles(machine, [102])
    }

    @Test("after retries that couldn't be settled, one that could comes first, however long they have been due")
    func settleable() throws {
        let ordering = Ordering<SimulatedItem>(
            key: { $0.number }, unreadable: { item, _ in item.number }, alone: { _ in nil }, isUrgent: { _ in true })
        var machine = Machine(limits: Machine.Limits(), ordering: ordering)
        machine.want(true)
        machine.leaseTaken(Epoch(1))
        let late = Self.start + .seconds(1)
        let parked = (1...4).map { number in
            Parked(
                key: Int64(number), position: Position(Int64(number)), cause: .error, attempts: 1, since: Self.start,
                retryAt: number == 4 ? late : Self.start)
        }
        machine.opened(Cursor(position: Position(200)), parked: parked)
        machine.messagesRead([], at: Self.start)
        for number in Int64(1)...3 {
            let former = try Self.retries(machine, number)
            machine.failed(Self.bad, retrying: former, SimulatedItem(number: number), at: Self.start)
            guard case .parkAgain(let failed, _, _) = machine.nextStep(at: Self.start) else {
                throw Unexpected(machine.nextStep(at: Self.start))
            }
            machine.failedToSettle(Self.trouble, failed, at: Self.start)
            machine.rest(until: Self.start + .milliseconds(500))
        }
        // The others are due again already.
        machine.committed(
            Cursor(number: 1, position: Position(200)), retrying: try Self.retries(machine, 4, at: late), next: nil,
            at: late)
        _ = try Self.retries(machine, 1, at: late)
    }

    @Test("the queue needs care or not whatever the retries do, and not while it pauses or belongs to another")
    func queueNeedsCare() throws {
        var machine = Self.machine(parked: [Self.parked(1)], with: [101], crashes: [Position(101): 1])
        #expect(machine.queueNeedsCare(at: Self.start))
        // After a crash of the queue's, the retries come first.
        machine.failed(
            Self.contention, retrying: try Self.retries(machine, 1), SimulatedItem(number: 1), at: Self.start)
        #expect(machine.queueNeedsCare(at: Self.start))
        let work = try Self.handles(machine, [101])
        for _ in 1...4 { machine.failed(Self.contention, handling: work, at: Self.start) }
        machine.rest(until: Self.start + .seconds(1))
        #expect(!machine.queueNeedsCare(at: Self.start) && machine.queueNeedsCare(at: Self.start + .seconds(1)))
        machine.want(false)
        #expect(!machine.queueNeedsCare(at: Self.start + .seconds(1)))
        let plain = Self.machine(parked: [Self.parked(1)], with: [101])
        #expect(!plain.queueNeedsCare(at: Self.start))
    }

    @Test("a partition that has to be careful stays so until its next messages are handled")
    func staysCareful() {
        var machine = Machine(limits: Machine.Limits(), ordering: TurnSimulation.ordering)
        machine.want(true)
        machine.leaseTaken(Epoch(1), wasLost: true)
        #expect(machine.isCareful)
        machine.opened(Cursor(position: Position(100)))
        #expect(machine.isCareful)
        machine.leaseLost()
        machine.leaseTaken(Epoch(2))
        machine.opened(Cursor(position: Position(100)))
        #expect(!machine.isCareful)
    }

    @Test(
        "nothing that could run waits for more than its turns, whatever arrives, fails, is held, contended, removed or lost",
        arguments: 0..<100)
    func turns(seed: UInt64) {
        var simulation = TurnSimulation(seed: seed)
        simulation.run(steps: 1500)
        simulation.settle()
        let story = "seed \(seed): \(simulation.story.joined(separator: "\n"))"
        #expect(simulation.broken.isEmpty, "\(simulation.broken)\n\(story)")
        let isDone = simulation.isDone
        #expect(isDone, "\(story)")
        let isRival = simulation.rivalries > 50 && simulation.unsettled > 5 && simulation.lost > 0
        #expect(isRival, "\(story)")
    }
}
