package import ContactsContract
package import Vocabulary

package struct AlarmKey: Hashable, Comparable, Sendable {
    package let account: AccountID
    package let kind: AlarmRow.Kind

    package init(_ account: AccountID, _ kind: AlarmRow.Kind) {
        self.account = account
        self.kind = kind
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.kind.rawValue) < (right.account, right.kind.rawValue)
    }
}

/// An alarm that is on.
package struct AlarmRow: Equatable, Sendable {
    package var alarm: AlarmID
    package var occurred: Instant
    /// The deadline of a missed check-in.
    package var deadline: Instant?
    /// When it was said that nobody answers; nil once somebody does.
    package var unanswered: Instant?

    /// An account has at most one alarm of each kind.
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case alert
        case missedCheckIn
    }
}

/// An account's newest alarm of a kind that has ended. Its beginning or a repetition may still come, if handling it failed before.
package struct EndedAlarmRow: Equatable, Sendable {
    package var alarm: AlarmID
    package var at: Instant
}

package struct RecipientKey: Hashable, Comparable, Sendable {
    /// The account that the alarm is about.
    package let account: AccountID
    package let alarm: AlarmID
    package let responder: AccountID

    package init(_ account: AccountID, _ alarm: AlarmID, _ responder: AccountID) {
        self.account = account
        self.alarm = alarm
        self.responder = responder
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.account, left.alarm, left.responder) < (right.account, right.alarm, right.responder)
    }
}

/// A responder was alerted to an alarm that is still on.
package struct RecipientRow: Equatable, Sendable {
    /// When they were first alerted.
    package var at: Instant
    /// What they answered, if that still stands.
    package var answer: AlarmAnswer?
    package var answered: Instant?
    /// Until when they are on it.
    package var until: Instant?
    /// How long they were on it before.
    package var used: Interval = .seconds(0)
    /// When they first said that the dependent is safe, since anybody last said the opposite.
    package var saidSafe: Instant?
    /// How often they answered.
    package var answers = 0

    package init(at: Instant) {
        self.at = at
    }
}

extension AlarmRow {
    package static let blank = Self(alarm: .blank, occurred: .blank)
}

extension EndedAlarmRow {
    package static let blank = Self(alarm: .blank, at: .blank)
}

extension RecipientRow {
    package static let blank = Self(at: .blank)
}
