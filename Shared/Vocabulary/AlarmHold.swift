/// Holds an alarm back for a moment, because a command that would end it waits to be handled. Both times are by the database's clock,
/// not the rules' time, which may be far ahead of it after a failover: timers go by the clock.
package struct AlarmHold: Codable, Hashable, Sendable {
    package var since: Instant
    package var reconsideredAt: Instant

    package init(since: Instant, reconsideredAt: Instant) {
        self.since = since
        self.reconsideredAt = reconsideredAt
    }

    /// How long an alarm is held back at most.
    package static let longest: Interval = .minutes(1)
    /// How long until that is decided again.
    package static let pause: Interval = .seconds(1)

    /// How long the alarm still waits, if a command that was recorded in time waits to be handled. Timers' commands overtake
    /// others, which an outage may have kept waiting; but nothing holds an alarm back for long.
    /// - Parameters:
    ///   - begun: Since when it has been held back already.
    ///   - start: What was recorded before that can't be about it.
    ///   - end: What was recorded after that came too late.
    package init?(
        for waiting: WaitingCommand?, begun: AlarmHold?, from start: Instant? = nil, until end: Instant,
        longest: Interval = Self.longest, pause: Interval = Self.pause
    ) {
        guard let waiting, waiting.recordedAt <= end, start.map({ waiting.lastRecordedAt >= $0 }) ?? true else {
            return nil
        }
        let since = begun?.since ?? waiting.seenAt
        // A clock that went back doesn't make it longer.
        guard since <= waiting.seenAt, waiting.seenAt < since + longest else { return nil }
        self.init(since: since, reconsideredAt: waiting.seenAt + pause)
    }
}

/// An account's commands of a kind that wait to be handled and haven't expired.
package struct WaitingCommand: Hashable, Sendable {
    /// When the first was recorded.
    package var recordedAt: Instant
    /// When the last was.
    package var lastRecordedAt: Instant
    /// The database's clock when that was looked up.
    package var seenAt: Instant

    package init(recordedAt: Instant, lastRecordedAt: Instant? = nil, seenAt: Instant) {
        self.recordedAt = recordedAt
        self.lastRecordedAt = lastRecordedAt ?? recordedAt
        self.seenAt = seenAt
    }
}
