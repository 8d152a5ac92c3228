public import QuartetVocabulary

/// Reliable messages, in the stream of their group session.
public enum MessageEvent: MessageSet {
    case groupMessageSent(GroupMessageSent)

    package static let cases: Cases<Self> = [Case(Self.groupMessageSent)]

    public var body: any EventBody {
        switch self {
        case .groupMessageSent(let body): body
        }
    }
}

/// A participant sent a message. It isn't part of the session's state, nor of its hash.
///
/// Only its sender and its recipients get it. For everyone else ``MessageWithheld`` is at the same position.
public struct GroupMessageSent: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// The sender.
    public let account: AccountID
    /// Its number among the session's messages, from 1.
    public let number: Int64
    /// The recipients; nil if everyone is one.
    public let to: [AccountID]?
    /// What it is.
    public let type: String
    /// The content.
    public let data: JSONValue?
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, number: Int64, to: [AccountID]? = nil, type: String,
        data: JSONValue? = nil, at: Instant
    ) {
        self.group = group
        self.account = account
        self.number = number
        self.to = to
        self.type = type
        self.data = data
        self.at = at
    }

    /// Whether it is for a participant.
    public func isVisible(to participant: AccountID) -> Bool {
        participant == account || to?.contains(participant) ?? true
    }
}

/// Takes the place of a message that isn't for the reader. Says neither whose it was nor how large.
public struct MessageWithheld: MessageBody {
    public init() {}
}
