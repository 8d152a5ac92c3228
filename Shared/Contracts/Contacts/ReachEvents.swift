public import QuartetVocabulary

/// Whether anyone would be told if the account missed a check-in. A responder who doesn't want to hear of that isn't counted here.
public enum ResponderReach: String, Codable, Hashable, Sendable, CaseIterable {
    /// The account has no responder who hears of missed check-ins.
    case nobody
    /// The account has responders, but none of them could be reached for 30 days: no app of theirs was connected, and no push
    /// service took a push for them.
    case unreachable
    /// At least one responder can be reached.
    case reachable
}

/// Whether an account's responders can be reached has changed. What a responder did to change that was up to three days earlier,
/// or up to a day if they are back.
public struct ResponderReachChanged: EventBody {
    public let account: AccountID
    public let reach: ResponderReach
    public let at: Instant

    public init(account: AccountID, reach: ResponderReach, at: Instant) {
        self.account = account
        self.reach = reach
        self.at = at
    }
}

/// A change of whether an account's responders can be reached has lasted for a minute, so the account is notified.
public struct ResponderReachSettled: EventBody {
    public let account: AccountID
    public let reach: ResponderReach
    /// How many responders the account has who hear of missed check-ins.
    public let responders: Int
    public let at: Instant

    public init(account: AccountID, reach: ResponderReach, responders: Int, at: Instant) {
        self.account = account
        self.reach = reach
        self.responders = responders
        self.at = at
    }
}
