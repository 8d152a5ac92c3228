import QuartetVocabulary
import Testing

@testable import Bus

@Suite("What one transaction handles")
struct WorkTests {
    private static func work(_ numbers: ClosedRange<Int64>, diverted: Set<Position> = []) -> Work<SimulatedItem> {
        Work(
            items: numbers.map { SimulatedItem(number: $0) }, diverted: diverted, held: [], isCareful: false,
            isDoubtful: false)
    }

    @Test("messages that append many rows are handled a few at a time, and each of them in the end (S36)")
    func bounded() {
        var (next, handled): (Int64, [Int64]) = (1, [])
        while next <= 64 {
            let (work, weight) = Self.work(next...64).bounded { _ in 599 }
            #expect(weight <= Work<SimulatedItem>.weightLimit && work.isPlain)
            #expect(work.items.count == min(3, 65 - Int(next)))
            handled += work.items.map(\.number)
            next += Int64(work.items.count)
        }
        #expect(handled == Array(1...64))
    }

    @Test("one alone may append more, what appends few isn't counted, and what is put aside appends nothing (S36)")
    func edges() {
        #expect(Self.work(1...3).bounded { _ in 5000 }.work.items.count == 1)
        #expect(Self.work(1...64).bounded { _ in 0 }.work.items.count == 64)
        let aside = Self.work(1...4, diverted: [Position(2), Position(3)]).bounded { _ in 1000 }
        #expect(aside.work.items.count == 4 && aside.weight == 2000)
        let cut = Self.work(1...6, diverted: [Position(2), Position(6)]).bounded { _ in 1000 }
        #expect(cut.work.items.count == 3 && cut.work.diverted == [Position(2)])
    }

    @Test("what may end the process isn't weighed before its attempt is noted, and goes whole (S36)")
    func careful() {
        let items = [SimulatedItem(number: 1), SimulatedItem(number: 2)]
        for (isCareful, isDoubtful) in [(true, false), (false, true), (true, true)] {
            let work = Work(items: items, diverted: [], held: [], isCareful: isCareful, isDoubtful: isDoubtful)
            var weighed: [Int64] = []
            let bounded = work.bounded { item in
                weighed.append(item.number)
                return 5000
            }
            #expect(weighed.isEmpty)
            #expect(bounded.work.items.count == 2 && bounded.weight == 0)
        }
    }
}
