/// How far the clocks of a time zone are from UTC, and when that changes. Everything is in seconds.
package struct ZoneRules: Equatable, Sendable {
    /// When the offset changes, earliest first.
    let transitions: [Int64]
    /// The offset from each of these on.
    let offsets: [Int64]
    /// The offset before the first.
    let first: Int64
    /// What holds after the last.
    let rule: ZoneRule?

    /// - Parameters:
    ///   - transitions: Ascending; as many as `offsets`.
    ///   - rule: What holds from the last transition on, and always if there are none (RFC 8536, 3.2); nil: the last offset.
    package init(first: Int64, transitions: [Int64] = [], offsets: [Int64] = [], rule: ZoneRule? = nil) {
        self.first = transitions.isEmpty ? rule?.standard ?? first : first
        (self.transitions, self.offsets, self.rule) = (transitions, offsets, rule)
    }

    /// Further from UTC than any offset was or is.
    package static let longestOffset: Int64 = 26 * 3600

    /// Stretches of time with one offset.
    private struct Stretch {
        var start: Int64
        var offset: Int64
    }

    /// The stretches that cover a range, the first one without a known beginning.
    private func stretches(_ range: ClosedRange<Int64>) -> [Stretch] {
        // The last transition at or before the range.
        var low = 0
        var high = transitions.count
        while low < high {
            let middle = (low + high) / 2
            if transitions[middle] <= range.lowerBound { low = middle + 1 } else { high = middle }
        }
        var found = [Stretch(start: .min, offset: low == 0 ? first : offsets[low - 1])]
        while low < transitions.count, transitions[low] <= range.upperBound {
            found.append(Stretch(start: transitions[low], offset: offsets[low]))
            low += 1
        }
        guard low == transitions.count, let rule else { return found }
        let last = transitions.last ?? .min
        for change in rule.changes(range) where change.at > last {
            if change.at <= range.lowerBound {
                found = [Stretch(start: .min, offset: change.offset)]
            } else if change.at <= range.upperBound {
                found.append(Stretch(start: change.at, offset: change.offset))
            }
        }
        return found
    }

    /// How far local time is ahead of UTC at a time.
    package func offset(at time: Int64) -> Int64 { stretches(time...time).last?.offset ?? first }

    /// The first time at which clocks show a local time or a later one: the first instant after it if clocks skip it, and the first of
    /// two if they show it twice.
    /// - Parameter local: Seconds since 1970-01-01 00:00 by the clock of the zone.
    package func time(local: Int64) -> Int64 {
        let all = stretches((local - Self.longestOffset)...(local + Self.longestOffset))
        for (index, stretch) in all.enumerated() {
            let time = max(stretch.start, local - stretch.offset)
            if index + 1 == all.count || time < all[index + 1].start { return time }
        }
        return local - first
    }
}

/// What a zone does year after year: one offset, or two that take turns.
package struct ZoneRule: Equatable, Sendable {
    package struct Turn: Equatable, Sendable {
        package enum Day: Equatable, Sendable {
            /// The last one is 365, and 29 February is never counted.
            case julian(Int)
            /// From 0; 29 February is counted.
            case ofYear(Int)
            /// The week is 1 to 5, of which 5 is the last; the weekday is 0 for Sunday.
            case ofMonth(Int, week: Int, weekday: Int)
        }

        let day: Day
        /// Seconds since that day's midnight, by the clock before the turn. More than a day, or less than nothing, is allowed.
        let second: Int64
    }

    let standard: Int64
    /// The other offset, from one turn until the other.
    let other: (offset: Int64, from: Turn, until: Turn)?

    package static func == (left: Self, right: Self) -> Bool {
        guard left.standard == right.standard else { return false }
        switch (left.other, right.other) {
        case (nil, nil): return true
        case (let left?, let right?): return left == right
        default: return false
        }
    }

    /// The changes of offset in a range, and the last ones before it, earliest first.
    func changes(_ range: ClosedRange<Int64>) -> [(at: Int64, offset: Int64)] {
        // A single offset never changes.
        guard let other else { return [] }
        let years = (LocalDay(second: range.lowerBound).year - 2)...(LocalDay(second: range.upperBound).year + 1)
        return years.flatMap { year in
            [
                (at: other.from.second(of: year) - standard, offset: other.offset),
                (at: other.until.second(of: year) - other.offset, offset: standard),
            ]
        }.sorted {
            // A zone that never turns back says so by two turns at one time.
            ($0.at, $0.offset == other.offset ? 1 : 0) < ($1.at, $1.offset == other.offset ? 1 : 0)
        }
    }
}

extension ZoneRule.Turn {
    /// When it happens in a year, by the clock before it.
    fileprivate func second(of year: Int64) -> Int64 {
        let day: Int64
        switch self.day {
        case .julian(let number):
            let isAfterLeapDay = number >= 60 && LocalDay.isLeap(year)
            day = LocalDay(year: year, month: 1, day: 1).number + Int64(number - 1) + (isAfterLeapDay ? 1 : 0)
        case .ofYear(let number): day = LocalDay(year: year, month: 1, day: 1).number + Int64(number)
        case .ofMonth(let month, let week, let weekday):
            let first = LocalDay(year: year, month: month, day: 1)
            // Monday is 0 there, and Sunday here.
            let ahead = Int64((weekday + 6) % 7 - first.weekday + 7) % 7
            let next = LocalDay(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
            let found = first.number + ahead + Int64(week - 1) * 7
            day = found < next.number ? found : found - 7
        }
        return day * LocalDay.seconds + second
    }
}

/// A day of the proleptic Gregorian calendar.
struct LocalDay: Hashable, Sendable {
    /// Days since 1970-01-01.
    let number: Int64

    static let seconds: Int64 = 86_400

    init(number: Int64) { self.number = number }

    /// - Parameter second: Seconds since 1970-01-01 00:00 by the clock of a zone.
    init(second: Int64) {
        number = second >= 0 ? second / Self.seconds : (second + 1) / Self.seconds - 1
    }

    init(year: Int64, month: Int, day: Int) {
        // Years that begin in March have the leap day at their end.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let ofEra = shifted - era * 400
        let ofYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        number = era * 146_097 + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - 719_468
    }

    static func isLeap(_ year: Int64) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    var year: Int64 {
        // A first guess, which is never too late and at most one year too early.
        let days = number + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let ofEra = days - era * 146_097
        let year = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365 + era * 400
        return LocalDay(year: year + 1, month: 1, day: 1).number <= number ? year + 1 : year
    }

    /// From 0 for Monday.
    var weekday: Int {
        let rest = Int((number + 3) % 7)
        return rest < 0 ? rest + 7 : rest
    }
}
