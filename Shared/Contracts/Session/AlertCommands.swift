public import QuartetVocabulary

/// Alerts, and the repetition of alarms.
package enum AlertCommand: MessageSet {
    case raiseAlert(RaiseAlert)
    case clearAlert(ClearAlert)
    case announceAlert(AnnounceAlert)
    case repeatAlarm(RepeatAlarm)
    case holdAlarm(HoldAlarm)
    case closeAlarm(CloseAlarm)
    case raiseUnansweredAlert(RaiseUnansweredAlert)
    case endUnansweredAlert(EndUnansweredAlert)

    package static let cases: Cases<Self> = [
        Case(Self.raiseAlert), Case(Self.clearAlert), Case(Self.announceAlert), Case(Self.repeatAlarm),
        Case(Self.holdAlarm), Case(Self.closeAlarm), Case(Self.raiseUnansweredAlert), Case(Self.endUnansweredAlert),
    ]

    package var body: any CommandBody {
        switch self {
        case .raiseAlert(let body): body
        case .clearAlert(let body): body
        case .announceAlert(let body): body
        case .repeatAlarm(let body): body
        case .holdAlarm(let body): body
        case .closeAlarm(let body): body
        case .raiseUnansweredAlert(let body): body
        case .endUnansweredAlert(let body): body
        }
    }
}

/// Raises an alert. Pressed again while one is on, it changes nothing but that the alarm is repeated anew (at once, if the last time was
/// half an hour ago), and that what responders answered before doesn't stand any more. If a trip made that alert, they are told at once.
///
/// The account's state changes at once. The first three alerts in ten minutes are announced to responders at once; a
/// later one after a minute, if it is still on.
///
/// Result: ``AlertRaised``, or ``AlertRaisedAgain``.
public struct RaiseAlert: PublicCommandBody, GrownBody {
    /// A call for help is worth sending late.
    public static let sending = Sending(.alert, for: .days(1), supersedes: ["RaiseAlert"])
    public static let laterFields: Set<String> = ["pressed"]

    /// When the person asked for it, by the server's clock: an all-clear of before doesn't end it. Counts at most a day back, and
    /// not ahead.
    public let pressed: Instant?

    public init(pressed: Instant? = nil) {
        self.pressed = pressed
    }
}

/// Announces an alert that had to wait. A timer sends this; it changes nothing if the alert has ended.
///
/// Rejected: `notDue`. Result: ``AlertAnnounced``.
package struct AnnounceAlert: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    package let alarm: AlarmID

    package init(account: AccountID, alarm: AlarmID) {
        self.account = account
        self.alarm = alarm
    }
}

/// Ends the alert. Without one it changes nothing.
///
/// One that says what it is about ends no other: it may arrive late, when a newer alert is on.
///
/// Rejected: `alertChanged`. Result: ``AlertCleared``.
public struct ClearAlert: PublicCommandBody, GrownBody {
    public static let sending = Sending(.alert, for: .days(1), supersedes: ["RaiseAlert", "ClearAlert"])
    public static let laterFields: Set<String> = ["alarm", "pressed"]

    /// The only alarm that this ends, as the account's state has it; nil where the person didn't see one yet.
    public let alarm: AlarmID?
    /// When the person asked for it, by the server's clock: it ends nothing that was asked for later.
    public let pressed: Instant?

    public init(alarm: AlarmID? = nil, pressed: Instant? = nil) {
        self.alarm = alarm
        self.pressed = pressed
    }
}

/// Repeats an alarm that is still on: some times soon after one another, then every six hours. A timer sends this; it changes
/// nothing if the alarm has ended or its repetitions are held back.
///
/// Rejected: `notDue`. Result: ``AlarmRepeated``.
package struct RepeatAlarm: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    package let alarm: AlarmID
    package let kind: AlarmKind
    /// From 1.
    package let repetition: Int

    package init(account: AccountID, alarm: AlarmID, kind: AlarmKind, repetition: Int) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.repetition = repetition
    }

    package func validate() throws(Rejection) {
        guard repetition >= 1 else {
            throw Rejection(.invalidField, "Count repetitions from 1.", field: "repetition")
        }
    }
}

/// Holds an alarm's repetitions back, because of what those answered who were told of it; or lets them go on. A policy sends this.
/// It changes nothing if the alarm has ended, or if a later one was handled; and what was answered before the person called for
/// help again holds nothing back.
package struct HoldAlarm: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    package let alarm: AlarmID
    package let kind: AlarmKind
    /// For as long as somebody is on it, four hours at most, all together.
    package let hold: AnswerHold
    /// Counts these of one alarm, from 1.
    package let version: Int

    package init(account: AccountID, alarm: AlarmID, kind: AlarmKind, hold: AnswerHold, version: Int) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.hold = hold
        self.version = version
    }
}

/// Closes an alarm that the person didn't end. A timer sends this after 30 days, and when it is time because somebody said that the
/// person is safe: then contacts is to decide (``AlarmClosingDue``), and a policy sends this again. It changes nothing if the alarm
/// has ended.
///
/// Rejected: `notDue`. Result: ``AlarmClosed`` or ``AlarmClosingDue``.
package struct CloseAlarm: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    package let alarm: AlarmID
    package let kind: AlarmKind
    /// What contacts has decided about: the version of what held the alarm back. Nil before.
    package let decided: Int?
    /// When it did. For ten minutes nobody can deny it; what comes later must be decided anew.
    package let decidedAt: Instant?

    package init(
        account: AccountID, alarm: AlarmID, kind: AlarmKind, decided: Int? = nil, decidedAt: Instant? = nil
    ) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.decided = decided
        self.decidedAt = decidedAt
    }
}
