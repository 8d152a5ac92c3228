public import QuartetVocabulary

/// Reliable messages among the participants of a group session.
package enum MessageCommand: MessageSet {
    case sendGroupMessage(SendGroupMessage)

    package static let cases: Cases<Self> = [Case(Self.sendGroupMessage)]

    package var body: any CommandBody {
        switch self {
        case .sendGroupMessage(let body): body
        }
    }
}

/// Sends a message to all participants, or to some. It is kept as long as the session, within ``MessageRules``.
///
/// The command's id names it: sent again, it is the same message.
///
/// Rejected: `notParticipant`, `groupNotFound`, `groupEnded`, `participantNotFound` for a recipient who isn't in the session,
/// `messageTooLarge`, `invalidField`. Result: ``GroupMessageSent``.
public struct SendGroupMessage: GroupCommandBody, PublicCommandBody {
    /// The session.
    public let group: GroupID
    /// The recipients; everyone, including those who join later, unless given. The sender always sees it.
    public let to: [AccountID]?
    /// What it is: the type of one of the kinds in ``MessageContent``, or the app's own, best with a dot in it.
    public let type: String
    /// The content, at most ``MessageRules/dataLimit`` bytes of JSON.
    public let data: JSONValue?

    public init(group: GroupID, to: [AccountID]? = nil, type: String, data: JSONValue? = nil) {
        self.group = group
        self.to = to
        self.type = type
        self.data = data
    }

    /// Checks the fields that need no state.
    public func validate() throws(Rejection) {
        try MessageRules.check(type, field: "type")
        try MessageRules.check(recipients: to)
        try MessageRules.check(data, limit: MessageRules.dataLimit)
        _ = try MessageContent(type: type, data: data)
    }

    /// What it counts for in the bytes that a session keeps: at least 1.
    public var size: Int { type.utf8.count + (data?.encodedSize ?? 0) }
}
