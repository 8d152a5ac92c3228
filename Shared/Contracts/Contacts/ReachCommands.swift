package import QuartetVocabulary

/// Commands about who can be reached, and so whether anyone would be told of an alarm. None is an app's.
package enum ReachCommand: MessageSet {
    case recordReached(RecordReached)
    case lapseReach(LapseReach)
    case restoreReach(RestoreReach)
    case settleResponderReach(SettleResponderReach)

    package static let cases: Cases<Self> = [
        Case(Self.recordReached), Case(Self.lapseReach), Case(Self.restoreReach), Case(Self.settleResponderReach),
    ]

    package var body: any CommandBody {
        switch self {
        case .recordReached(let body): body
        case .lapseReach(let body): body
        case .restoreReach(let body): body
        case .settleResponderReach(let body): body
        }
    }
}

/// Records that an app of the asking account was connected, or that a push service took a push to one of its devices. Policies
/// send this, at most once a day for each device that connects and once a day for pushes. Does nothing if the account is closed.
///
/// It has no event: nobody is to see when it was.
package struct RecordReached: CommandBody {
    package init() {}
}

/// Notes that nothing has reached the account for long. A timer sends this; it changes nothing if something reached the
/// account meanwhile. Its dependents' ``ResponderReachChanged`` follow.
package struct LapseReach: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Lets an account that was reached again count as reachable. A timer sends this, at an unforeseeable time within a day
/// after it was reached, so that its dependents don't see when. Their ``ResponderReachChanged`` follow.
package struct RestoreReach: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Says that a change of ``ResponderReach`` has lasted. A timer sends this; it changes nothing if the account is back
/// at what was said last.
///
/// Result: ``ResponderReachSettled``.
package struct SettleResponderReach: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}
