#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A point in time: whole microseconds since 1970-01-01 00:00 UTC, as PostgreSQL keeps it.
///
/// Never a floating-point number: what is compared or stored must come back the same.
public struct Instant: Microseconds {
    public let microseconds: Int64

    @inlinable public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// This machine's clock. Rules never read it: they are given the database's time.
    public static var now: Self {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Self(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }

    /// Whole milliseconds since 1970, rounded down.
    public var milliseconds: Int64 { microseconds.quotientRoundedDown(dividingBy: 1000) }

    /// Saturates instead of trapping, because deadlines may come from outside.
    public static func + (time: Self, interval: Interval) -> Self {
        let (sum, overflow) = time.microseconds.addingReportingOverflow(interval.microseconds)
        return Self(microseconds: overflow ? (interval.microseconds > 0 ? .max : .min) : sum)
    }

    /// Saturates.
    public static func - (time: Self, interval: Interval) -> Self {
        time + Interval(microseconds: interval.microseconds == .min ? .max : -interval.microseconds)
    }

    /// The time from `right` to `left`. Saturates.
    public static func - (left: Self, right: Self) -> Interval {
        let (difference, overflow) = left.microseconds.subtractingReportingOverflow(right.microseconds)
        return Interval(microseconds: overflow ? (left > right ? .max : .min) : difference)
    }
}

extension Instant: CustomStringConvertible {
    /// ISO 8601 in UTC, with as many decimals as it needs: `2027-01-15T08:00:00.25Z`.
    public var description: String {
        let (year, month, day, microsecond) = utc
        let minute = microsecond / 60_000_000
        let date = "\(year < 0 ? "-" : "")\(padded(year.magnitude, to: 4))-\(padded(month))-\(padded(day))"
        let time = "\(padded(minute / 60)):\(padded(minute % 60)):\(padded(microsecond % 60_000_000 / 1_000_000))"
        return "\(date)T\(time)\(decimals(of: microsecond))Z"
    }

    /// Its date in the Gregorian calendar, and how many microseconds of that day have passed, in UTC.
    package var utc: (year: Int64, month: Int64, day: Int64, microsecond: Int64) {
        let dayLength: Int64 = 86_400_000_000
        let days = microseconds.quotientRoundedDown(dividingBy: dayLength)
        // Years begin in March here, so that a leap day is the last. Eras have 400 of them.
        let shifted = days + 719_468
        let era = shifted.quotientRoundedDown(dividingBy: 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        return (
            era * 400 + yearOfEra + (month < 10 ? 0 : 1), (month + 2) % 12 + 1, dayOfYear - (153 * month + 2) / 5 + 1,
            (microseconds % dayLength + dayLength) % dayLength
        )
    }
}

/// A span of time in whole microseconds.
public struct Interval: Microseconds {
    public let microseconds: Int64

    @inlinable public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Rounds towards zero and saturates.
    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let (sum, carry) = whole.addingReportingOverflow(attoseconds / 1_000_000_000_000)
        self.init(microseconds: overflow || carry ? (seconds < 0 ? .min : .max) : sum)
    }

    public static func seconds(_ count: Int64) -> Self { Self(microseconds: count * 1_000_000) }
    public static func minutes(_ count: Int64) -> Self { seconds(count * 60) }
    public static func hours(_ count: Int64) -> Self { minutes(count * 60) }
    /// Days of 24 hours.
    public static func days(_ count: Int64) -> Self { hours(count * 24) }

    /// Whole seconds, rounded up without overflow: spans may come from outside and be as long as can be.
    public var secondsRoundedUp: Int64 { microseconds / 1_000_000 + (microseconds % 1_000_000 > 0 ? 1 : 0) }

    public var duration: Duration { .microseconds(microseconds) }
}

extension Interval: CustomStringConvertible {
    /// ISO 8601, in days of 24 hours: `P1DT2H`, `PT0.25S`.
    public var description: String {
        let total = microseconds.magnitude
        let days = total / 86_400_000_000
        let (hours, minutes) = (total / 3_600_000_000 % 24, total / 60_000_000 % 60)
        let seconds = "\(total / 1_000_000 % 60)\(decimals(of: Int64(total % 1_000_000)))"
        var clock = hours > 0 ? "\(hours)H" : ""
        clock += minutes > 0 ? "\(minutes)M" : ""
        clock += seconds != "0" || total == 0 ? "\(seconds)S" : ""
        return "\(microseconds < 0 ? "-" : "")P\(days > 0 ? "\(days)D" : "")\(clock.isEmpty ? "" : "T\(clock)")"
    }
}

private func padded(_ number: some BinaryInteger, to count: Int = 2) -> String {
    String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
}

/// The part of a time that is less than a second, behind a point; nothing for a whole second.
private func decimals(of microseconds: Int64) -> String {
    var digits = padded(microseconds % 1_000_000, to: 6)
    while digits.hasSuffix("0") { digits.removeLast() }
    return digits.isEmpty ? "" : ".\(digits)"
}

/// A type whose JSON is its number of microseconds.
public protocol Microseconds: Hashable, Comparable, Codable, Sendable {
    var microseconds: Int64 { get }
    init(microseconds: Int64)
}

extension Microseconds {
    public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

    public init(from decoder: any Decoder) throws {
        self.init(microseconds: try decoder.singleValueContainer().decode(Int64.self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(microseconds)
    }
}

extension Int64 {
    fileprivate func quotientRoundedDown(dividingBy divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
