public import QuartetVocabulary

/// A trip as its owner sees it.
public struct TripState: Codable, Hashable, Sendable, Identifiable {
    public var id: TripID
    public var name: String
    public var note: String?
    /// By when the person has arrived.
    public var eta: Instant
    /// How long after that an alert is raised; nil if at once.
    public var grace: Interval?
    /// The time has passed, and an alert is raised at this one.
    public var graceEnds: Instant?
    /// The alert that is on since its time has passed.
    public var alarm: AlarmID?
    /// Whether the person has called for help by hand, too, before or after: then only the alert's end ends the trip.
    public var isCalled: Bool?

    public init(
        id: TripID, name: String, note: String? = nil, eta: Instant, grace: Interval? = nil,
        graceEnds: Instant? = nil, alarm: AlarmID? = nil, isCalled: Bool? = nil
    ) {
        self.id = id
        self.name = name
        self.note = note
        self.eta = eta
        self.grace = grace
        self.graceEnds = graceEnds
        self.alarm = alarm
        self.isCalled = isCalled
    }

    /// When the alert is raised, or was.
    public var othersHear: Instant { eta + (grace ?? .seconds(0)) }

    /// Whether the alert is on since the trip's time has passed, and the person hasn't called for help: the trip's end ends it, unless a
    /// ping wasn't answered, too.
    public var isItsAlert: Bool { alarm != nil && isCalled != true }
}

/// The trip that made an alert.
public struct MissedTrip: Codable, Hashable, Sendable {
    public let trip: TripID
    public let eta: Instant
    /// When the person was reminded of it; nil if they weren't.
    public let reminded: Instant?

    public init(trip: TripID, eta: Instant, reminded: Instant? = nil) {
        self.trip = trip
        self.eta = eta
        self.reminded = reminded
    }
}

/// How the person ended a trip.
public enum TripEnd: String, Codable, Hashable, Sendable, CaseIterable {
    case arrived
    case cancelled
}

extension Rejection.Code {
    /// A trip is on already.
    public static let tripOn: Self = "tripOn"
    /// The trip's time has passed.
    public static let tripMissed: Self = "tripMissed"
}

extension AccountState {
    mutating func apply(_ event: TripEvent) {
        switch event {
        case .tripStarted(let event): trip = event.trip
        case .tripExtended(let event):
            guard trip?.id == event.trip else { return }
            trip?.eta = event.eta
            trip?.graceEnds = nil
        case .tripEnded(let event): if trip?.id == event.trip { trip = nil }
        case .tripGraceBegan(let event): if trip?.id == event.trip { trip?.graceEnds = event.ends }
        case .tripReminded: break
        }
    }

    /// The trip's time has passed, and an alert is on.
    mutating func miss(_ missed: MissedTrip, _ alarm: AlarmID, isCalled: Bool) {
        guard trip?.id == missed.trip else { return }
        trip?.alarm = alarm
        trip?.isCalled = isCalled ? true : nil
        trip?.graceEnds = nil
    }

    /// What is known of an alert that is over, but for the trip that was missed.
    package mutating func endAlert() { (alertRaised, alertAlarm, lateCall, unanswered) = (nil, nil, nil, nil) }

    /// An alert is over, and with it the trip that was missed.
    mutating func endMissedTrip() { if trip?.alarm != nil { trip = nil } }
}
