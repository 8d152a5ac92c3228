package import Vocabulary

/// Where to begin the search of a table that is used as a queue, such as `timer`: not at its oldest entries, which may
/// be dead ones that an old snapshot keeps.
///
/// After a search that found everything due, the next one begins a little before that time. Now and then a search goes
/// over the whole table, because rows may be due earlier. The longer that takes, the less often it happens, so walking
/// over dead entries costs at most a fiftieth of a core.
///
/// ```sql
/// SELECT … WHERE due_at >= now() - $age AND due_at <= now() ORDER BY due_at LIMIT 500
/// ```
package struct QueueSearch: Sendable {
    /// A row that became due may be committed this much later and is still found at once.
    private static var overlap: Duration { .seconds(5) }
    private static var pauseFactor: Int { 50 }
    private static var everything: Interval { .days(36_500) }

    /// When the last search began that found everything due.
    private var exhausted: ContinuousClock.Instant?
    private var nextWhole: ContinuousClock.Instant?

    /// A search in progress.
    package struct Look: Sendable {
        /// How far back to search.
        package let age: Interval
        fileprivate let begun: ContinuousClock.Instant
        fileprivate let isWhole: Bool
    }

    package init() {}

    package func begin(at now: ContinuousClock.Instant = .now) -> Look {
        guard let exhausted, let nextWhole, now < nextWhole else {
            return Look(age: Self.everything, begun: now, isWhole: true)
        }
        let age = now - exhausted + Self.overlap
        return Look(age: Interval(microseconds: Int64(age / .microseconds(1))), begun: now, isWhole: false)
    }

    /// - Parameter foundAll: Whether the search found everything that is due.
    package mutating func end(_ look: Look, foundAll: Bool, at now: ContinuousClock.Instant = .now) {
        if look.isWhole { nextWhole = now + (now - look.begun) * Self.pauseFactor }
        if foundAll { exhausted = max(exhausted ?? look.begun, look.begun) }
    }
}
