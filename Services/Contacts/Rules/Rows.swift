package import ContactsContract
package import Vocabulary

/// An account, as far as contacts knows it.
package struct AccountRow: Equatable, Sendable {
    /// What others need to add it; nil when it is closed.
    package var code: ContactCode?
    /// Whether others must ask before they become contacts.
    package var isApprovalRequired: Bool
    /// When it was closed, for ever.
    package var closed: Instant?

    package init(code: ContactCode?, isApprovalRequired: Bool = false, closed: Instant? = nil) {
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.closed = closed
    }
}

/// Two different accounts without a direction: the same pair from either side.
package struct Pair: Hashable, Comparable, Sendable {
    /// The lesser id.
    package let low: AccountID
    /// The greater id.
    package let high: AccountID

    /// The pair of two accounts in either order.
    package init(_ one: AccountID, _ other: AccountID) {
        low = min(one, other)
        high = max(one, other)
    }

    /// By the lesser id, then by the greater.
    package static func < (left: Self, right: Self) -> Bool { (left.low, left.high) < (right.low, right.high) }
}

/// Two accounts with a direction: who asked whom, who blocked whom.
package struct Ends: Hashable, Comparable, Sendable {
    /// Who did it.
    package let from: AccountID
    /// To whom.
    package let to: AccountID

    /// - Parameters:
    ///   - from: Who did it.
    ///   - to: To whom.
    package init(from: AccountID, to: AccountID) {
        self.from = from
        self.to = to
    }

    /// By who did it, then by whom.
    package static func < (left: Self, right: Self) -> Bool { (left.from, left.to) < (right.from, right.to) }
}

/// A request to become contacts that waits for an answer. Roles as the asker gave them.
package struct RequestRow: Equatable, Sendable {
    package var isMyResponder: Bool
    package var iAmResponder: Bool
    package var nickname: String
    /// The two had no common contact.
    package var isStranger: Bool
    package var requested: Instant
}

/// That somebody is blocked.
package struct BlockRow: Equatable, Sendable {
    package var at: Instant
}

/// An alarm of an account that is on.
package struct AlarmRow: Equatable, Sendable {
    /// Which one.
    package var alarm: AlarmID
    /// When it began.
    package var occurred: Instant
    /// The deadline that was missed.
    package var deadline: Instant?

    /// What an alarm is about. Of each, an account has one at a time.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// An alert is raised.
        case alert
        /// A check-in was missed.
        case missedCheckIn
    }
}

/// An alarm's place: whose it is, and what it is about.
package struct AlarmPlace: Hashable, Comparable, Sendable {
    /// Whose.
    package let account: AccountID
    /// What it is about.
    package let kind: AlarmRow.Kind

    package init(_ account: AccountID, _ kind: AlarmRow.Kind) {
        self.account = account
        self.kind = kind
    }

    /// By account, then by kind.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.kind.rawValue) < (right.account, right.kind.rawValue)
    }
}

/// That a responder heard of an alarm that is on.
package struct RecipientRow: Equatable, Sendable {
    /// When they first did.
    package var at: Instant
}

/// Who heard of which alarm of whom.
package struct RecipientPlace: Hashable, Comparable, Sendable {
    /// Whose alarm.
    package let account: AccountID
    /// Which one.
    package let alarm: AlarmID
    /// Who heard of it.
    package let responder: AccountID

    package init(_ account: AccountID, _ alarm: AlarmID, _ responder: AccountID) {
        self.account = account
        self.alarm = alarm
        self.responder = responder
    }

    /// By account, by alarm, then by responder.
    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.alarm, left.responder) < (right.account, right.alarm, right.responder)
    }
}

/// What there is between two accounts: one row for both sides, so that neither can change without the other.
///
/// Roles and pings are kept once, at the side that looks after or asks; the other side's view follows from them.
package struct RelationRow: Equatable, Sendable {
    /// The side of the lesser id.
    package var low: Side
    /// The side of the greater id.
    package var high: Side
    /// Since when they are contacts.
    package var added: Instant

    /// One account's part in a relation.
    package struct Side: Equatable, Sendable {
        /// This side is the other's responder.
        package var iAmResponder: Bool
        /// What this side calls the other.
        package var nickname: String
        /// What this side wrote about the other.
        package var notes: String
        /// This side wants to be able to ping.
        package var sendPings: Bool
        /// This side lets the other ping it.
        package var receivePings: Bool
        /// This side wants to hear of the other's check-ins.
        package var notifyOnCheckIn: Bool
        /// This side wants to hear of the other's missed check-ins.
        package var notifyOnMissedCheckIn: Bool
        /// When this side pinged the other, while no answer came.
        package var pinged: Instant?
        /// When this side last pinged the other, answered or not.
        package var lastPing: Instant?
        /// When this side asked to become the other's responder, while no answer came.
        package var roleRequested: Instant?
        /// How often this side's view of the relation's fields was set.
        package var version: Int64
        /// When it was set.
        package var updated: Instant
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

// What the columns of a table replace.

extension RequestRow {
    package static let blank = Self(
        isMyResponder: false, iAmResponder: false, nickname: "", isStranger: false, requested: .blank)
}

extension BlockRow {
    package static let blank = Self(at: .blank)
}

extension AlarmRow {
    package static let blank = Self(alarm: .blank, occurred: .blank)
}

extension RecipientRow {
    package static let blank = Self(at: .blank)
}

extension RelationRow {
    package static let blank = Self(low: .blank, high: .blank, added: .blank)
}

extension RelationRow.Side {
    fileprivate static let blank = Self(
        iAmResponder: false, nickname: "", notes: "", sendPings: false, receivePings: false, notifyOnCheckIn: false,
        notifyOnMissedCheckIn: false, version: 0, updated: .blank)
}
