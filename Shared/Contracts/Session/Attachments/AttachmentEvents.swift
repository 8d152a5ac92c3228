import QuartetContractSupport
public import QuartetVocabulary

/// What happens to the attachments of a group session, in its stream.
public enum AttachmentEvent: MessageSet {
    case attachmentAdded(AttachmentAdded)
    case attachmentRemoved(AttachmentRemoved)

    package static let cases: Cases<Self> = [Case(Self.attachmentAdded), Case(Self.attachmentRemoved)]

    public var body: any EventBody {
        switch self {
        case .attachmentAdded(let body): body
        case .attachmentRemoved(let body): body
        }
    }
}

/// An attachment is there, whole.
public struct AttachmentAdded: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who added it.
    public let account: AccountID
    /// The hash that names its bytes.
    public let attachment: ContentHash
    /// The file's name.
    public let name: String
    /// Its media type, as its uploader says.
    public let contentType: String
    /// In bytes.
    public let size: Int
    /// Whatever the app says about it.
    public let metadata: JSONValue?
    /// When.
    public let at: Instant

    public init(
        group: GroupID, account: AccountID, attachment: ContentHash, name: String, contentType: String, size: Int,
        metadata: JSONValue? = nil, at: Instant
    ) {
        self.group = group
        self.account = account
        self.attachment = attachment
        self.name = name
        self.contentType = contentType
        self.size = size
        self.metadata = metadata
        self.at = at
    }
}

/// An attachment is gone. Those of a session that is over are gone with it.
public struct AttachmentRemoved: GroupEventBody {
    /// The session.
    public let group: GroupID
    /// Who had added it.
    public let account: AccountID
    /// Which one.
    public let attachment: ContentHash
    /// Who removed it: its uploader, or the host.
    public let by: AccountID
    /// When.
    public let at: Instant

    public init(group: GroupID, account: AccountID, attachment: ContentHash, by: AccountID, at: Instant) {
        self.group = group
        self.account = account
        self.attachment = attachment
        self.by = by
        self.at = at
    }
}

extension GroupState {
    mutating func apply(_ event: AttachmentEvent) {
        switch event {
        case .attachmentAdded(let event):
            attachments[event.attachment] = GroupAttachment(
                id: event.attachment, account: event.account, name: event.name, contentType: event.contentType,
                size: event.size, added: event.at, metadata: event.metadata)
        case .attachmentRemoved(let event): attachments[event.attachment] = nil
        }
    }
}
