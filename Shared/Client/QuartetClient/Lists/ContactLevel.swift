public import QuartetAPI
public import QuartetContactsContract
import QuartetSessionContract
public import QuartetVocabulary

/// How a contact is, the worst first.
public enum ContactLevel: CaseIterable, Comparable, Hashable, Sendable {
    /// They raised an alert, or one was raised for them.
    case alert
    /// They missed a check-in by more than a whole interval.
    case veryLate
    case missed
    /// They wait for this account's answer to a ping.
    case asksMe
    /// This account waits for theirs.
    case pinged
    case dueSoon
    /// They have never checked in.
    case notYet
    case fine
    case paused
    /// A responder, of whom nothing else is to be known.
    case quiet
    case plain

    /// - Parameter person: The one behind the contact; nil while nothing of them has arrived.
    public init(_ contact: Contact, _ person: Person?, at now: Instant) {
        self = Self.level(contact, person, now)
    }

    private static func level(_ contact: Contact, _ person: Person?, _ now: Instant) -> Self {
        let checkIn = person?.checkIn
        if person?.alertRaised != nil { return .alert }
        if checkIn?.missed == true { return person?.veryLateFrom.map { $0 <= now } == true ? .veryLate : .missed }
        if contact.incomingPing != nil { return .asksMe }
        if contact.outgoingPing != nil { return .pinged }
        if let until = checkIn?.pausedUntil, until > now { return .paused }
        if let checkIn, let due = checkIn.due {
            if due - now < soon(checkIn.interval) { return .dueSoon }
            return checkIn.last == nil ? .notYet : .fine
        }
        return contact.isMyResponder ? .quiet : .plain
    }

    /// How long before its deadline a check-in is due soon: a share of the interval, so that no interval begins with a warning.
    private static func soon(_ interval: Interval) -> Interval {
        min(.hours(2), Interval(microseconds: interval.microseconds / 4))
    }

    /// Whether they need help, or may.
    public var isAlarm: Bool { self <= .missed }

    public var tone: StatusTone {
        switch self {
        case .alert, .veryLate, .missed: .critical
        case .asksMe, .pinged, .dueSoon: .warning
        case .fine: .good
        case .notYet, .paused, .quiet, .plain: .neutral
        }
    }
}
