/// A ping that nobody answered in time, by which an alert is raised.
public struct UnansweredPing: Codable, Hashable, Sendable {
    /// How many one alert names at most.
    public static let limit = 100

    /// The responder who asked.
    public let contact: AccountID
    /// When it was sent, as the events about it say, and so its name.
    public let sent: Instant
    /// The same by the database's clock, of which that may be far ahead after a failover. By this one it is told whether something was
    /// said before or after it.
    public let recorded: Instant

    /// - Parameter recorded: Nil if the two are one.
    public init(contact: AccountID, sent: Instant, recorded: Instant? = nil) {
        self.contact = contact
        self.sent = sent
        self.recorded = recorded ?? sent
    }
}
