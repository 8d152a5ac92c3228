public import QuartetVocabulary

/// Who hears of a missed check-in later than the others was set, or somebody of them isn't a responder any more.
public struct ResponderTiersSet: EventBody {
    public let account: AccountID
    /// The soonest first, each sorted by id; empty for everybody at once.
    public let tiers: [ResponderTier]
    /// See ``ContactsState/responderTiersVersion``.
    public let version: Int64?
    public let at: Instant

    public init(account: AccountID, tiers: [ResponderTier], version: Int64? = nil, at: Instant) {
        self.account = account
        self.tiers = tiers
        self.version = version
        self.at = at
    }
}

/// Another tier of responders hears of an alarm.
public struct TierBegan: EventBody {
    /// The dependent.
    public let account: AccountID
    public let alarm: AlarmID
    /// The first who hear of it are tier 1.
    public let tier: Int
    /// How many are told.
    public let responders: Int
    public let at: Instant

    public init(account: AccountID, alarm: AlarmID, tier: Int, responders: Int, at: Instant) {
        self.account = account
        self.alarm = alarm
        self.tier = tier
        self.responders = responders
        self.at = at
    }
}
