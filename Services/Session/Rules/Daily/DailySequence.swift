package import QuartetSessionContract
package import QuartetVocabulary

/// When a check-in is due.
package struct CheckInDeadline: Equatable, Sendable {
    package var due: Instant
    /// From when a check-in counts for it; nil where any does.
    package var opens: Instant?

    package init(due: Instant, opens: Instant? = nil) { (self.due, self.opens) = (due, opens) }
}

/// The deadlines of daily times: those that they make in their zone, and some of before a change that stay.
package struct DailySequence: Sendable {
    private let daily: DailyTimes
    private let zone: ZoneRules
    /// Earliest first.
    private let kept: [Instant]

    /// At most this long before a deadline, a check-in counts for it.
    package static let longestWindow: Interval = .hours(6)
    /// No change removes a deadline that is less than this ahead.
    package static let safe: Interval = .hours(12)
    /// Nearer to a deadline that stays and isn't made any more, none is made: when the clocks of a zone turn out to be an hour off, nobody is
    /// to check in at both.
    package static let nearest: Interval = .hours(2)
    /// Of two deadlines nearer to one another than this, only the first counts.
    private static let shortestGap: Interval = .minutes(Int64(DailyTimes.shortestGap / 2))
    /// More than the longest way from one deadline to the next.
    private static let days: Int64 = 10

    /// - Parameter kept: Those that stay.
    package init(_ daily: DailyTimes, in zone: ZoneRules, kept: [Instant] = []) {
        (self.daily, self.zone, self.kept) = (daily, zone, kept.sorted())
    }

    /// The deadlines around a time, each once, earliest first: at least one before it, and all of the week after it.
    private func deadlines(around time: Instant) -> [Instant] {
        let made = made(around: time)
        // Those that stay and are made all the same suppress nothing: times may be nearer to one another than that.
        let others = Set(kept).subtracting(made)
        return Set(made.filter { !Self.isNear($0, to: others) } + kept).sorted()
    }

    private static func isNear(_ due: Instant, to others: Set<Instant>) -> Bool {
        others.contains { abs((due - $0).microseconds) < nearest.microseconds }
    }

    private func made(around time: Instant) -> [Instant] {
        let second = time.seconds
        let today = LocalDay(second: second + zone.offset(at: second)).number
        let weekdays = Set(daily.weekdays.map(\.number))
        let all = ((today - Self.days)...(today + Self.days)).map(LocalDay.init(number:))
            .filter { weekdays.contains($0.weekday) }
            .flatMap { day in
                daily.times.map { minute in
                    Instant(seconds: zone.time(local: day.number * LocalDay.seconds + Int64(minute) * 60))
                }
            }
        // Where clocks skip a time, it may come to stand right before the one that follows.
        return Set(all).sorted().reduce(into: []) { made, due in
            if made.last.map({ $0 + Self.shortestGap <= due }) ?? true { made.append(due) }
        }
    }

    /// Which deadlines of before a change, soon after those that stay, it makes all the same, though they are near to one that it doesn't
    /// make: they stay as well.
    package func untouched(of following: [Instant]) -> [Instant] {
        let others = Set(kept.filter { !made(around: $0).contains($0) })
        return following.filter {
            !kept.contains($0) && Self.isNear($0, to: others) && made(around: $0).contains($0)
        }
    }

    /// The deadlines with the times from which a check-in counts for each: at most six hours before, and no more than half the way from
    /// the one before.
    private func windows(around time: Instant) -> [Window] {
        let all = deadlines(around: time)
        return zip(all, all.dropFirst()).map { before, due in
            let half = Interval(microseconds: (due - before).microseconds / 2)
            return Window(due: due, opens: due - min(Self.longestWindow, half))
        }
    }

    private struct Window {
        var due: Instant
        var opens: Instant
    }

    private func first(around time: Instant, where condition: (Window) -> Bool) -> CheckInDeadline? {
        windows(around: time).first(where: condition).map { CheckInDeadline(due: $0.due, opens: $0.opens) }
    }

    /// The first deadline after a time.
    package func next(after time: Instant) -> CheckInDeadline? { first(around: time) { $0.due > time } }

    /// The first deadline for which a check-in at a time comes too early: the one that is due after a check-in that counts.
    /// - Parameter due: The deadline that it counts for; a later one follows.
    package func next(afterCheckIn time: Instant, for due: Instant) -> CheckInDeadline? {
        first(around: max(time, due)) { $0.due > due && $0.opens > time }
    }

    /// The first deadline after a time that no check-in before it answered.
    /// - Parameter standing: One that none answered, as it was said then.
    package func next(
        after time: Instant, checkedIn last: Instant, standing: Instant? = nil
    ) -> CheckInDeadline? {
        first(around: time) { $0.due > time && ($0.due == standing || isUnanswered($0, checkedIn: last)) }
    }

    /// The deadlines after a time and before another one, of the week after it, that no check-in answered.
    package func deadlines(after time: Instant, before end: Instant, checkedIn last: Instant) -> [Instant] {
        windows(around: time).filter { $0.due > time && $0.due < end && isUnanswered($0, checkedIn: last) }.map(\.due)
    }

    /// One that stays wasn't answered when it was decided that it stays, and is forgotten once it is.
    private func isUnanswered(_ window: Window, checkedIn last: Instant) -> Bool {
        window.opens > last || kept.contains(window.due)
    }

    /// The last deadline by a time, if it is after another one and no check-in answered it.
    package func last(by time: Instant, after earliest: Instant, checkedIn last: Instant) -> Instant? {
        windows(around: time).last { $0.due <= time }.flatMap { $0.due > earliest && $0.opens > last ? $0.due : nil }
    }
}

extension Instant {
    fileprivate init(seconds: Int64) { self.init(microseconds: seconds * 1_000_000) }

    /// Whole seconds since 1970, rounded down.
    fileprivate var seconds: Int64 {
        microseconds >= 0 ? microseconds / 1_000_000 : (microseconds + 1) / 1_000_000 - 1
    }
}
