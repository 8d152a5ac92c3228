import Postgres
import QuartetVocabulary

/// What is known of the alarms that wait in one service, or in the logs, from the looks of an ``AlarmWatch``.
///
/// Going past a dead entry of a timer, which an old snapshot keeps, takes about 2 µs. So a look at everything that took long is
/// followed by narrow ones, which go back three minutes only. They see all that waits, except for timers that are older: of these,
/// what an earlier look found stays known until the next look at everything.
struct AlarmLook: Sendable {
    /// A look in progress.
    struct Begun: Sendable {
        /// How far back to search.
        let age: Interval
        fileprivate let time: ContinuousClock.Instant
        fileprivate let isWhole: Bool
    }

    private struct Sighting: Sendable {
        /// As it was between the two times.
        let alarm: StuckAlarm
        let begun: ContinuousClock.Instant
        let ended: ContinuousClock.Instant
    }

    /// Where it looks, as operators read it.
    let subject: String
    private let isWhole: Bool
    private var known: [Sighting] = []
    /// When a look last succeeded, and when one at everything did.
    private var last: ContinuousClock.Instant
    private var lastWhole: ContinuousClock.Instant
    private var nextWhole: ContinuousClock.Instant
    private var failure: String?
    /// Why a look at everything took too long.
    private var wholeFailure: String?

    private static let everything = Interval.days(36_500)
    private static let back: Duration = .seconds(180)
    private static let longestPause: Duration = .seconds(60)
    private static let pauseFactor = 50
    /// For how long looks may fail before it is reported: one may take 12 s.
    private static let patience: Duration = .seconds(15)
    /// The same for looks at everything. One of them may fail unreported, after and before a pause of a minute. It is shorter than what
    /// narrow looks go back: an alarm that became too old for them was then seen by one, or is reported as something that may be there.
    private static let wholePatience: Duration = .seconds(160)

    /// - Parameter isWhole: Whether each look goes over everything.
    init(_ subject: String, isWhole: Bool = false, at now: ContinuousClock.Instant = .now) {
        self.subject = subject
        self.isWhole = isWhole
        (last, nextWhole) = (now, now)
        // Nothing is known of what has waited for long, so there is no more patience than for other looks.
        lastWhole = now - Self.wholePatience + Self.patience
    }

    func begin(at now: ContinuousClock.Instant = .now) -> Begun {
        let isWhole = isWhole || now >= nextWhole
        let back = Interval(microseconds: Int64(Self.back / .microseconds(1)))
        return Begun(age: isWhole ? Self.everything : back, time: now, isWhole: isWhole)
    }

    mutating func end(_ look: Begun, with alarms: [StuckAlarm], at now: ContinuousClock.Instant = .now) {
        known = look.isWhole ? [] : known.filter { Self.isOutOfSight($0, at: now) }
        known += alarms.map { Sighting(alarm: $0, begun: look.time, ended: now) }
        (last, failure) = (now, nil)
        guard look.isWhole else { return }
        (lastWhole, wholeFailure) = (now, nil)
        nextWhole = now + min((now - look.time) * Self.pauseFactor, Self.longestPause)
    }

    /// Whether a narrow look that ends now may have missed it. Its age is that of some moment during the look that found it.
    private static func isOutOfSight(_ sighting: Sighting, at now: ContinuousClock.Instant) -> Bool {
        sighting.alarm.place.hasSuffix(".timer") && sighting.alarm.age + (now - sighting.begun) > back
            && now - sighting.ended <= wholePatience
    }

    mutating func fail(_ look: Begun, _ error: any Error, at now: ContinuousClock.Instant = .now) {
        if look.isWhole, !isWhole, Self.tookTooLong(error) {
            // Narrow ones may well succeed.
            (nextWhole, wholeFailure) = (now + Self.longestPause, "\(error)")
        } else {
            (nextWhole, failure) = (now, "\(error)")
        }
    }

    private static func tookTooLong(_ error: any Error) -> Bool {
        error is AlarmWatch.NoAnswer || (error as? PostgresError)?.sqlState == "57014"
    }

    /// What waits, as far as is known.
    var alarms: [StuckAlarm] { known.map { $0.alarm.aged(by: last - $0.ended) } }

    /// What there is to say of looks that have failed for a while.
    func complaint(at now: ContinuousClock.Instant = .now) -> String? {
        if let failure, now - last > Self.patience { return "can't look for alarms in \(subject): \(failure)" }
        guard let wholeFailure, now - lastWhole > Self.wholePatience else { return nil }
        return "can't look for alarms in \(subject) that have waited for minutes: \(wholeFailure)"
    }
}
