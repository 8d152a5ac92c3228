/// A ping that nobody answered in time, by which an alert is raised.
public struct UnansweredPing: Codable, Hashable, Sendable {
    /// How many one alert names at most.
    public static let limit = 100

    /// The responder who asked.
    public let contact: AccountID
    public let sent: Instant

    public init(contact: AccountID, sent: Instant) {
        self.contact = contact
        self.sent = sent
    }
}
