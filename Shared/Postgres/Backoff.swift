/// How long to wait after the n-th failure in a row: exponential with full jitter, so that many that failed together
/// don't come back together.
public struct Backoff: Hashable, Sendable {
    /// The longest first wait.
    public let initial: Duration
    /// No wait is longer.
    public let maximum: Duration
    /// How much longer each wait is than the one before.
    public let multiplier: Double

    public init(initial: Duration, maximum: Duration, multiplier: Double) {
        self.initial = initial
        self.maximum = maximum
        self.multiplier = multiplier
    }

    /// Reconnecting to a database: 50 ms at first, 5 s at most.
    public static let reconnect = Backoff(initial: .milliseconds(50), maximum: .seconds(5), multiplier: 2)

    /// The longest wait after the attempt with this number, from 1.
    public func ceiling(attempt: Int) -> Duration {
        var ceiling = initial
        for _ in 1..<max(1, min(attempt, 64)) {
            ceiling = ceiling * multiplier
            if ceiling >= maximum { return maximum }
        }
        return min(ceiling, maximum)
    }

    /// A wait between a tenth of the ceiling and all of it.
    public func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        ceiling(attempt: attempt) * Double.random(in: 0.1...1, using: &generator)
    }

    /// The same with the system's randomness.
    public func delay(attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(attempt: attempt, using: &generator)
    }
}
