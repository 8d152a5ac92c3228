package import QuartetSessionContract
package import QuartetVocabulary

/// Attempts at one handle or phone, from one source or from all.
package struct AttemptKey: Hashable, Comparable, Sendable {
    /// The key of the handle or phone, whether or not it exists, or of an account that asks for a code.
    package let subject: Key
    /// An address, or a device that was signed in before.
    package let source: SourceID

    /// All sources together.
    package static let everywhere = SourceID(high: 0, low: 0)

    /// Codes for a new phone, apart from those for signing in: a stranger learns nothing from the count of one about the other.
    static let changes = SourceID(high: 0, low: 1)

    package init(_ subject: Key, _ source: SourceID = everywhere) {
        self.subject = subject
        self.source = source
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.subject.description, left.source) < (right.subject.description, right.source)
    }
}

/// The attempts of one day.
package struct AttemptsRow: Equatable, Sendable {
    /// When the first was counted. All of them are forgotten a day later.
    package var since: Instant
    package var guesses = GuessesRow()
    package var codes: CodesRow?
}

/// Codes requested within an hour.
package struct CodesRow: Equatable, Sendable {
    package var since: Instant
    package var last: Instant
    package var count: Int
}

/// Wrong guesses, and how long they block further ones.
package struct GuessesRow: Equatable, Sendable {
    /// In a row.
    package var failures = 0
    package var blockedUntil: Instant?

    package init(failures: Int = 0, blockedUntil: Instant? = nil) {
        self.failures = failures
        self.blockedUntil = blockedUntil
    }

    /// Counts another wrong guess.
    mutating func fail(at time: Instant, free: Int, _ limits: SessionLimits) {
        failures += 1
        let further = failures - free - 1
        guard further >= 0 else { return }
        let block = limits.firstBlock.microseconds << min(further, 20)
        blockedUntil = time + min(Interval(microseconds: block), limits.longestBlock)
    }
}

extension AttemptsRow {
    package static let blank = Self(since: .blank)
}

extension CodesRow {
    package static let blank = Self(since: .blank, last: .blank, count: 0)
}
