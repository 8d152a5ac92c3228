public import QuartetVocabulary

/// Raises an alert because pings weren't answered. A policy sends this, and a timer if a check-in waits to be handled that may end it.
///
/// Pings sent before the last check-in don't count. While an alert is on, they are added to it, and what responders answered before
/// doesn't stand any more.
///
/// Result: ``AlertRaised`` or ``AlertRaisedAgain``, each with the pings.
public struct RaiseUnansweredAlert: OwnCommandBody {
    public static let isUrgent = true

    /// Who was pinged.
    public let account: AccountID
    /// From one to ``UnansweredPing/limit``.
    public let pings: [UnansweredPing]
    /// When they were found unanswered. What was recorded later doesn't hold the alert back.
    public let found: Instant

    public init(account: AccountID, pings: [UnansweredPing], found: Instant) {
        self.account = account
        self.pings = pings
        self.found = found
    }

    public func validate() throws(Rejection) {
        guard 1...UnansweredPing.limit ~= pings.count else {
            throw Rejection(.invalidField, "Name 1 to \(UnansweredPing.limit) pings.", field: "pings")
        }
    }
}

/// The person has answered pings of these responders: the alert that their pings raised is over. A policy sends this; it changes nothing
/// if another alert or none is on, or if the person has called for help, too.
///
/// Result: ``AlertCleared``.
public struct EndUnansweredAlert: OwnCommandBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The responders.
    public let contacts: [AccountID]

    public init(account: AccountID, contacts: [AccountID]) {
        self.account = account
        self.contacts = contacts
    }
}

/// The pings that raised the alert that is on, or were added to it.
public struct UnansweredPings: Codable, Hashable, Sendable {
    /// The alert.
    public var alarm: AlarmID
    /// Sorted by responder.
    public var pings: [UnansweredPing]
    /// True if something else asked for help, too: then an answer doesn't end the alert.
    public var isCalled: Bool?

    public init(alarm: AlarmID, pings: [UnansweredPing], isCalled: Bool? = nil) {
        self.alarm = alarm
        self.pings = pings
        self.isCalled = isCalled
    }

    /// Whether the pings raised the alert, and nothing else asked for help.
    public var isItsAlert: Bool { isCalled != true }

    /// Adds others; of each responder the newest counts.
    package static func joining(_ pings: [UnansweredPing], _ others: [UnansweredPing]) -> [UnansweredPing] {
        let newest = Dictionary((pings + others).map { ($0.contact, $0) }) { $0.sent < $1.sent ? $1 : $0 }
        return Array(newest.values.sorted { $0.contact < $1.contact }.prefix(UnansweredPing.limit))
    }
}

extension AccountState {
    /// Pings raised an alert or were added to one that is on.
    mutating func take(_ pings: [UnansweredPing], _ alarm: AlarmID, isCalled: Bool) {
        let known = unanswered?.alarm == alarm ? unanswered : nil
        unanswered = UnansweredPings(
            alarm: alarm, pings: UnansweredPings.joining(known?.pings ?? [], pings),
            isCalled: known == nil ? (isCalled ? true : nil) : known?.isCalled)
    }
}
