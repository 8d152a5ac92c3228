public import QuartetVocabulary

/// What becomes of drills. None of these is urgent: whatever is about an alarm overtakes them.
public enum SessionDrillEvent: MessageSet {
    case drillBegan(DrillBegan)
    case drillEnded(DrillEnded)

    package static let cases: Cases<Self> = [Case(Self.drillBegan), Case(Self.drillEnded)]

    public var body: any EventBody {
        switch self {
        case .drillBegan(let body): body
        case .drillEnded(let body): body
        }
    }
}

/// A person runs a drill.
public struct DrillBegan: EventBody {
    public let account: AccountID
    public let drill: DrillID
    public let began: Instant
    /// When it is over, unless a deadline or an alarm ends it before.
    public let ends: Instant
    /// As in ``DrillState/earlier``.
    public let earlier: [Instant]?
    public let at: Instant

    public init(
        account: AccountID, drill: DrillID, began: Instant, ends: Instant, earlier: [Instant]? = nil, at: Instant
    ) {
        self.account = account
        self.drill = drill
        self.began = began
        self.ends = ends
        self.earlier = earlier
        self.at = at
    }
}

/// A drill is over.
public struct DrillEnded: EventBody {
    public let account: AccountID
    public let drill: DrillID
    public let end: DrillEnd
    public let at: Instant

    public init(account: AccountID, drill: DrillID, end: DrillEnd, at: Instant) {
        self.account = account
        self.drill = drill
        self.end = end
        self.at = at
    }
}
