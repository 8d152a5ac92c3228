package import QuartetVocabulary

/// Where to begin the search of a table that is used as a queue, such as `timer`: not at its oldest entries, which may
/// be dead ones that an old snapshot keeps.
///
/// After a search that found everything due, the next one begins a little before that time. Rows may be due earlier,
/// though: another transaction held one and rolled back, a lease has expired, or a row was committed late. So searches go
/// over the whole table now and then, and at once after one that failed or found a row taken. The longer that takes, the
/// less often it happens, but always again within ``longestPause``: how long a search took says nothing about how long
/// someone may wait, and a server that stood still makes it long. A million dead entries cost about 150 ms a second.
///
/// ```sql
/// SELECT … WHERE due_at >= now() - $age AND due_at <= now() ORDER BY due_at LIMIT 500
/// ```
package struct QueueSearch: Sendable {
    /// The longest time between the end of a search of everything and the beginning of the next.
    package static var longestPause: Duration { .seconds(1) }
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

    /// - Parameter foundAll: Whether the search found everything that is due, and no one else held any of it.
    package mutating func end(_ look: Look, foundAll: Bool, at now: ContinuousClock.Instant = .now) {
        // Of what is left, the oldest may be too old for a narrower search.
        if look.isWhole {
            nextWhole = foundAll ? now + min((now - look.begun) * Self.pauseFactor, Self.longestPause) : nil
        }
        if foundAll { exhausted = max(exhausted ?? look.begun, look.begun) }
    }

    /// Says that a search failed: the connection was lost, say, or its time was up. The next one goes over the whole table,
    /// unless it was such a search that failed: what becomes due now mustn't wait while those take too long.
    package mutating func fail(_ look: Look, at now: ContinuousClock.Instant = .now) {
        nextWhole = look.isWhole ? now + Self.longestPause : nil
        if exhausted == nil { exhausted = look.begun }
    }
}
