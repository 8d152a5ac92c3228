/// How long to wait after the n-th failure in a row: exponential, with jitter, so that clients that failed together
/// don't come back together.
public struct Backoff: Hashable, Sendable {
    /// The longest first wait.
    public let initial: Duration
    public let maximum: Duration
    public let multiplier: Double

    public init(initial: Duration, maximum: Duration, multiplier: Double) {
        self.initial = initial
        self.maximum = maximum
        self.multiplier = multiplier
    }

    /// Reconnecting to a database: 50 ms at first, 5 s at most.
    public static let reconnect = Backoff(initial: .milliseconds(50), maximum: .seconds(5), multiplier: 2)

    /// The longest wait after an attempt. The first attempt is 1.
    public func ceiling(attempt: Int) -> Duration {
        var ceiling = initial
        for _ in 1..<max(1, min(attempt, 64)) {
            ceiling = ceiling * multiplier
            if ceiling >= maximum { return maximum }
        }
        return min(ceiling, maximum)
    }

    /// The number of the next attempt. A server that served a connection for a while isn't in trouble, so it is 1 again.
    package func attempt(after attempt: Int, begun: ContinuousClock.Instant) -> Int {
        .now - begun > .seconds(1) ? 1 : attempt + 1
    }

    /// A wait between a tenth of the ceiling and all of it.
    public func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        ceiling(attempt: attempt) * Double.random(in: 0.1...1, using: &generator)
    }

    public func delay(attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(attempt: attempt, using: &generator)
    }
}
