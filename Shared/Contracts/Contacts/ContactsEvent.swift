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
    /// ``RoleChangeRequested``
    case roleChangeRequested(RoleChangeRequested)
    /// ``RoleChangeEnded``
    case roleChangeEnded(RoleChangeEnded)
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

    /// Their bodies' types.
    public static var types: [any MessageBody.Type] {
        [
            ContactsOpened.self, ContactsClosed.self, ContactCodeReset.self, ContactApprovalSet.self,
            ContactRequestSent.self, ContactRequestReceived.self, ContactRequestEnded.self, ContactAdded.self,
            ContactUpdated.self, RoleChangeRequested.self, RoleChangeEnded.self, ContactRemoved.self,
            ContactBlocked.self, ContactUnblocked.self, PingSent.self,
            PingReceived.self, PingCancelled.self, PingAnswered.self, ReceivedPingsCleared.self, AlertRelayed.self,
            ResponderAlerted.self,
        ]
    }

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch type {
        case ContactsOpened.type: self = .contactsOpened(try .decoded(from: body, version: version))
        case ContactsClosed.type: self = .contactsClosed(try .decoded(from: body, version: version))
        case ContactCodeReset.type: self = .contactCodeReset(try .decoded(from: body, version: version))
        case ContactApprovalSet.type: self = .contactApprovalSet(try .decoded(from: body, version: version))
        case ContactRequestSent.type: self = .contactRequestSent(try .decoded(from: body, version: version))
        case ContactRequestReceived.type:
            self = .contactRequestReceived(try .decoded(from: body, version: version))
        case ContactRequestEnded.type:
            self = .contactRequestEnded(try .decoded(from: body, version: version))
        case ContactAdded.type: self = .contactAdded(try .decoded(from: body, version: version))
        case ContactUpdated.type: self = .contactUpdated(try .decoded(from: body, version: version))
        case RoleChangeRequested.type: self = .roleChangeRequested(try .decoded(from: body, version: version))
        case RoleChangeEnded.type: self = .roleChangeEnded(try .decoded(from: body, version: version))
        case ContactRemoved.type: self = .contactRemoved(try .decoded(from: body, version: version))
        case ContactBlocked.type: self = .contactBlocked(try .decoded(from: body, version: version))
        case ContactUnblocked.type: self = .contactUnblocked(try .decoded(from: body, version: version))
        case PingSent.type: self = .pingSent(try .decoded(from: body, version: version))
        case PingReceived.type: self = .pingReceived(try .decoded(from: body, version: version))
        case PingCancelled.type: self = .pingCancelled(try .decoded(from: body, version: version))
        case PingAnswered.type: self = .pingAnswered(try .decoded(from: body, version: version))
        case ReceivedPingsCleared.type:
            self = .receivedPingsCleared(try .decoded(from: body, version: version))
        case AlertRelayed.type: self = .alertRelayed(try .decoded(from: body, version: version))
        case ResponderAlerted.type: self = .responderAlerted(try .decoded(from: body, version: version))
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
        case .roleChangeRequested(let body): body
        case .roleChangeEnded(let body): body
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
