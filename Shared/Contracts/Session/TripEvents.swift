public import QuartetVocabulary

/// What becomes of trips. Only the person sees these.
public enum TripEvent: MessageSet {
    case tripStarted(TripStarted)
    case tripExtended(TripExtended)
    case tripEnded(TripEnded)
    case tripReminded(TripReminded)
    case tripGraceBegan(TripGraceBegan)

    package static let cases: Cases<Self> = [
        Case(Self.tripStarted), Case(Self.tripExtended), Case(Self.tripEnded), Case(Self.tripReminded),
        Case(Self.tripGraceBegan),
    ]

    public var body: any EventBody {
        switch self {
        case .tripStarted(let body): body
        case .tripExtended(let body): body
        case .tripEnded(let body): body
        case .tripReminded(let body): body
        case .tripGraceBegan(let body): body
        }
    }
}

/// A trip began.
public struct TripStarted: EventBody {
    public let account: AccountID
    /// As it begins.
    public let trip: TripState
    public let at: Instant

    public init(account: AccountID, trip: TripState, at: Instant) {
        self.account = account
        self.trip = trip
        self.at = at
    }
}

/// A trip has another end.
public struct TripExtended: EventBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.checkIn

    public let account: AccountID
    public let trip: TripID
    public let eta: Instant
    public let former: Instant
    /// When the person was reminded of the former end; nil if they weren't.
    public let reminded: Instant?
    public let at: Instant

    public init(
        account: AccountID, trip: TripID, eta: Instant, former: Instant, reminded: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.trip = trip
        self.eta = eta
        self.former = former
        self.reminded = reminded
        self.at = at
    }
}

/// The person ended a trip. The end of an alarm ends a trip that was missed, too, without this.
public struct TripEnded: EventBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.checkIn

    public let account: AccountID
    public let trip: TripID
    public let end: TripEnd
    public let eta: Instant
    /// When the person was reminded of this end; nil if they weren't.
    public let reminded: Instant?
    /// When the person said that they have arrived, by the database's clock; nil if they haven't. What was asked before is answered.
    public let said: Instant?
    public let at: Instant

    public init(
        account: AccountID, trip: TripID, end: TripEnd, eta: Instant, reminded: Instant? = nil, said: Instant? = nil,
        at: Instant
    ) {
        self.account = account
        self.trip = trip
        self.end = end
        self.eta = eta
        self.reminded = reminded
        self.said = said
        self.at = at
    }
}

/// A trip's end is near.
public struct TripReminded: EventBody {
    /// What ends the trip or moves it doesn't overtake this.
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.checkIn

    public let account: AccountID
    public let trip: TripID
    public let eta: Instant
    public let at: Instant

    public init(account: AccountID, trip: TripID, eta: Instant, at: Instant) {
        self.account = account
        self.trip = trip
        self.eta = eta
        self.at = at
    }
}

/// A trip's time has passed, and nobody but the person hears of it before the grace ends.
public struct TripGraceBegan: EventBody {
    public static let isUrgent = true
    public static let urgentFamily = UrgentFamily.checkIn

    public let account: AccountID
    public let trip: TripID
    public let eta: Instant
    /// When an alert is raised, unless the person has arrived by then.
    public let ends: Instant
    /// When the person was reminded of this end; nil if they weren't.
    public let reminded: Instant?
    public let at: Instant

    public init(
        account: AccountID, trip: TripID, eta: Instant, ends: Instant, reminded: Instant? = nil, at: Instant
    ) {
        self.account = account
        self.trip = trip
        self.eta = eta
        self.ends = ends
        self.reminded = reminded
        self.at = at
    }
}
