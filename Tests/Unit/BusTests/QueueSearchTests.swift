import Bus
import QuartetVocabulary
import TestKit
import Testing

@Suite("Where to search a queue from")
struct QueueSearchTests {
    @Test(
        """
        a search starts where the last one was, and searches everything the less often the longer that takes, up to a \
        second
        """)
    func search() {
        var search = QueueSearch()
        let start = ContinuousClock.now
        let first = search.begin(at: start)
        #expect(first.age >= .days(10_000))
        // It took 10 ms, and there was more.
        search.end(first, foundAll: false, at: start + .milliseconds(10))
        #expect(search.begin(at: start + .milliseconds(20)).age >= .days(10_000), "nothing was ever found to be all")
        search.end(first, foundAll: true, at: start + .milliseconds(10))
        let next = search.begin(at: start + .milliseconds(200))
        #expect(next.age == Interval(microseconds: 5_200_000), "the time since, and what was committed late")
        search.end(next, foundAll: true, at: start + .milliseconds(200))
        #expect(search.begin(at: start + .milliseconds(400)).age == Interval(microseconds: 5_200_000))
        // Fifty times as long after the whole search.
        #expect(search.begin(at: start + .milliseconds(509)).age < .minutes(1))
        let slow = search.begin(at: start + .milliseconds(510))
        #expect(slow.age >= .days(10_000))
        // The server stood still for eight seconds.
        search.end(slow, foundAll: true, at: start + .milliseconds(8510))
        #expect(search.begin(at: start + .milliseconds(9509)).age < .minutes(1))
        #expect(search.begin(at: start + .milliseconds(9510)).age >= .days(10_000))
    }

    @Test("after a search that failed, everything is searched; if that fails, what is newly due is searched meanwhile")
    func failed() {
        var search = QueueSearch()
        let start = ContinuousClock.now
        search.end(search.begin(at: start), foundAll: true, at: start + .milliseconds(100))
        let narrow = search.begin(at: start + .milliseconds(200))
        #expect(narrow.age < .minutes(1))
        search.fail(narrow, at: start + .milliseconds(300))
        let whole = search.begin(at: start + .milliseconds(301))
        #expect(whole.age >= .days(10_000))
        search.fail(whole, at: start + .milliseconds(10_301))
        #expect(search.begin(at: start + .milliseconds(10_302)).age < .minutes(1))
        #expect(search.begin(at: start + .milliseconds(11_302)).age >= .days(10_000))

        var new = QueueSearch()
        new.fail(new.begin(at: start), at: start + .seconds(10))
        #expect(new.begin(at: start + .milliseconds(10_100)).age == Interval(microseconds: 15_100_000))
    }

    @Test(
        """
        whatever stalls, fails, skips, rolls back or commits late, nothing due stays unseen for more than two seconds \
        in which the server answers
        """)
    func everythingIsSeen() async throws {
        try await withRandom { random in
            for _ in 0..<300 {
                var model = QueueModel(&random)
                try model.run()
            }
        }
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

/// A queue on a server that stalls and fails, searched as services do it. All times are virtual.
private struct QueueModel {
    private struct Row {
        let due: Duration
        /// When it can be seen: later than it is due, if its transaction took long.
        let committed: Duration
        /// When others hold it, without taking it.
        let held: [Range<Duration>]

        func isHeld(at time: Duration) -> Bool { held.contains { $0.contains(time) } }
        /// Since when it has been free, at a time when it is.
        func free(at time: Duration) -> Duration {
            held.map(\.upperBound).filter { $0 <= time }.reduce(max(due, committed), max)
        }
    }

    private let limit = 20
    /// How often the service looks.
    private let poll: Duration
    /// What a search of everything costs the server.
    private let wholeCost: Duration
    private let noticesSkips: Bool
    private var rows: [Row]
    private var random: SeededRandom
    private static let end = 60_000

    init(_ parent: inout SeededRandom) {
        var random = parent.fork()
        func time(_ range: Range<Int>) -> Duration { .milliseconds(Int.random(in: range, using: &random)) }
        poll = time(20..<500)
        wholeCost = time(1..<200)
        noticesSkips = Bool.random(using: &random)
        rows = (0..<200).map { _ in
            let due = time(-20_000..<Self.end)
            let held = (0..<(random.oneIn(3) ? 2 : 0)).map { _ in
                let start = due + time(-5000..<10_000)
                return start..<start + time(1..<15_000)
            }
            return Row(
                due: due, committed: due + (random.oneIn(5) ? time(0..<20_000) : .milliseconds(-1000)), held: held)
        }
        self.random = random
    }

    private mutating func time(_ range: Range<Int>) -> Duration { .milliseconds(Int.random(in: range, using: &random)) }

    mutating func run() throws {
        var search = QueueSearch()
        let start = ContinuousClock.now
        var now = Duration.zero
        // Only what happens while the server answers counts.
        var stalls: [Range<Duration>] = []
        var lastFailure = Duration.zero
        while now < .milliseconds(Self.end * 2), !rows.isEmpty {
            let look = search.begin(at: start + now)
            let isWhole = look.age >= .days(10_000)
            let stall = random.oneIn(30) ? time(500..<10_000) : .zero
            if stall > .zero { stalls.append(now..<now + stall) }
            // It stalls before it looks or afterwards.
            let seen = now + (isWhole ? wholeCost : time(1..<5)) + (Bool.random(using: &random) ? stall : .zero)
            let ended = max(now + stall, seen)
            if random.oneIn(40) {
                now = ended
                lastFailure = now
                search.fail(look, at: start + now)
            } else {
                let found = rows.indices.filter {
                    rows[$0].committed <= seen && rows[$0].due <= seen && rows[$0].due >= seen - look.age.duration
                }
                let taken = found.filter { !rows[$0].isHeld(at: seen) }.sorted { rows[$0].due < rows[$1].due }
                    .prefix(limit)
                for index in taken {
                    let free = max(rows[index].free(at: seen), lastFailure)
                    let stalled = stalls.map { $0.clamped(to: min(free, seen)..<seen) }
                        .reduce(Duration.zero) { $0 + ($1.upperBound - $1.lowerBound) }
                    let unseen = seen - free - stalled
                    try #require(unseen <= .seconds(2), "\(rows[index]) was seen at \(seen)")
                }
                rows = rows.indices.filter { !taken.contains($0) }.map { rows[$0] }
                now = ended
                let isHeld = noticesSkips && !found.isEmpty && taken.isEmpty
                search.end(look, foundAll: taken.count < limit && !isHeld, at: start + now)
                if !taken.isEmpty { continue }
            }
            now += poll
        }
        try #require(rows.isEmpty, "never seen: \(rows)")
    }
}
