import QuartetVocabulary
import TestKit
import Testing

@testable import Bus

@Suite
struct AppenderMachineTests {
    /// Of four partitions: row n belongs to the partition n modulo 4.
    private static func machine(batchLimit: Int, queueLimit: Int) -> AppenderMachine<Int> {
        AppenderMachine(batchLimit: batchLimit, queueLimit: queueLimit, partition: partition)
    }

    private static let partition: @Sendable (Int) -> Partition = { Partition(Int32($0 % 4)) }

    @Test(
        "loses nothing, keeps the order of each partition, and refuses only the rows at fault, whatever fails",
        arguments: 0..<400)
    func nothingLost(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var machine = Self.machine(batchLimit: 8, queueLimit: 1000)
        var sent = 0
        var stored: [Int] = []
        var refused: [Int] = []
        var held: Set<Partition> = []
        /// What the database does with rows; nil if it stores them.
        func fate(of rows: [Int]) -> AppenderMachine<Int>.Failure? {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                // Committed, but the answer is lost.
                if !rows.contains(where: { $0 % 7 == 0 || held.contains(Self.partition($0)) }) { stored += rows }
                return .connectionLost
            case 1: return .connectionLost
            default:
                if rows.contains(where: { held.contains(Self.partition($0)) }) { return .locked }
                if rows.contains(where: { $0 % 7 == 0 }) { return .refused }
                stored += rows
                return nil
            }
        }
        var asideInHand: [Int]?
        while sent < 200 || machine.waiting > 0 {
            let isOver = sent >= 200
            if !isOver, Bool.random(using: &generator) {
                let isAccepted = machine.enqueue(sent)
                #expect(isAccepted)
                sent += 1
            }
            let some = Partition(Int32.random(in: 0..<4, using: &generator))
            switch Int.random(in: 0..<10, using: &generator) {
            case 0 where !isOver: held.insert(some)
            case 1...2: held.remove(some)
            default: break
            }
            // Beside the others: it may begin before a flush of theirs and end after it.
            if asideInHand == nil { asideInHand = machine.nextAside() }
            if let batch = machine.nextFlush() {
                let second = machine.nextFlush()
                #expect(second == nil, "one flush at a time")
                if let failure = fate(of: batch) { refused += machine.failed(failure) } else { _ = machine.flushed() }
            }
            if let batch = asideInHand, Bool.random(using: &generator) {
                #expect(Set(batch.map(Self.partition)).count == 1)
                if let failure = fate(of: batch) {
                    refused += machine.failedAside(failure)
                } else {
                    machine.flushedAside()
                }
                asideInHand = nil
            }
        }
        #expect(Set(refused) == Set((0..<200).filter { $0 % 7 == 0 }) && refused.count == Set(refused).count)
        #expect(Set(stored) == Set((0..<200).filter { $0 % 7 != 0 }))
        // First appearances keep the order in which the rows of a partition were handed over.
        var seen: Set<Int> = []
        let first = Dictionary(grouping: stored.filter { seen.insert($0).inserted }, by: Self.partition)
        for rows in first.values { #expect(rows == rows.sorted()) }
    }

    @Test("a partition that somebody holds is set aside with what comes behind it, and the others' rows go on")
    func held() {
        var machine = Self.machine(batchLimit: 8, queueLimit: 100)
        for row in 0..<4 { _ = machine.enqueue(row) }
        var flushes: [[Int]] = []
        while let batch = machine.nextFlush() {
            flushes.append(batch)
            if batch.contains(2) { _ = machine.failed(.locked) } else { _ = machine.flushed() }
        }
        #expect(flushes == [[0, 1, 2, 3], [0], [1], [2], [3]])
        for row in 4..<8 { _ = machine.enqueue(row) }
        let (aside, next) = (machine.nextAside(), machine.nextFlush())
        #expect(aside == [2] && next == [4, 5, 7] && machine.waiting == 5)
        machine.flushedAside()
        let behind = machine.nextAside()
        machine.flushedAside()
        #expect(behind == [6] && !machine.hasAside)
    }

    @Test("refuses what exceeds its limit instead of growing")
    func bounded() {
        var machine = Self.machine(batchLimit: 2, queueLimit: 3)
        let accepted = (0..<3).map { machine.enqueue($0) }
        _ = machine.nextFlush()
        let fourth = machine.enqueue(3)
        let flushed = machine.flushed()
        let later = machine.enqueue(3)
        #expect(accepted == [true, true, true] && !fourth && flushed == [0, 1] && later)
    }

    @Test("accepts again what was sent before, however much waits")
    func again() {
        var machine = Self.machine(batchLimit: 2, queueLimit: 2)
        let accepted = (0..<2).map { machine.enqueue($0) }
        let sent = machine.nextFlush()
        _ = machine.failed(.connectionLost)
        machine.enqueueAgain([7, 8])
        let refused = machine.enqueue(9)
        #expect(accepted == [true, true] && sent == [0, 1] && machine.queued == [0, 1, 7, 8] && !refused)
    }
}
