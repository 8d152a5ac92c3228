public import QuartetVocabulary

/// What becomes of pings that an account doesn't answer.
public struct PingEscalation: Codable, Hashable, Sendable {
    /// How long after a responder's ping an alert is raised if it isn't answered, unless something else is chosen for that responder.
    /// Nil for never.
    public var after: Interval?
    /// When nothing is raised; nil for no such hours.
    public var quietHours: QuietHours?

    public init(after: Interval? = nil, quietHours: QuietHours? = nil) {
        self.after = after
        self.quietHours = quietHours
    }

    /// How long it may be.
    public static let times: ClosedRange<Interval> = .minutes(15) ... .hours(24)
    /// How long before the alert the person is warned.
    public static let lead: Interval = .minutes(5)
    /// How long before, at most, if quiet hours put it off: the person may be asleep.
    public static let longestLead: Interval = .minutes(30)

    /// Nil if nothing is chosen.
    package var kept: Self? { after == nil && quietHours == nil ? nil : self }

    /// Whether something may be chosen: whole minutes within ``times``, or zero for never.
    static func allows(_ after: Interval) -> Bool {
        after == .seconds(0) || times.contains(after) && after.microseconds % Interval.minutes(1).microseconds == 0
    }
}

/// Hours of each day in which no unanswered ping warns or raises an alert, in minutes of the day in UTC. What falls due in them is
/// warned of at their end.
public struct QuietHours: Codable, Hashable, Sendable {
    /// The minute in which they begin, from 0 to 1439.
    public var from: Int
    /// The minute in which they end. It may be before ``from``, on the next day.
    public var to: Int

    public init(from: Int, to: Int) {
        self.from = from
        self.to = to
    }

    static let minutes = 0..<1440
    /// How many minutes of the day they leave at least: a warning after their end, and what it warns of, must not be in them again.
    static let shortestGap = 60

    /// How many minutes there are from their end until they begin again.
    var gap: Int { (from - to + Self.minutes.count) % Self.minutes.count }

    /// The end of these hours if the time is in them; otherwise the time.
    public func end(for time: Instant) -> Instant {
        let (minute, day) = (Interval.minutes(1).microseconds, Interval.days(1).microseconds)
        let ofDay = ((time.microseconds % day) + day) % day
        let (from, to) = (Int64(from) * minute, Int64(to) * minute)
        let isIn = from < to ? from <= ofDay && ofDay < to : ofDay >= from || ofDay < to
        guard isIn else { return time }
        let left = to > ofDay ? to - ofDay : to + day - ofDay
        return time + Interval(microseconds: left)
    }
}
