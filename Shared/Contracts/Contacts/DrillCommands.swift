package import QuartetVocabulary

/// Drills of dependents, on their way to the responders. They are no alarms, and no rule of alarms knows them.
package enum DrillCommand: MessageSet {
    case relayDrill(RelayDrill)
    case withdrawDrill(WithdrawDrill)

    package static let cases: Cases<Self> = [Case(Self.relayDrill), Case(Self.withdrawDrill)]

    package var body: any CommandBody {
        switch self {
        case .relayDrill(let body): body
        case .withdrawDrill(let body): body
        }
    }
}

/// Tells all responders of the asking account of its drill. A policy sends this on behalf of the dependent. It tells nobody if the drill is over,
/// or if an alarm of the dependent is on or was since the drill began.
///
/// Result: ``DrillRelayed``.
package struct RelayDrill: CommandBody {
    package let drill: DrillID
    package let began: Instant
    package let ends: Instant

    package init(drill: DrillID, began: Instant, ends: Instant) {
        self.drill = drill
        self.began = began
        self.ends = ends
    }
}

/// The drill is over: nobody is to hear of it any more. A policy sends this.
///
/// Result: ``DrillRelayed``, and a ``DrillWithdrawn`` for each responder.
package struct WithdrawDrill: CommandBody {
    package let drill: DrillID

    package init(drill: DrillID) {
        self.drill = drill
    }
}
