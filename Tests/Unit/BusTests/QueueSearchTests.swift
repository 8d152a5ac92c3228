import Bus
import Testing
import Vocabulary

@Suite("Where to search a queue from")
struct QueueSearchTests {
    @Test("a search starts where the last one was, and searches everything the less often the longer that takes")
    func search() {
        var search = QueueSearch()
        let start = ContinuousClock.now
        let first = search.begin(at: start)
        #expect(first.age >= .days(10_000))
        // It took 40 ms, and there was more.
        search.end(first, foundAll: false, at: start + .milliseconds(40))
        #expect(search.begin(at: start + .milliseconds(50)).age >= .days(10_000), "nothing was ever found to be all")
        search.end(first, foundAll: true, at: start + .milliseconds(40))
        let next = search.begin(at: start + .seconds(1))
        #expect(next.age == .seconds(6), "a second since, and what was committed late")
        search.end(next, foundAll: true, at: start + .seconds(1))
        #expect(search.begin(at: start + .milliseconds(1500)).age == Interval(microseconds: 5_500_000))
        // Fifty times as long after the whole search.
        #expect(search.begin(at: start + .milliseconds(2039)).age < .minutes(1))
        #expect(search.begin(at: start + .milliseconds(2040)).age >= .days(10_000))
    }

    @Test("an older search that ends later doesn't move the start back")
    func overtaken() {
        var search = QueueSearch()
        let start = ContinuousClock.now
        search.end(search.begin(at: start), foundAll: true, at: start + .seconds(1))
        let (old, new) = (search.begin(at: start + .seconds(2)), search.begin(at: start + .seconds(3)))
        search.end(new, foundAll: true, at: start + .seconds(3))
        search.end(old, foundAll: true, at: start + .seconds(4))
        #expect(search.begin(at: start + .seconds(4)).age == .seconds(6))
    }
}
