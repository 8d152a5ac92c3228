public import QuartetVocabulary

/// The server's time, as a client knows it from its own monotonic clock and the answers of `GET /v1/time`.
///
/// Wall clocks jump; a monotonic clock counts on. So a client reads its monotonic clock alone, and learns what to add:
///
/// ```swift
/// clock.take(.init(sent: sent, received: answer.received, replied: answer.sent, arrived: arrived))
/// let position = playback.position(at: clock.time(at: now))
/// ```
///
/// A message can only be late, never early. Of the latest samples the quickest message there and the quickest one back bound
/// the offset, and its middle is the estimate (as in RFC 5905, section 8, for the two messages of one sample). Taking each
/// way's quickest, rather than the sample with the shortest round trip, errs a third less where delays vary.
public struct ServerClock: Hashable, Sendable {
    /// One question for the time. The client's clock may begin anywhere.
    public struct Sample: Hashable, Sendable {
        /// By the client's clock: when the question was sent.
        public let sent: Interval
        /// By the server's clock: when the question was there.
        public let received: Instant
        /// By the server's clock: when the answer was sent.
        public let replied: Instant
        /// By the client's clock: when the answer was there.
        public let arrived: Interval

        public init(sent: Interval, received: Instant, replied: Instant, arrived: Interval) {
            self.sent = sent
            self.received = received
            self.replied = replied
            self.arrived = arrived
        }

        /// At least the offset: more by how long the question took.
        fileprivate var upper: Int64 { (received - Instant(microseconds: sent.microseconds)).microseconds }
        /// At most the offset: less by how long the answer took.
        fileprivate var lower: Int64 { (replied - Instant(microseconds: arrived.microseconds)).microseconds }
    }

    /// How many samples count: the latest.
    public static let memory = 8
    /// How many samples a client takes in quick succession, to begin with.
    public static let firstSamples = 3

    private var samples: [Sample] = []
    private var taken = 0

    public init() {}

    /// Takes a sample in.
    public mutating func take(_ sample: Sample) {
        samples = samples.suffix(Self.memory - 1) + [sample]
        taken += 1
    }

    /// Forgets all samples: after sleep, when the client's clock may have stood still, and after a change of network.
    public mutating func restart() { self = Self() }

    /// How long to wait before the next sample.
    public var pause: Interval { taken < Self.firstSamples ? .seconds(1) : .minutes(1) }

    /// What to add to the client's clock; nil before the first sample.
    public var offset: Interval? {
        guard let upper = samples.map(\.upper).min(), let lower = samples.map(\.lower).max() else { return nil }
        return Interval(microseconds: upper / 2 + lower / 2 + (upper % 2 + lower % 2) / 2)
    }

    /// The server's time when the client's clock shows `local`; nil before the first sample.
    public func time(at local: Interval) -> Instant? {
        offset.map { Instant(microseconds: local.microseconds) + $0 }
    }
}
