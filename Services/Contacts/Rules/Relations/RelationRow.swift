import QuartetContactsContract
package import QuartetVocabulary

/// The relation between two accounts: one row for both sides, so that neither can change without the other.
///
/// Each role and ping is stored once, on the side of the responder or sender. The other side's view is derived from it.
package struct RelationRow: Equatable, Sendable {
    /// The side of the account with the lower id.
    package var low: Side
    /// The side of the account with the higher id.
    package var high: Side
    /// When they became contacts.
    package var added: Instant

    /// One account's side of a relation.
    package struct Side: Equatable, Sendable {
        /// This account is the other's responder.
        package var iAmResponder: Bool
        /// Whether this account became the responder by itself, and so read that the other sees whether it can be reached.
        package var showsReach = false
        /// What this account calls the other.
        package var nickname: String
        /// What this account wrote about the other.
        package var notes: String
        /// Whether this account wants to ping the other.
        package var sendPings: Bool
        /// Whether this account accepts the other's pings.
        package var receivePings: Bool
        /// Whether this account wants to be notified of the other's check-ins.
        package var notifyOnCheckIn: Bool
        /// Whether this account wants to be notified of the other's missed check-ins.
        package var notifyOnMissedCheckIn: Bool
        /// When this account sent a ping that is still unanswered.
        package var pinged: Instant?
        /// When this account last sent a ping, answered or not.
        package var lastPing: Instant?
        /// What is kept of this account's pings that may raise an alert; nil if there is nothing.
        package var watch: PingWatch?
        /// How long the other's pings may stay unanswered before an alert is raised, zero for ever; nil for as long as everybody's.
        package var pingEscalation: Interval?
        /// When this account asked to become the other's responder; nil once answered.
        package var roleRequested: Instant?
        /// Counts the changes to this account's view of the relation.
        package var version: Int64
        /// When `version` last changed.
        package var updated: Instant
    }
}

extension RelationRow {
    package static let blank = Self(low: .blank, high: .blank, added: .blank)
}

extension RelationRow.Side {
    fileprivate static let blank = Self(
        iAmResponder: false, nickname: "", notes: "", sendPings: false, receivePings: false, notifyOnCheckIn: false,
        notifyOnMissedCheckIn: false, version: 0, updated: .blank)

    /// A side of a relation that begins. A responder is notified of everything until they say otherwise.
    init(new time: Instant, iAmResponder: Bool, showsReach: Bool = false, nickname: String = "") {
        self.init(
            iAmResponder: iAmResponder, showsReach: iAmResponder && showsReach, nickname: nickname, notes: "",
            sendPings: true, receivePings: true, notifyOnCheckIn: iAmResponder, notifyOnMissedCheckIn: iAmResponder,
            pinged: nil, lastPing: nil,
            roleRequested: nil, version: 1, updated: time)
    }
}

/// A relation seen from one side. Changes go to the row.
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

    /// The same relation seen from the other side.
    var mirrored: RelationView { RelationView(row, of: contact, with: account) }

    /// The contact as the account sees it.
    var seen: Contact {
        Contact(
            account: contact, nickname: mine.nickname, notes: mine.notes, isMyResponder: theirs.iAmResponder,
            iAmResponder: mine.iAmResponder, sendPings: mine.sendPings, receivePings: mine.receivePings,
            notifyOnCheckIn: mine.notifyOnCheckIn, notifyOnMissedCheckIn: mine.notifyOnMissedCheckIn,
            outgoingPing: mine.pinged, incomingPing: theirs.pinged, outgoingPingDue: mine.shownPingDue,
            isOutgoingPingLater: mine.isPingLater, isOutgoingPingOver: mine.isPingOver, incomingPingDue: theirs.pingDue,
            pingEscalation: mine.pingEscalation, outgoingRoleRequest: mine.roleRequested,
            incomingRoleRequest: theirs.roleRequested, added: row.added, updated: mine.updated, version: mine.version)
    }
}
