public import QuartetVocabulary

/// What becomes of dependents' drills.
public enum ContactsDrillEvent: MessageSet {
    case drillRelayed(DrillRelayed)
    case responderDrilled(ResponderDrilled)
    case drillWithdrawn(DrillWithdrawn)

    package static let cases: Cases<Self> = [
        Case(Self.drillRelayed), Case(Self.responderDrilled), Case(Self.drillWithdrawn),
    ]

    public var body: any EventBody {
        switch self {
        case .drillRelayed(let body): body
        case .responderDrilled(let body): body
        case .drillWithdrawn(let body): body
        }
    }
}

/// Responders were told of a drill of the account, or that it is over.
public struct DrillRelayed: EventBody {
    /// The dependent.
    public let account: AccountID
    public let drill: DrillID
    /// How many were told.
    public let responders: Int
    public let at: Instant

    public init(account: AccountID, drill: DrillID, responders: Int, at: Instant) {
        self.account = account
        self.drill = drill
        self.responders = responders
        self.at = at
    }
}

/// A responder is to be told of a dependent's drill.
public struct ResponderDrilled: EventBody {
    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    public let drill: DrillID
    public let began: Instant
    public let ends: Instant
    public let at: Instant

    public init(
        account: AccountID, dependent: AccountID, drill: DrillID, began: Instant, ends: Instant, at: Instant
    ) {
        self.account = account
        self.dependent = dependent
        self.drill = drill
        self.began = began
        self.ends = ends
        self.at = at
    }
}

/// A responder isn't to hear of a dependent's drill any more.
public struct DrillWithdrawn: EventBody {
    /// The responder.
    public let account: AccountID
    public let dependent: AccountID
    public let drill: DrillID
    public let at: Instant

    public init(account: AccountID, dependent: AccountID, drill: DrillID, at: Instant) {
        self.account = account
        self.dependent = dependent
        self.drill = drill
        self.at = at
    }
}
