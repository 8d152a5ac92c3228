/// How often and how fast a lost connection is opened again.
///
/// The delay before attempt *n* is random between zero and `initial` · `multiplier`^(n-1), at most `maximum` ("full jitter"): apps
/// that all lose their server at once don't all come back at once.
public struct ReconnectionPolicy: Hashable, Sendable {
    /// Nil for any number.
    public let attempts: Int?
    public let initial: Duration
    public let maximum: Duration
    public let multiplier: Double

    /// Negative numbers count as zero, a multiplier below one as one, and a maximum below `initial` as `initial`.
    public init(attempts: Int?, initial: Duration, maximum: Duration, multiplier: Double) {
        self.attempts = attempts.map { max(0, $0) }
        self.initial = max(.zero, initial)
        self.maximum = max(self.initial, maximum)
        self.multiplier = multiplier.isFinite ? max(1, multiplier) : 1
    }

    /// Five attempts, within 1 s to 30 s, twice as long each time.
    public static let standard = Self(attempts: 5, initial: .seconds(1), maximum: .seconds(30), multiplier: 2)
    /// Ten attempts, within 0.5 s to 60 s, half as long again each time.
    public static let aggressive = Self(
        attempts: 10, initial: .milliseconds(500), maximum: .seconds(60), multiplier: 1.5)
    /// The first loss is final.
    public static let disabled = Self(attempts: 0, initial: .zero, maximum: .zero, multiplier: 1)
    /// As ``standard``, without an end.
    public static let forever = Self(attempts: nil, initial: .seconds(1), maximum: .seconds(30), multiplier: 2)

    /// The longest delay before an attempt, which are counted from 1.
    public func limit(beforeAttempt attempt: Int) -> Duration {
        guard multiplier > 1, initial > .zero else { return initial }
        var (limit, next) = (initial, 1)
        while next < attempt, limit < maximum {
            limit = limit * multiplier
            next += 1
        }
        return min(limit, maximum)
    }

    /// A random delay before an attempt; nil if there is no such attempt.
    func delay(beforeAttempt attempt: Int, using random: inout some RandomNumberGenerator) -> Duration? {
        guard attempts.map({ attempt <= $0 }) ?? true else { return nil }
        return limit(beforeAttempt: attempt) * Double.random(in: 0...1, using: &random)
    }
}
