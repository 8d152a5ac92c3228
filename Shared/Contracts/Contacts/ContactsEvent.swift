public import Vocabulary

/// Everything that `contacts` says. Each event is in the stream of the account that it names first.
public enum ContactsEvent: MessageSet {
    /// ``ContactsOpened``
    case contactsOpened(ContactsOpened)
    /// ``ContactsClosed``
    case contactsClosed(ContactsClosed)
    /// ``ContactCodeReset``
    case contactCodeReset(ContactCodeReset)
    /// ``ContactApprovalSet``
    case contactApprovalSet(ContactApprovalSet)
    /// ``ContactRequestSent``
    case contactRequestSent(ContactRequestSent)
    /// ``ContactRequestReceived``
    case contactRequestReceived(ContactRequestReceived)
    /// ``ContactRequestEnded``
    case contactRequestEnded(ContactRequestEnded)
    /// ``ContactAdded``
    case contactAdded(ContactAdded)
    /// ``ContactUpdated``
    case contactUpdated(ContactUpdated)
    /// ``ContactRemoved``
    case contactRemoved(ContactRemoved)
    /// ``ContactBlocked``
    case contactBlocked(ContactBlocked)
    /// ``ContactUnblocked``
    case contactUnblocked(ContactUnblocked)
    /// ``PingSent``
    case pingSent(PingSent)
    /// ``PingReceived``
    case pingReceived(PingReceived)
    /// ``PingCancelled``
    case pingCancelled(PingCancelled)
    /// ``PingAnswered``
    case pingAnswered(PingAnswered)
    /// ``ReceivedPingsCleared``
    case receivedPingsCleared(ReceivedPingsCleared)
    /// ``AlertRelayed``
    case alertRelayed(AlertRelayed)
    /// ``ResponderAlerted``
    case responderAlerted(ResponderAlerted)

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (ContactsOpened.type, ContactsOpened.version): self = .contactsOpened(try .decoded(from: body))
        case (ContactsClosed.type, ContactsClosed.version): self = .contactsClosed(try .decoded(from: body))
        case (ContactCodeReset.type, ContactCodeReset.version): self = .contactCodeReset(try .decoded(from: body))
        case (ContactApprovalSet.type, ContactApprovalSet.version): self = .contactApprovalSet(try .decoded(from: body))
        case (ContactRequestSent.type, ContactRequestSent.version): self = .contactRequestSent(try .decoded(from: body))
        case (ContactRequestReceived.type, ContactRequestReceived.version):
            self = .contactRequestReceived(try .decoded(from: body))
        case (ContactRequestEnded.type, ContactRequestEnded.version):
            self = .contactRequestEnded(try .decoded(from: body))
        case (ContactAdded.type, ContactAdded.version): self = .contactAdded(try .decoded(from: body))
        case (ContactUpdated.type, ContactUpdated.version): self = .contactUpdated(try .decoded(from: body))
        case (ContactRemoved.type, ContactRemoved.version): self = .contactRemoved(try .decoded(from: body))
        case (ContactBlocked.type, ContactBlocked.version): self = .contactBlocked(try .decoded(from: body))
        case (ContactUnblocked.type, ContactUnblocked.version): self = .contactUnblocked(try .decoded(from: body))
        case (PingSent.type, PingSent.version): self = .pingSent(try .decoded(from: body))
        case (PingReceived.type, PingReceived.version): self = .pingReceived(try .decoded(from: body))
        case (PingCancelled.type, PingCancelled.version): self = .pingCancelled(try .decoded(from: body))
        case (PingAnswered.type, PingAnswered.version): self = .pingAnswered(try .decoded(from: body))
        case (ReceivedPingsCleared.type, ReceivedPingsCleared.version):
            self = .receivedPingsCleared(try .decoded(from: body))
        case (AlertRelayed.type, AlertRelayed.version): self = .alertRelayed(try .decoded(from: body))
        case (ResponderAlerted.type, ResponderAlerted.version): self = .responderAlerted(try .decoded(from: body))
        default: throw .unknownType(type, version: version)
        }
    }

    /// The body inside.
    public var body: any MessageBody {
        switch self {
        case .contactsOpened(let body): body
        case .contactsClosed(let body): body
        case .contactCodeReset(let body): body
        case .contactApprovalSet(let body): body
        case .contactRequestSent(let body): body
        case .contactRequestReceived(let body): body
        case .contactRequestEnded(let body): body
        case .contactAdded(let body): body
        case .contactUpdated(let body): body
        case .contactRemoved(let body): body
        case .contactBlocked(let body): body
        case .contactUnblocked(let body): body
        case .pingSent(let body): body
        case .pingReceived(let body): body
        case .pingCancelled(let body): body
        case .pingAnswered(let body): body
        case .receivedPingsCleared(let body): body
        case .alertRelayed(let body): body
        case .responderAlerted(let body): body
        }
    }
}
