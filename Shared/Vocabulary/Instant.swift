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
