public import QuartetVocabulary

/// Raises an alert because pings weren't answered. A policy sends this, and a timer if a check-in waits to be handled that may end it.
///
/// Pings sent before the last check-in or all-clear don't count, and none counts twice. While an alert is on, they are added to it, and
/// what responders answered before they were sent doesn't stand any more.
///
/// Result: ``AlertRaised`` or ``AlertRaisedAgain``, each with the pings; ``UnansweredPingsDiscarded`` with those that don't count.
public struct RaiseUnansweredAlert: OwnCommandBody {
    public static let isUrgent = true

    /// Who was pinged.
    public let account: AccountID
    /// ``UnansweredPing/limit`` at most. None from a timer, which leaves it to what waits.
    public let pings: [UnansweredPing]
    /// When they were found unanswered. What was recorded later doesn't hold the alert back.
    public let found: Instant

    public init(account: AccountID, pings: [UnansweredPing], found: Instant) {
        self.account = account
        self.pings = pings
        self.found = found
    }

    public func validate() throws(Rejection) {
        guard pings.count <= UnansweredPing.limit else {
            throw Rejection(.invalidField, "Name at most \(UnansweredPing.limit) pings.", field: "pings")
        }
    }
}

/// Pings that weren't answered in time were answered: once all are, the alert that they raised is over. A policy sends this; it changes
/// nothing if another alert or none is on, and leaves it on if the person has called for help, too, or hasn't arrived from a trip.
///
/// Result: ``AlertCleared``; ``UnansweredPingsDropped`` if the alert goes on.
public struct EndUnansweredAlert: OwnCommandBody {
    public static let isUrgent = true

    public let account: AccountID
    public let pings: [UnansweredPing]
    /// When the person answered: whatever was asked before is answered. Nil if the pings were taken back: then they raise no alert, and one
    /// that they have raised goes on.
    public let answered: Instant?

    public init(account: AccountID, pings: [UnansweredPing], answered: Instant? = nil) {
        self.account = account
        self.pings = pings
        self.answered = answered
    }
}

/// The pings that raised the alert that is on, or were added to it.
public struct UnansweredPings: Codable, Hashable, Sendable {
    /// The alert.
    public var alarm: AlarmID
    /// Sorted by responder.
    public var pings: [UnansweredPing]
    /// True if the person has called for help by hand, too: then an answer doesn't end the alert.
    public var isCalled: Bool?

    public init(alarm: AlarmID, pings: [UnansweredPing], isCalled: Bool? = nil) {
        self.alarm = alarm
        self.pings = pings
        self.isCalled = isCalled
    }

    /// Whether the person hasn't called for help: the answers end the alert, unless a trip was missed, too.
    public var isItsAlert: Bool { isCalled != true }

    /// The one that was sent first.
    public var earliest: UnansweredPing? { pings.min { $0.recorded < $1.recorded } }

    /// Adds others; of each responder the newest counts, and of too many the newest.
    package static func joining(_ pings: [UnansweredPing], _ others: [UnansweredPing]) -> [UnansweredPing] {
        let newest = Dictionary((pings + others).map { ($0.contact, $0) }) { $0.recorded < $1.recorded ? $1 : $0 }
        let kept = newest.values.sorted { ($1.recorded, $0.contact) < ($0.recorded, $1.contact) }
        return kept.prefix(UnansweredPing.limit).sorted { $0.contact < $1.contact }
    }
}

extension AccountState {
    /// Whether the person has called for help by hand in the alert that is on, as far as what else made it says.
    func isCalled(_ alarm: AlarmID) -> Bool {
        if let unanswered, unanswered.alarm == alarm { return unanswered.isCalled == true }
        if let trip, trip.alarm == alarm { return trip.isCalled == true }
        return true
    }

    /// Pings raised an alert or were added to one that is on.
    mutating func take(_ pings: [UnansweredPing], _ alarm: AlarmID, isCalled: Bool) {
        let known = unanswered?.alarm == alarm ? unanswered : nil
        unanswered = UnansweredPings(
            alarm: alarm, pings: UnansweredPings.joining(known?.pings ?? [], pings), isCalled: isCalled ? true : nil)
    }

    /// Pings were answered, and the alert goes on.
    mutating func drop(_ pings: [UnansweredPing], _ alarm: AlarmID) {
        guard let known = unanswered, known.alarm == alarm else { return }
        let left = known.pings.filter { !pings.contains($0) }
        unanswered = left.isEmpty ? nil : UnansweredPings(alarm: alarm, pings: left, isCalled: known.isCalled)
    }
}
