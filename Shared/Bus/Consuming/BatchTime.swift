package import QuartetVocabulary

/// The two times at which a batch is handled: the database's clock, and the time that rules are given.
package struct BatchTime: Hashable, Sendable {
    /// The database's clock as it is, which decides age and expiry. It may go back, for example after a failover.
    package let clock: Instant
    /// The time that rules are given: never before the last batch's, nor before any of this batch's messages was
    /// recorded. So a deadline that had passed when its timer fired has also passed when the timer's command is
    /// handled.
    ///
    /// While the clock is behind this time, it goes on at half speed instead of standing still, which would keep any
    /// pause between two check-ins from ending. A clock that was an hour ahead for a moment has caught up after two
    /// hours.
    package let given: Instant

    package init(clock: Instant, given: Instant) {
        self.clock = clock
        self.given = given
    }

    /// - Parameters:
    ///   - cursors: What the batch builds on.
    ///   - moment: Now, by the clock that ``Cursor/givenAt`` uses.
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
