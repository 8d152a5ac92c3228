import TestKit
import Testing

@testable import Bus

@Suite
struct AppenderMachineTests {
    @Test("loses nothing and refuses only the rows at fault, whatever fails", arguments: 0..<200)
    func nothingLost(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var machine = AppenderMachine<Int>(batchLimit: 8, queueLimit: 1000)
        var sent = 0
        var stored: [Int] = []
        var acknowledged: [Int] = []
        var refused: [Int] = []
        while sent < 200 || machine.waiting > 0 {
            if sent < 200, Bool.random(using: &generator) {
                let isAccepted = machine.enqueue(sent)
                #expect(isAccepted)
                sent += 1
            }
            guard let batch = machine.nextFlush() else { continue }
            let second = machine.nextFlush()
            #expect(second == nil, "one flush at a time")
            switch Int.random(in: 0..<10, using: &generator) {
            case 0:
                // Committed, but the answer is lost.
                if !batch.contains(where: { $0 % 7 == 0 }) { stored += batch }
                refused += machine.failed(.connectionLost)
            case 1: refused += machine.failed(.connectionLost)
            default:
                if batch.contains(where: { $0 % 7 == 0 }) {
                    refused += machine.failed(.refused)
                } else {
                    stored += batch
                    acknowledged += machine.flushed()
                }
            }
        }
        #expect(Set(refused) == Set((0..<200).filter { $0 % 7 == 0 }) && refused.count == Set(refused).count)
        #expect(Set(acknowledged) == Set((0..<200).filter { $0 % 7 != 0 }))
        #expect(Set(acknowledged).isSubset(of: Set(stored)))
        // First appearances keep the order in which the rows were handed over.
        var seen: Set<Int> = []
        let first = stored.filter { seen.insert($0).inserted }
        #expect(first == first.sorted())
    }

    @Test("refuses what exceeds its limit instead of growing")
    func bounded() {
        var machine = AppenderMachine<Int>(batchLimit: 2, queueLimit: 3)
        let accepted = (0..<3).map { machine.enqueue($0) }
        _ = machine.nextFlush()
        let fourth = machine.enqueue(3)
        let flushed = machine.flushed()
        let later = machine.enqueue(3)
        #expect(accepted == [true, true, true] && !fourth && flushed == [0, 1] && later)
    }

    @Test("accepts again what was sent before, however much waits")
    func again() {
        var machine = AppenderMachine<Int>(batchLimit: 2, queueLimit: 2)
        let accepted = (0..<2).map { machine.enqueue($0) }
        let sent = machine.nextFlush()
        _ = machine.failed(.connectionLost)
        machine.enqueueAgain([7, 8])
        let refused = machine.enqueue(9)
        #expect(accepted == [true, true] && sent == [0, 1] && machine.queued == [0, 1, 7, 8] && !refused)
    }
}
