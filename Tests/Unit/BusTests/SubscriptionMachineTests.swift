import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

@Suite
struct SubscriptionMachineTests {
    /// Events 1…n are committed at random times; the tail reads them later; a snapshot is taken in between.
    @Test("gives the state and then exactly what comes after it, whenever it joins", arguments: 0..<500)
    func nothingMissingNothingTwice(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var committed: Int64 = Int64.random(in: 0..<20, using: &generator)
        var tailPosition = Int64.random(in: 0...committed, using: &generator)
        var machine = SubscriptionMachine<Int64>(limit: 1000)
        let registeredAt = tailPosition
        func advance(_ machine: inout SubscriptionMachine<Int64>) {
            if Bool.random(using: &generator) { committed += 1 }
            while tailPosition < committed, Bool.random(using: &generator) {
                tailPosition += 1
                _ = machine.offer(tailPosition, at: Position(tailPosition))
            }
        }
        for _ in 0..<Int.random(in: 0..<10, using: &generator) { advance(&machine) }
        // The read covers at least what the tail had read at registration.
        let read = Int64.random(in: registeredAt...committed, using: &generator)
        let isResumed = Bool.random(using: &generator)
        let snapshot = isResumed ? Int64.random(in: 0...read, using: &generator) : read
        for _ in 0..<Int.random(in: 0..<10, using: &generator) { advance(&machine) }
        machine.join(at: Position(snapshot), between: (snapshot..<read).map { (Position($0 + 1), $0 + 1) })
        for _ in 0..<30 { advance(&machine) }
        while tailPosition < committed {
            tailPosition += 1
            _ = machine.offer(tailPosition, at: Position(tailPosition))
        }
        var given: [Int64] = []
        while case .event(_, let event) = machine.next() { given.append(event) }
        #expect(given == (snapshot..<committed).map { $0 + 1 }, "seed \(seed)")
        #expect(machine.given == Position(committed))
    }

    /// Some positions are of the subscriber's stream, and the tail passes the others.
    @Test(
        "a place that moves on with the log passes nothing of the stream, and nothing comes twice", arguments: 0..<200)
    func advancing(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var machine = SubscriptionMachine<Int64>(limit: 1000)
        machine.join(at: .start, between: [])
        var (offered, given, places): ([Int64], [Int64], [Position]) = ([], [], [])
        for position in Int64(1)...100 {
            if Bool.random(using: &generator) {
                offered.append(position)
                _ = machine.offer(position, at: Position(position))
            }
            while Bool.random(using: &generator), case .event(_, let event) = machine.next() { given.append(event) }
            if Bool.random(using: &generator), machine.advance(to: Position(position)) {
                #expect(machine.given == Position(position) && given == offered, "seed \(seed)")
            }
            places.append(machine.given)
        }
        while case .event(_, let event) = machine.next() { given.append(event) }
        #expect(given == offered && places == places.sorted(), "seed \(seed)")
        #expect(places.contains { !offered.contains($0.number) && $0 > .start }, "seed \(seed)")
    }

    @Test("a subscriber that fell behind or has ended doesn't move on")
    func advancingInVain() {
        var machine = SubscriptionMachine<Int>(limit: 1)
        let isJoined = machine.advance(to: Position(9))
        machine.join(at: .start, between: [])
        for number in 1...2 { _ = machine.offer(number, at: Position(Int64(number))) }
        let isAhead = machine.advance(to: Position(9))
        machine.end()
        let isOver = machine.advance(to: Position(9))
        #expect(!isJoined && !isAhead && !isOver && machine.given == .start)
    }

    @Test("tells a slow subscriber once that it fell behind, then ends")
    func behind() {
        var machine = SubscriptionMachine<Int>(limit: 2)
        machine.join(at: .start, between: [])
        for number in 1...3 { _ = machine.offer(number, at: Position(Int64(number))) }
        guard case .fellBehind = machine.next() else {
            Issue.record("not told")
            return
        }
        guard case .ended = machine.next() else {
            Issue.record("not ended")
            return
        }
        #expect(machine.given == .start, "resumes from what was really taken")
    }

    @Test(
        "a subscriber whose buffer fills up while it joins resumes from where it joined, never from the log's beginning"
    )
    func overflowWhileJoining() {
        for isResumed in [false, true] {
            var machine = SubscriptionMachine<Int64>(limit: 2)
            for number in Int64(103)...106 { _ = machine.offer(number, at: Position(number)) }
            // A snapshot has no rows to read; a resume has those between its token and where the tail was.
            let between = isResumed ? (Int64(101)...102).map { (Position($0), $0) } : []
            machine.join(at: Position(100), between: between)
            #expect(machine.given == Position(100), "never the log's beginning")
            var given: [Int64] = []
            var hasFallenBehind = false
            reading: while true {
                switch machine.next() {
                case .event(_, let event): given.append(event)
                case .fellBehind: hasFallenBehind = true
                case .nothing, .ended: break reading
                }
            }
            #expect(hasFallenBehind)
            #expect(given == between.map(\.1), "a resume that overflows each time still gets on")
            #expect(machine.given == Position(isResumed ? 102 : 100))
        }
    }
}
