/// What those who were told of an alarm answered, as far as it holds the alarm's repetitions back.
public struct AnswerHold: Codable, Hashable, Sendable {
    /// Until when somebody is on it.
    public var until: Instant?
    /// When they said so.
    public var untilSince: Instant?
    /// Until when it isn't repeated because somebody says that the person is safe.
    public var safeUntil: Instant?
    /// When they said so.
    public var safeSince: Instant?
    /// When the alarm is to be closed for that.
    public var closes: Instant?

    public init(
        until: Instant? = nil, untilSince: Instant? = nil, safeUntil: Instant? = nil, safeSince: Instant? = nil,
        closes: Instant? = nil
    ) {
        self.until = until
        self.untilSince = untilSince
        self.safeUntil = safeUntil
        self.safeSince = safeSince
        self.closes = closes
    }
}
