public import QuartetVocabulary

/// `GET /v1/time`: with the times at which the client asked and was answered, enough to know how far its clock is from the
/// server's.
public struct ServerTimeReply: Codable, Hashable, Sendable {
    /// When the request was here.
    public let received: Instant
    /// When this was sent.
    public let sent: Instant

    package init(received: Instant, sent: Instant) {
        self.received = received
        self.sent = sent
    }
}
