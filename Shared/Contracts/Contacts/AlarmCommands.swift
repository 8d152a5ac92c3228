public import QuartetVocabulary

/// Notifies an account's responders, and takes their answers.
package enum AlarmCommand: MessageSet {
    case relayAlert(RelayAlert)
    case acknowledgeAlarm(AcknowledgeAlarm)
    case decideClosing(DecideClosing)
    case forgetAnswers(ForgetAnswers)
    case announcePause(AnnouncePause)
    case askForRenewal(AskForRenewal)

    package static let cases: Cases<Self> = [
        Case(Self.relayAlert), Case(Self.acknowledgeAlarm), Case(Self.decideClosing), Case(Self.forgetAnswers),
        Case(Self.announcePause), Case(Self.askForRenewal),
    ]

    package var body: any CommandBody {
        switch self {
        case .relayAlert(let body): body
        case .acknowledgeAlarm(let body): body
        case .decideClosing(let body): body
        case .forgetAnswers(let body): body
        case .announcePause(let body): body
        case .askForRenewal(let body): body
        }
    }
}

/// Notifies the asking account's responders of something that happened to it. A policy sends this on behalf of the
/// dependent.
///
/// The beginning and the repetitions of an alarm go to each responder who wants to know. Its end goes to exactly those
/// who were alerted. Result: ``AlertRelayed``.
///
/// Contacts of a release before ``reason`` would take an alarm that was closed for one that the person ended, so these are
/// upgraded first.
package struct RelayAlert: CommandBody {
    package static let isUrgent = true

    package let kind: AlertKind
    /// Nil for a check-in that ends no alarm.
    package let alarm: AlarmID?
    /// The time of session's event.
    package let occurred: Instant
    /// The missed deadline; of an alert, the end of the trip that made it, unless the dependent has called for help by hand.
    package let deadline: Instant?
    /// When the ping was sent that made an alert because it wasn't answered, or the first of several; nil once the dependent has called
    /// for help by hand. Whose it was is nobody's business.
    package let pinged: Instant?
    /// The dependent's newest call for help, if it came late.
    package let lateCall: LateCall?
    /// How often responders were already alerted to the same alarm.
    package let repetition: Int
    /// Whether the repetitions that come soon after one another are over.
    package let isSlow: Bool?
    /// How the alarm ended, if the person didn't end it themselves.
    package let reason: AlarmEndReason?

    package init(
        kind: AlertKind, alarm: AlarmID? = nil, occurred: Instant, deadline: Instant? = nil, pinged: Instant? = nil,
        lateCall: LateCall? = nil, repetition: Int = 0, isSlow: Bool? = nil, reason: AlarmEndReason? = nil
    ) {
        self.kind = kind
        self.alarm = alarm
        self.occurred = occurred
        self.deadline = deadline
        self.pinged = pinged
        self.lateCall = lateCall
        self.repetition = repetition
        self.isSlow = isSlow
        self.reason = reason
    }

    package func validate() throws(Rejection) {
        guard repetition >= 0 else {
            throw Rejection(.invalidField, "Count repetitions from 0.", field: "repetition")
        }
        guard alarm != nil || kind == .checkedIn else {
            throw Rejection(.invalidField, "Give the alarm; only a check-in may have none.", field: "alarm")
        }
    }
}

/// Tells the asking account's responders that its check-ins are paused, that the pause has another end, or that it is over. A policy
/// sends this on behalf of the dependent.
///
/// Result: a ``PauseAnnounced`` for each responder.
package struct AnnouncePause: CommandBody {
    package let change: PauseChange
    /// Until when check-ins are paused; nil if they aren't any more.
    package let until: Instant?
    /// The next deadline.
    package let due: Instant
    /// The time of session's event.
    package let occurred: Instant

    package init(change: PauseChange, until: Instant?, due: Instant, occurred: Instant) {
        self.change = change
        self.until = until
        self.due = due
        self.occurred = occurred
    }
}

/// Answers an alarm that the asking account was told of, as the dependent's responder. Everybody else who was told of it, and
/// the dependent, see the answer. It takes the place of the account's former answer.
///
/// *On it* holds the alarm's repetitions back, at most for two hours of each responder and four hours in all. *Safe* closes the
/// alarm a day later, unless somebody denies it or the dependent ends it before, and holds the repetitions back for the first
/// day in which anybody says so. While somebody says *needs help*, nothing is held back. No answer gives the all-clear.
///
/// An answer that was pressed before the one that stands changes nothing: it comes late.
///
/// Rejected: `notFound` (it is over, or the account wasn't told of it), `notDependent`, `tooSoon`, `limitReached`.
/// Result: ``AlarmAcknowledged``.
public struct AcknowledgeAlarm: PublicCommandBody {
    public static let sending = Sending(.alarmAnswer, for: .hours(1))
    public var orderSubject: String { "\(contact)" }
    public static let urgentFamily = UrgentFamily.answer

    /// For how long somebody may say that they are on it.
    public static let minutesRange = 5...120
    public static let defaultMinutes = 30

    /// The dependent.
    public let contact: AccountID
    public let alarm: AlarmID
    public let answer: AlarmAnswer
    /// For how long, of `onIt`; 30 if it doesn't say.
    public let minutes: Int?
    /// When the person gave the answer, by the server's clock; nil for now. Counts at most an hour back, and not ahead.
    public let pressed: Instant?

    public init(
        contact: AccountID, alarm: AlarmID, answer: AlarmAnswer, minutes: Int? = nil, pressed: Instant? = nil
    ) {
        self.contact = contact
        self.alarm = alarm
        self.answer = answer
        self.minutes = minutes
        self.pressed = pressed
    }

    public func validate() throws(Rejection) {
        guard let minutes else { return }
        guard answer == .onIt else {
            throw Rejection(.invalidField, "Give minutes only with onIt.", field: "minutes")
        }
        guard Self.minutesRange.contains(minutes) else {
            throw Rejection(.invalidField, "Give 5 to 120 minutes.", field: "minutes")
        }
    }
}

/// Decides whether an alarm is closed because somebody said a day ago that the dependent is safe. A policy sends this when
/// session finds that it is time. It changes nothing if anybody has answered otherwise since.
///
/// Result: ``AlarmClosingDecided``.
package struct DecideClosing: CommandBody {
    package static let isUrgent = true

    package let alarm: AlarmID
    /// Of what held the alarm back, as session has it.
    package let version: Int

    package init(alarm: AlarmID, version: Int) {
        self.alarm = alarm
        self.version = version
    }
}

/// The dependent called for help again: what was answered before doesn't stand any more, unless it is that help is needed. Whoever
/// was told of a late arrival is told of the call at once. A policy sends this.
///
/// Result: ``AlarmHoldChanged``, for session to know what was answered since.
package struct ForgetAnswers: CommandBody {
    package static let isUrgent = true

    package let alarm: AlarmID
    /// When the dependent called.
    package let before: Instant
    /// True if the dependent hasn't: a ping wasn't answered in time, or a trip was missed, too.
    package let isLate: Bool?
    /// The call, if it came late.
    package let lateCall: LateCall?

    package init(alarm: AlarmID, before: Instant, isLate: Bool? = nil, lateCall: LateCall? = nil) {
        self.alarm = alarm
        self.before = before
        self.isLate = isLate
        self.lateCall = lateCall
    }
}

/// Asks those whose time on an alarm of the account ends soon whether they are still on it, or settles that when the time is over. A
/// timer sends this; it changes nothing otherwise.
///
/// It isn't urgent: what an alarm tells others doesn't wait for it.
///
/// Result: ``RenewalAsked`` and ``RenewalSettled`` for each.
package struct AskForRenewal: OwnCommandBody {
    /// The person whom the alarms are about.
    package let account: AccountID
    /// When the timer was due, by which one is told from another.
    package let due: Instant

    package init(account: AccountID, due: Instant) {
        self.account = account
        self.due = due
    }
}
