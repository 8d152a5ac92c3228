public import QuartetContractSupport
public import QuartetVocabulary

/// Trips: a time by which somebody has arrived, or an alert is raised.
package enum TripCommand: MessageSet {
    case startTrip(StartTrip)
    case extendTrip(ExtendTrip)
    case endTrip(EndTrip)
    case remindTrip(RemindTrip)
    case missTrip(MissTrip)

    package static let cases: Cases<Self> = [
        Case(Self.startTrip), Case(Self.extendTrip), Case(Self.endTrip), Case(Self.remindTrip), Case(Self.missTrip),
    ]

    package var body: any CommandBody {
        switch self {
        case .startTrip(let body): body
        case .extendTrip(let body): body
        case .endTrip(let body): body
        case .remindTrip(let body): body
        case .missTrip(let body): body
        }
    }
}

/// Starts a trip. Unless the person says before its end that they have arrived, an alert is raised, of which all their
/// responders are told. Nobody else sees the trip before.
///
/// Rejected: `tripOn` while there is one; `invalidField` if the time is less than five minutes or more than 72 hours ahead (operators can
/// change the former); `tooSoon`, with the time left, after thirty starts in a day. Result: ``TripStarted``.
public struct StartTrip: PublicCommandBody {
    /// Later, nobody may mean it any more.
    public static let sending = Sending(.trip, for: .minutes(5))
    public static let urgentFamily = UrgentFamily.checkIn

    /// What it is called: 1 to 60 characters. Responders see it while the alert is on.
    public let name: String
    /// By when the person has arrived.
    public let eta: Instant
    /// At most 500 characters. Responders see it while the alert is on.
    public let note: String?
    /// How long after that time the alert is raised: at most an hour; nil for at once.
    public let grace: Interval?

    public init(name: String, eta: Instant, note: String? = nil, grace: Interval? = nil) {
        self.name = name
        self.eta = eta
        self.note = note
        self.grace = grace
    }

    public func validate() throws(Rejection) {
        try TripRules.name.check(name, field: "name")
        if let note { try TripRules.note.check(note, field: "note") }
        if let grace, !CheckInRules.graces.contains(grace) {
            throw Rejection(.invalidField, "Choose a grace of at most 60 minutes.", field: "grace")
        }
    }
}

/// Moves the time by which the person has arrived, later or earlier.
///
/// Rejected: `notFound` if another trip or none is on; `tripMissed` once its alert is raised; `invalidField` as
/// ``StartTrip``; `tooSoon` after thirty moves in a day. Result: ``TripExtended``; nothing if nothing changes.
public struct ExtendTrip: PublicCommandBody {
    public static let urgentFamily = UrgentFamily.checkIn
    /// Later, it would put off an alarm that is due.
    public static let sending = Sending(.trip, for: .minutes(5), supersedes: ["ExtendTrip"])

    public let trip: TripID
    public let eta: Instant

    public init(trip: TripID, eta: Instant) {
        self.trip = trip
        self.eta = eta
    }
}

/// Ends the trip. If it raised the alert that is on, this gives the all-clear. Without a trip it changes nothing.
///
/// Rejected: `notFound` if another trip is on; `alertChanged` if the alert was raised after this was pressed, or the person has called for
/// help by hand: only ``ClearAlert`` ends that, and the trip with it. Result: ``TripEnded``, with ``AlertCleared``.
public struct EndTrip: PublicCommandBody {
    public static let urgentFamily = UrgentFamily.checkIn
    /// An all-clear is worth sending late; it names what it ends.
    public static let sending = Sending(.trip, for: .days(1), supersedes: ["ExtendTrip", "EndTrip"])

    public let trip: TripID
    public let end: TripEnd
    /// When the person did it, by the server's clock; nil for when it was received. Counts not ahead.
    public let pressed: Instant?

    public init(trip: TripID, end: TripEnd, pressed: Instant? = nil) {
        self.trip = trip
        self.end = end
        self.pressed = pressed
    }
}

/// Reminds of a trip's end. A timer sends this; it changes nothing if the trip has ended or was moved.
///
/// Rejected: `notDue`. Result: ``TripReminded``.
package struct RemindTrip: OwnCommandBody {
    package let account: AccountID
    package let trip: TripID
    /// What the timer was set for.
    package let eta: Instant

    package init(account: AccountID, trip: TripID, eta: Instant) {
        self.account = account
        self.trip = trip
        self.eta = eta
    }
}

/// Marks a trip's time as passed: begins its grace, or if there is none, or it is over, raises an alert. A timer sends this; it changes
/// nothing if the trip has ended or was moved.
///
/// Rejected: `notDue`. Result: ``TripGraceBegan``, ``AlertRaised`` or, while an alert is on, ``AlertRaisedAgain``.
package struct MissTrip: OwnCommandBody {
    package static let isUrgent = true

    package let account: AccountID
    package let trip: TripID
    /// What the timer was set for.
    package let eta: Instant

    package init(account: AccountID, trip: TripID, eta: Instant) {
        self.account = account
        self.trip = trip
        self.eta = eta
    }
}

/// The limits that a sender can know beforehand.
public enum TripRules {
    public static let name = TextRule(1...60)
    public static let note = TextRule(0...500, hasLines: true)
    /// How far ahead a trip's end may be.
    public static let longest: Interval = .hours(72)
}
