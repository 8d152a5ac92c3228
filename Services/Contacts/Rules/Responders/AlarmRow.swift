package import QuartetContactsContract
package import QuartetVocabulary

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
    /// The deadline of a missed check-in, or the end of the trip that made an alert, unless the dependent has called for help by hand.
    package var deadline: Instant?
    /// When the ping was sent that made an alert because it wasn't answered, or the first of several, unless the dependent has called for
    /// help, too.
    package var pinged: Instant?
    /// The dependent's newest call for help that is known to have come late, or again in time; perhaps about an earlier alarm.
    package var keptLateCall: KeptLateCall?
    /// The dependent's newest call for help, if it came late.
    package var lateCall: LateCall? { keptLateCall?.call(of: alarm) }
    /// What is kept in the row of ``answering``, perhaps about an earlier alarm.
    package var kept = Answering()
    /// What became of the answers to it.
    package var answering: Answering {
        get { kept.alarm == alarm ? kept : Answering(alarm: alarm) }
        set { kept = newValue }
    }

    package struct Answering: Equatable, Sendable {
        /// The alarm that this is about. A process of an earlier release lets a row be about the next alarm without changing this.
        package var alarm: AlarmID?
        /// When it was said that nobody is on it; nil once somebody is.
        package var unanswered: Instant?
        /// When somebody first said that the dependent is safe. For a day from then on that holds repetitions back.
        package var firstSafe: Instant?
        /// When all were told again last, because help is needed.
        package var toldAgain: Instant?
        /// How often what holds repetitions back has changed.
        package var holdVersion = 0
        /// When the dependent last called for help again. What was answered before counts no more, unless it is that help is needed.
        package var calledAgain: Instant?
        /// When it was decided that the alarm is closed.
        package var closing: Instant?
        /// In which order the responders hear of it.
        package var tiers = AlarmTiers()
        /// For how long somebody on it has held repetitions back.
        package var held = HeldTime()

        package init(alarm: AlarmID? = nil) {
            self.alarm = alarm
        }
    }

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
    /// Whether they are the dependent's responder. If not, they still hear how the alarm ends.
    package var isResponder = true
    /// Whether nothing had reached them for long when they were first alerted.
    package var isOutOfReach = false
    /// What they answered, if that still stands.
    package var answer: AlarmAnswer?
    /// When that was handled.
    package var answered: Instant?
    /// When they gave it.
    package var pressed: Instant?
    /// Until when they are on it.
    package var until: Instant?
    /// How long they were on it before.
    package var used: Interval = .seconds(0)
    /// When they last said that the dependent is safe; nil if that doesn't close the alarm.
    package var saidSafe: Instant?
    /// How often they answered.
    package var answers = 0
    /// When they were asked whether they are still on it; nil if they weren't, or if that is settled.
    package var asked: Instant?
    /// Which responders they had blocked when they answered, who don't see it unless help is needed; nil for nobody.
    package var hidden: [AccountID]?

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
