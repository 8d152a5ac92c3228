public import QuartetSessionContract
public import QuartetVocabulary

/// `GET /v1/drill`: for whom the caller's newest drill was ready, and who said that they got it, as far as is known now. For a week.
public struct DrillReport: Codable, Hashable, Sendable {
    public let drill: DrillState
    /// The caller's responders, sorted by account.
    public let responders: [DrillReceipt]

    public init(drill: DrillState, responders: [DrillReceipt]) {
        self.drill = drill
        self.responders = responders
    }
}

/// What a responder's drill came to. Nothing of their devices, and of what they do only what they say themselves.
public struct DrillReceipt: Codable, Hashable, Sendable, Identifiable {
    /// The responder.
    public let account: AccountID
    /// When it was ready for their devices, to the second. Nil if it isn't yet, or never was: they became a responder later, or a deadline or an
    /// alarm came first. Whether a device took it isn't known.
    public let notified: Instant?
    /// When they said that they got it, to the second.
    public let answered: Instant?

    public init(account: AccountID, notified: Instant?, answered: Instant?) {
        self.account = account
        self.notified = notified
        self.answered = answered
    }

    public var id: AccountID { account }
}
