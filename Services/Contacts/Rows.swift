public import ContactsContract
public import Vocabulary

/// An account, as far as contacts knows it.
public struct AccountRow: Equatable, Sendable {
    /// What others need to add it; nil when it is closed.
    public var code: ContactCode?
    /// Whether others must ask before they become contacts.
    public var isApprovalRequired: Bool
    /// When it was closed, for ever.
    public var closed: Instant?

    init(code: ContactCode?, isApprovalRequired: Bool = false, closed: Instant? = nil) {
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.closed = closed
    }
}

/// Two different accounts without a direction: the same pair from either side.
public struct Pair: Hashable, Comparable, Sendable {
    /// The lesser id.
    public let low: AccountID
    /// The greater id.
    public let high: AccountID

    /// The pair of two accounts in either order.
    public init(_ one: AccountID, _ other: AccountID) {
        low = min(one, other)
        high = max(one, other)
    }

    /// By the lesser id, then by the greater.
    public static func < (left: Self, right: Self) -> Bool { (left.low, left.high) < (right.low, right.high) }
}

/// Two accounts with a direction: who asked whom, who blocked whom.
public struct Ends: Hashable, Comparable, Sendable {
    /// Who did it.
    public let from: AccountID
    /// To whom.
    public let to: AccountID

    /// - Parameters:
    ///   - from: Who did it.
    ///   - to: To whom.
    public init(from: AccountID, to: AccountID) {
        self.from = from
        self.to = to
    }

    /// By who did it, then by whom.
    public static func < (left: Self, right: Self) -> Bool { (left.from, left.to) < (right.from, right.to) }
}

/// A request to become contacts that waits for an answer. Roles as the asker gave them.
public struct RequestRow: Equatable, Sendable {
    package var isMyResponder: Bool
    package var iAmResponder: Bool
    package var nickname: String
    /// The two had no common contact.
    package var isStranger: Bool
    package var requested: Instant
}

/// That somebody is blocked.
public struct BlockRow: Equatable, Sendable {
    package var at: Instant
}

/// An alarm of an account that is on.
public struct AlarmRow: Equatable, Sendable {
    /// Which one.
    public var alarm: AlarmID
    /// When it began.
    public var occurred: Instant
    /// The deadline that was missed.
    public var deadline: Instant?

    /// What an alarm is about. Of each, an account has one at a time.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An alert is raised.
        case alert
        /// A check-in was missed.
        case missedCheckIn
    }
}

/// An alarm's place: whose it is, and what it is about.
public struct AlarmPlace: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// What it is about.
    public let kind: AlarmRow.Kind

    package init(_ account: AccountID, _ kind: AlarmRow.Kind) {
        self.account = account
        self.kind = kind
    }

    /// By account, then by kind.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.kind.rawValue) < (right.account, right.kind.rawValue)
    }
}

/// That a responder heard of an alarm that is on.
public struct RecipientRow: Equatable, Sendable {
    /// When they first did.
    public var at: Instant
}

/// Who heard of which alarm of whom.
public struct RecipientPlace: Hashable, Comparable, Sendable {
    /// Whose alarm.
    public let account: AccountID
    /// Which one.
    public let alarm: AlarmID
    /// Who heard of it.
    public let responder: AccountID

    package init(_ account: AccountID, _ alarm: AlarmID, _ responder: AccountID) {
        self.account = account
        self.alarm = alarm
        self.responder = responder
    }

    /// By account, by alarm, then by responder.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.alarm, left.responder) < (right.account, right.alarm, right.responder)
    }
}

/// What there is between two accounts: one row for both sides, so that neither can change without the other.
///
/// Roles and pings are kept once, at the side that looks after or asks; the other side's view follows from them.
public struct RelationRow: Equatable, Sendable {
    /// The side of the lesser id.
    public var low: Side
    /// The side of the greater id.
    public var high: Side
    /// Since when they are contacts.
    public var added: Instant

    /// One account's part in a relation.
    public struct Side: Equatable, Sendable {
        /// This side is the other's responder.
        public var iAmResponder: Bool
        /// What this side calls the other.
        public var nickname: String
        /// What this side wrote about the other.
        public var notes: String
        /// This side wants to be able to ping.
        public var sendPings: Bool
        /// This side lets the other ping it.
        public var receivePings: Bool
        /// This side wants to hear of the other's check-ins.
        public var notifyOnCheckIn: Bool
        /// This side wants to hear of the other's missed check-ins.
        public var notifyOnMissedCheckIn: Bool
        /// When this side pinged the other, while no answer came.
        public var pinged: Instant?
        /// When this side last pinged the other, answered or not.
        public var lastPing: Instant?
        /// When this side asked to become the other's responder, while no answer came.
        public var roleRequested: Instant?
        /// How often this side's view of the relation's fields was set.
        public var version: Int64
        /// When it was set.
        public var updated: Instant
    }
}

/// A relation seen from one of its sides; changes go to the row.
struct RelationView {
    let account: AccountID
    let contact: AccountID
    var row: RelationRow

    init(_ row: RelationRow, of account: AccountID, with contact: AccountID) {
        self.row = row
        self.account = account
        self.contact = contact
    }

    var pair: Pair { Pair(account, contact) }
    private var isLow: Bool { account < contact }

    var mine: RelationRow.Side {
        get { isLow ? row.low : row.high }
        set { if isLow { row.low = newValue } else { row.high = newValue } }
    }

    var theirs: RelationRow.Side {
        get { isLow ? row.high : row.low }
        set { if isLow { row.high = newValue } else { row.low = newValue } }
    }

    /// The same relation from the other side.
    var mirrored: RelationView { RelationView(row, of: contact, with: account) }

    /// What the account sees.
    var seen: Contact {
        Contact(
            account: contact, nickname: mine.nickname, notes: mine.notes, isMyResponder: theirs.iAmResponder,
            iAmResponder: mine.iAmResponder, sendPings: mine.sendPings, receivePings: mine.receivePings,
            notifyOnCheckIn: mine.notifyOnCheckIn, notifyOnMissedCheckIn: mine.notifyOnMissedCheckIn,
            outgoingPing: mine.pinged,
            incomingPing: theirs.pinged, outgoingRoleRequest: mine.roleRequested,
            incomingRoleRequest: theirs.roleRequested, added: row.added, updated: mine.updated, version: mine.version)
    }
}
