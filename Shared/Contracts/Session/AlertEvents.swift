public import QuartetVocabulary

/// A person needs help, which begins an alarm.
public struct AlertRaised: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The alarm that this begins.
    public let alarm: AlarmID
    /// When responders will be alarmed, because too many alerts were raised before; nil if at once.
    public let waitsUntil: Instant?
    /// The call for help that raised it, if that came late.
    public let lateCall: LateCall?
    /// The trip whose time passed; nil if the person raised it.
    public let trip: MissedTrip?
    /// The pings that weren't answered in time; nil if it is about none.
    public let pings: [UnansweredPing]?
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, waitsUntil: Instant? = nil, lateCall: LateCall? = nil,
        trip: MissedTrip? = nil, pings: [UnansweredPing]? = nil, at: Instant
    ) {
        self.account = account
        self.alarm = alarm
        self.waitsUntil = waitsUntil
        self.lateCall = lateCall
        self.trip = trip
        self.pings = pings
        self.at = at
    }
}

/// An alert that had to wait is still on, so responders are alarmed now.
public struct AlertAnnounced: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let alarm: AlarmID
    public let raised: Instant
    /// The newest call for help, if it came late.
    public let lateCall: LateCall?
    public let at: Instant

    public init(account: AccountID, alarm: AlarmID, raised: Instant, lateCall: LateCall? = nil, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.raised = raised
        self.lateCall = lateCall
        self.at = at
    }
}

/// An alert ended.
public struct AlertCleared: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The alarm that this ends.
    public let alarm: AlarmID
    public let raised: Instant
    /// Whether responders were alarmed. If not, they needn't be told of the end.
    public let wasAnnounced: Bool
    /// When the person said that they are all right, by the database's clock. What was asked before is answered.
    public let said: Instant?
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, raised: Instant, wasAnnounced: Bool, said: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.alarm = alarm
        self.raised = raised
        self.wasAnnounced = wasAnnounced
        self.said = said
        self.at = at
    }
}

/// An alarm is still on, so responders are alerted again.
public struct AlarmRepeated: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let alarm: AlarmID
    public let kind: AlarmKind
    /// The missed deadline, or when the alert was raised.
    public let since: Instant
    /// From 1.
    public let repetition: Int
    /// Whether the repetitions that come soon after one another are over.
    public let isSlow: Bool?
    /// The end of the trip that made the alert; nil if the person has called for help by hand.
    public let eta: Instant?
    /// When the first of the pings was sent that made the alert; nil if the person has called for help, too.
    public let pinged: Instant?
    /// The newest call for help, if it came late.
    public let lateCall: LateCall?
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, kind: AlarmKind, since: Instant, repetition: Int, isSlow: Bool? = nil,
        eta: Instant? = nil, pinged: Instant? = nil, lateCall: LateCall? = nil, at: Instant
    ) {
        self.lateCall = lateCall
        self.eta = eta
        self.pinged = pinged
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.since = since
        self.repetition = repetition
        self.isSlow = isSlow
        self.at = at
    }
}

/// An alarm ended that the person didn't end. After a missed check-in the time until the next one begins again.
public struct AlarmClosed: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// The alarm that this ends.
    public let alarm: AlarmID
    public let kind: AlarmKind
    public let reason: AlarmCloseReason
    /// The missed deadline, or when the alert was raised.
    public let since: Instant
    /// When the next check-in is due, after a missed one.
    public let due: Instant?
    /// From when a check-in counts for ``due``, a daily time.
    public let opens: Instant?
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, kind: AlarmKind, reason: AlarmCloseReason, since: Instant,
        due: Instant? = nil, opens: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.alarm = alarm
        self.kind = kind
        self.reason = reason
        self.since = since
        self.due = due
        self.opens = opens
        self.at = at
    }
}

/// It is time to close an alarm because somebody said that the person is safe. Contacts, who may have heard otherwise, decides.
public struct AlarmClosingDue: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let alarm: AlarmID
    /// Of what holds the alarm back.
    public let version: Int
    public let at: Instant

    public init(account: AccountID, alarm: AlarmID, version: Int, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.version = version
        self.at = at
    }
}

/// The person called for help again while an alert is on. What responders answered before doesn't stand any more.
public struct AlertRaisedAgain: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let alarm: AlarmID
    /// When the person did, as their app says.
    public let pressed: Instant
    /// The call, if it came late. If it came in time, an older one that was late isn't shown any more; a trip or pings change nothing of it.
    public let lateCall: LateCall?
    /// The trip whose time passed; nil if the person did it.
    public let trip: MissedTrip?
    /// The pings that weren't answered in time; nil if it is about none.
    public let pings: [UnansweredPing]?
    public let at: Instant

    public init(
        account: AccountID, alarm: AlarmID, pressed: Instant, lateCall: LateCall? = nil, trip: MissedTrip? = nil,
        pings: [UnansweredPing]? = nil, at: Instant
    ) {
        self.lateCall = lateCall
        self.account = account
        self.alarm = alarm
        self.pressed = pressed
        self.trip = trip
        self.pings = pings
        self.at = at
    }
}

/// Nothing more becomes of pings that weren't answered in time: they made an alert before, or the person has said since that they are all
/// right.
public struct UnansweredPingsDiscarded: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    /// Sorted by responder; from one to ``UnansweredPing/limit``.
    public let pings: [UnansweredPing]
    /// The alert that is on and names them already; nil if none does.
    public let alarm: AlarmID?
    /// True if they made that alert, and weren't added to it.
    public let isRaised: Bool?
    public let at: Instant

    public init(
        account: AccountID, pings: [UnansweredPing], alarm: AlarmID? = nil, isRaised: Bool? = nil, at: Instant
    ) {
        self.account = account
        self.pings = pings
        self.alarm = alarm
        self.isRaised = isRaised
        self.at = at
    }
}

/// Pings that made the alert that is on, or were added to it, were answered, and it goes on: by others, by a trip, or because the person
/// has called for help, too.
public struct UnansweredPingsDropped: EventBody {
    public static let isUrgent = true

    public let account: AccountID
    public let alarm: AlarmID
    public let pings: [UnansweredPing]
    public let at: Instant

    public init(account: AccountID, alarm: AlarmID, pings: [UnansweredPing], at: Instant) {
        self.account = account
        self.alarm = alarm
        self.pings = pings
        self.at = at
    }
}
