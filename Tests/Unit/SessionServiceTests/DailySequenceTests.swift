import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import TestKit
import Testing

@Suite("Session: the deadlines of daily times")
struct DailySequenceTests {
    private static func instant(_ second: Int64) -> Instant { Instant(microseconds: second * 1_000_000) }

    /// The deadlines of some days by somebody else's clocks.
    static func expected(_ daily: DailyTimes, _ oracle: ZoneOracle, days: Range<Int64>) -> [Instant] {
        // 1970-01-01 was a Thursday.
        let weekdays = Set(daily.weekdays.compactMap { Weekday.allCases.firstIndex(of: $0) })
        let made = days.filter { weekdays.contains(Int(($0 + 3) % 7)) }.flatMap { day in
            daily.times.map { instant(oracle.time(local: day * 86_400 + Int64($0) * 60)) }
        }
        return Set(made).sorted().reduce(into: []) { all, due in
            if all.last.map({ $0 + .minutes(30) <= due }) ?? true { all.append(due) }
        }
    }

    @Test(
        "around each change of the clocks from 2025 to 2030 they are where another implementation says (A6)",
        arguments: Zones.twelve)
    func deadlines(_ name: String) throws {
        let (zone, oracle) = (try Zones.rules(name), try #require(ZoneOracle(name)))
        for times in [[0, 60, 120, 180], [90, 150, 210, 1380], [30, 125, 1439]] {
            for weekdays in [Weekday.allCases, [.saturday], [.sunday, .monday]] {
                let daily = DailyTimes(times: times, weekdays: weekdays, zone: name)
                let sequence = DailySequence(daily, in: zone)
                for change in oracle.changes {
                    let today = (change + oracle.offset(at: change)) / 86_400
                    let expected = Self.expected(daily, oracle, days: today - 9..<today + 10)
                    for (index, due) in expected.enumerated()
                    where index > 0 && index + 1 < expected.count
                        && abs((due - Self.instant(change)).microseconds) < 2 * 86_400_000_000
                    {
                        let next = try #require(sequence.next(after: due - .seconds(1)))
                        try #require(next.due == due, "\(name) \(change)")
                        let half = Interval(microseconds: (due - expected[index - 1]).microseconds / 2)
                        try #require(next.opens == due - min(.hours(6), half), "\(name) \(change)")
                        try #require(sequence.next(after: due)?.due == expected[index + 1], "\(name) \(change)")
                    }
                }
            }
        }
    }

    @Test("two times that a change of the clocks makes one instant are one deadline (A6)")
    func one() throws {
        let daily = DailyTimes(times: [120, 180], weekdays: Weekday.allCases, zone: "Europe/Berlin")
        let sequence = DailySequence(daily, in: try Zones.rules("Europe/Berlin"))
        let spring = Self.instant(1_774_746_000)
        let next = try #require(sequence.next(after: spring - .seconds(1)))
        #expect(next.due == spring && next.opens == spring - .hours(6))
        // A day later they are two.
        #expect(sequence.next(after: spring)?.due == spring + .hours(23))
        #expect(sequence.next(after: spring + .hours(23))?.due == spring + .hours(24))
    }

    @Test("two times that a change of the clocks brings within half an hour are one deadline, the first of them (A6)")
    func near() throws {
        let daily = DailyTimes(times: [121, 181], weekdays: Weekday.allCases, zone: "Europe/Berlin")
        let sequence = DailySequence(daily, in: try Zones.rules("Europe/Berlin"))
        // 02:01 is skipped, and 03:01 would be a minute later.
        let spring = Self.instant(1_774_746_000)
        #expect(sequence.next(after: spring - .seconds(1))?.due == spring)
        let next = try #require(sequence.next(after: spring))
        #expect(next.due == spring + .hours(23) + .minutes(1))
        #expect(sequence.next(after: next.due)?.due == next.due + .hours(1))
    }

    @Test("a check-in counts for one deadline at most, whenever it is made (A6)")
    func counts() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(60, long: 600) {
                let name = try #require(Zones.twelve.randomElement(using: &random))
                let sequence = DailySequence(Self.daily(name, using: &random), in: try Zones.rules(name))
                var due = try #require(
                    sequence.next(after: Self.instant(Int64.random(in: Zones.years, using: &random))))
                for _ in 0..<20 {
                    let following = try #require(sequence.next(after: due.due))
                    let opens = try #require(due.opens)
                    try #require(opens < due.due && following.opens.map { $0 > due.due } == true)
                    try #require(due.due - opens <= .hours(6) && following.due - due.due <= .days(9))
                    let ahead = sequence.deadlines(after: due.due, before: due.due + .hours(12), checkedIn: due.due)
                    try #require(ahead.first == (following.due < due.due + .hours(12) ? following.due : nil))
                    // Too early for it, just in time, at the end, and a second late.
                    try #require(sequence.next(afterCheckIn: opens - .seconds(1), for: opens - .seconds(1)) == due)
                    for time in [opens, due.due] {
                        try #require(sequence.next(afterCheckIn: time, for: due.due) == following)
                    }
                    due = following
                }
            }
        }
    }

    @Test("a deadline that stays is one, and no other is within two hours of it (A6)")
    func kept() throws {
        let daily = DailyTimes(times: [540, 720, 1200], weekdays: Weekday.allCases, zone: "UTC")
        let midnight = Self.instant(1_781_481_600)
        let stays = midnight + .minutes(570)
        let sequence = DailySequence(daily, in: ZoneRules(first: 0), kept: [stays])
        let next = try #require(sequence.next(after: midnight, checkedIn: midnight - .hours(1)))
        #expect(next.due == stays)
        let later = sequence.deadlines(after: stays, before: stays + .hours(12), checkedIn: midnight)
        #expect(later == [midnight + .hours(12), midnight + .hours(20)])
        #expect(sequence.next(after: stays)?.opens == midnight + .hours(12) - .minutes(75))
        // It wasn't answered, however late somebody checked in by the times that are new.
        #expect(sequence.next(after: midnight + .hours(8), checkedIn: midnight + .hours(8))?.due == stays)
    }

    /// Times of which some are near to each other.
    static func daily(_ zone: String, using random: inout SeededRandom) -> DailyTimes {
        let first = Int.random(in: 0..<1440, using: &random)
        let longest = random.oneIn(2) ? 119 : 400
        var times = [first]
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            times.append(((times.last ?? first) + Int.random(in: 60...longest, using: &random)) % 1440)
        }
        let weekdays = Weekday.allCases.filter { _ in Bool.random(using: &random) }
        return DailyTimes(times: times, weekdays: weekdays.isEmpty ? [.friday] : weekdays, zone: zone)
    }
}
