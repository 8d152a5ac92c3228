public import Vocabulary

/// When a batch is handled, by the database's clock and as the rules are told.
public struct BatchTime: Hashable, Sendable {
    /// The database's clock as it is: what age and expiry are judged by. It may go back, after a failover for example.
    public let clock: Instant
    /// The time that rules are given: never less than the batch before, nor before what the batch handles was recorded. So
    /// a deadline that had passed when its timer fired has passed when it is handled.
    ///
    /// While the clock is behind it, it doesn't stand still, else no pause between two check-ins would ever end: it goes on
    /// at half speed. So a clock that was an hour ahead for a moment has caught up after two hours.
    public let given: Instant

    /// All its parts, as the properties describe them.
    public init(clock: Instant, given: Instant) {
        self.clock = clock
        self.given = given
    }

    /// - Parameters:
    ///   - clock: the database's clock.
    ///   - cursors: what the batch builds on.
    ///   - messages: what it handles.
    ///   - moment: now, by the clock by which ``Cursor/givenAt`` is measured.
    init(
        clock: Instant, after cursors: [Cursor], handling messages: [RecordedMessage],
        at moment: ContinuousClock.Instant
    ) {
        let before = cursors.compactMap { cursor in
            cursor.givenTime.map { given in
                let passed = cursor.givenAt.map { max(.zero, moment - $0) } ?? .zero
                return given + Interval(passed / 2)
            }
        }
        self.init(clock: clock, given: (before + messages.map(\.recordedAt)).reduce(clock, max))
    }
}
