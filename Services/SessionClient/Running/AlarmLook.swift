import QuartetVocabulary

/// What the looks of an ``AlarmWatch`` have found in the tables of one service, or in the logs.
///
/// Going past a dead entry of a timer or a parked message, which an old snapshot keeps, takes about 2 µs. So a look at everything that
/// took long is followed by some that go back two minutes only, and what it found is remembered until the next.
struct AlarmLook: Sendable {
    /// A look in progress.
    struct Begun: Sendable {
        /// How far back to search.
        let age: Interval
        fileprivate let time: ContinuousClock.Instant
        fileprivate let isWhole: Bool
    }

    /// Where it looks, as operators read it.
    let subject: String
    private let isWhole: Bool
    private var found: [StuckAlarm] = []
    /// What the last look over everything found, and when.
    private var remembered: [StuckAlarm] = []
    private var lastWhole: ContinuousClock.Instant
    private var last: ContinuousClock.Instant
    private var nextWhole: ContinuousClock.Instant
    private var failure: String?
    private var wholeFailure: String?

    private static var everything: Interval { .days(36_500) }
    /// Longer than the pause between two looks over everything, so that nothing grows too old unseen.
    private static let back: Duration = .seconds(120)
    private static let longestPause: Duration = .seconds(60)
    private static let pauseFactor = 50
    /// For how long looks may fail before it is reported.
    private static let patience: Duration = .seconds(10)
    private static let wholePatience: Duration = .seconds(180)

    /// - Parameter isWhole: Whether each look goes over everything.
    init(_ subject: String, isWhole: Bool = false, at now: ContinuousClock.Instant = .now) {
        self.subject = subject
        self.isWhole = isWhole
        (lastWhole, last, nextWhole) = (now, now, now)
    }

    func begin(at now: ContinuousClock.Instant = .now) -> Begun {
        let isWhole = isWhole || now >= nextWhole
        let back = Interval(microseconds: Int64(Self.back / .microseconds(1)))
        return Begun(age: isWhole ? Self.everything : back, time: now, isWhole: isWhole)
    }

    mutating func end(_ look: Begun, with alarms: [StuckAlarm], at now: ContinuousClock.Instant = .now) {
        (found, last, failure) = (alarms, now, nil)
        guard look.isWhole else { return }
        (remembered, lastWhole, wholeFailure) = (alarms, now, nil)
        nextWhole = now + min((now - look.time) * Self.pauseFactor, Self.longestPause)
    }

    mutating func fail(_ look: Begun, _ error: any Error, at now: ContinuousClock.Instant = .now) {
        failure = "\(error)"
        if look.isWhole { (nextWhole, wholeFailure) = (now + Self.longestPause, failure) }
    }

    /// What waits, as the last looks say.
    var alarms: [StuckAlarm] {
        guard last > lastWhole else { return found }
        // Every look sees all that waits in a log, and what hasn't waited for long.
        let older = remembered.filter { !$0.place.hasSuffix(".due") }.map { $0.aged(by: last - lastWhole) }
        return older.filter { $0.age > Self.back } + found
    }

    /// What there is to say of looks that have failed for a while.
    func complaint(at now: ContinuousClock.Instant = .now) -> String? {
        if let failure, now - last > Self.patience { return "can't look for alarms in \(subject): \(failure)" }
        guard let wholeFailure, now - lastWhole > Self.wholePatience else { return nil }
        return "can't look for alarms in \(subject) that have waited for minutes: \(wholeFailure)"
    }
}
