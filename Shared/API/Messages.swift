public import QuartetSessionContract

/// Which messages of a group session to read.
public struct MessagesQuery: Hashable, Sendable {
    /// The allowed sizes of a page.
    public static let limits = 1...100

    /// Only messages with greater numbers.
    public let after: Int64
    /// The most messages of a page.
    public let limit: Int

    public init(after: Int64 = 0, limit: Int = limits.upperBound) {
        (self.after, self.limit) = (after, limit)
    }
}

/// `GET /v1/groups/{group}/messages`: the kept messages that are for the caller, the oldest first.
public struct MessagesPage: Codable, Hashable, Sendable {
    public let messages: [GroupMessage]
    /// Whether some of those asked for are no longer kept: there were too many, or too many bytes of them.
    public let truncated: Bool
    /// Where to go on, as `after`; nil at the end.
    public let next: Int64?

    package init(messages: [GroupMessage], truncated: Bool, next: Int64?) {
        (self.messages, self.truncated, self.next) = (messages, truncated, next)
    }
}
