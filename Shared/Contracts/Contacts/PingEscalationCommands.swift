public import QuartetVocabulary

/// Pings that raise an alert when they aren't answered.
public enum PingEscalationCommand: MessageSet {
    case setPingEscalation(SetPingEscalation)
    case setPingQuietHours(SetPingQuietHours)
    case judgePings(JudgePings)
    case settleUnansweredPings(SettleUnansweredPings)

    package static let cases: Cases<Self> = [
        Case(Self.setPingEscalation), Case(Self.setPingQuietHours), Case(Self.judgePings),
        Case(Self.settleUnansweredPings),
    ]

    public var body: any CommandBody {
        switch self {
        case .setPingEscalation(let body): body
        case .setPingQuietHours(let body): body
        case .judgePings(let body): body
        case .settleUnansweredPings(let body): body
        }
    }
}

/// Sets how long a responder's ping may stay unanswered before an alert is raised: for one responder, or for all for whom nothing else
/// is chosen. Nothing is raised unless this is set.
///
/// The person is warned five minutes before. An answer, a check-in, an all-clear, an arrival, or the pinger's cancellation ends it. A
/// responder's pings raise an alert once a day at most; what falls due sooner waits until then. Of pings that are taken back, one a day
/// warns loudly. It applies to pings that are sent from then on, unless a missed check-in is on: then others know already. Whoever became a
/// responder by the account's code alone raises nothing until it is chosen for them.
///
/// Rejected: `notContact` if the contact isn't the account's responder. Result: ``PingEscalationSet``; nothing if nothing changes.
public struct SetPingEscalation: PublicCommandBody {
    /// Later, it might undo what the person has decided since on another device.
    public static let sending = Sending(.contactSettings, for: .minutes(10), supersedes: ["SetPingEscalation"])
    public var orderSubject: String { contact.map { "\($0)" } ?? "" }

    /// The responder; nil for all.
    public let contact: AccountID?
    /// From 15 minutes to 24 hours, in whole minutes; zero for never. Nil for a responder means as for all, and for all never.
    public let after: Interval?

    public init(contact: AccountID? = nil, after: Interval?) {
        self.contact = contact
        self.after = after
    }

    public func validate() throws(Rejection) {
        guard after.map(PingEscalation.allows) ?? true else {
            throw Rejection(
                .invalidField, "Choose 15 minutes to 24 hours in whole minutes, or zero for never.", field: "after")
        }
    }
}

/// Sets the hours in which no unanswered ping warns or raises an alert, for pings that are sent from then on. What falls due in them warns
/// at their end, and raises the alert half an hour later, or after the time that is chosen if that is less. They leave an hour of the
/// day, so that both have room.
///
/// Result: ``PingQuietHoursSet``; nothing if nothing changes.
public struct SetPingQuietHours: PublicCommandBody {
    public static let sending = Sending(.contactSettings, for: .minutes(10), supersedes: ["SetPingQuietHours"])

    /// Nil for none.
    public let quietHours: QuietHours?

    public init(quietHours: QuietHours?) {
        self.quietHours = quietHours
    }

    public func validate() throws(Rejection) {
        guard let quietHours else { return }
        guard QuietHours.minutes.contains(quietHours.from), QuietHours.minutes.contains(quietHours.to),
            quietHours.from != quietHours.to
        else {
            throw Rejection(
                .invalidField, "Give two different minutes of the day, each from 0 to 1439.", field: "quietHours")
        }
        guard quietHours.gap >= QuietHours.shortestGap else {
            throw Rejection(
                .invalidField, "Leave at least an hour of the day that isn't quiet.", field: "quietHours")
        }
    }
}

/// Warns of pings that soon raise an alert, and says which ones weren't answered in time. A timer sends this; it changes nothing
/// otherwise.
///
/// Result: ``PingWarned`` for each, and ``PingsUnanswered``.
public struct JudgePings: OwnCommandBody {
    public static let isUrgent = true

    /// Who was pinged.
    public let account: AccountID
    /// When the timer was due, by which one is told from another.
    public let due: Instant

    public init(account: AccountID, due: Instant) {
        self.account = account
        self.due = due
    }
}

/// Notes which alert unanswered pings have raised, or that they were added to one that was on, or that nothing came of them, or that the
/// person said that they are all right. A policy sends this.
///
/// Result: ``PingDueSet`` and ``PingWarningEnded`` of those that raise nothing any more, or later.
public struct SettleUnansweredPings: OwnCommandBody {
    public static let isUrgent = true

    /// Who was pinged.
    public let account: AccountID
    public let pings: [UnansweredPing]
    /// The alert that they raised, or were added to; nil if nothing came of them.
    public let alarm: AlarmID?
    /// Whether they raised the alert. If it was on already, their senders' next pings may raise another on the same day, but aren't added
    /// to this one.
    public let isRaised: Bool
    /// When the person said that they are all right: no ping sent before raises an alert.
    public let allRight: Instant?
    /// By the database's clock.
    public let at: Instant

    public init(
        account: AccountID, pings: [UnansweredPing] = [], alarm: AlarmID? = nil, isRaised: Bool = false,
        allRight: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.pings = pings
        self.alarm = alarm
        self.isRaised = isRaised
        self.allRight = allRight
        self.at = at
    }
}
