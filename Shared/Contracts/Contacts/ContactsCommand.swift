public import Vocabulary

/// Everything that `contacts` can be asked.
public enum ContactsCommand: MessageSet {
    /// ``OpenAccount``
    case openAccount(OpenAccount)
    /// ``CloseAccount``
    case closeAccount(CloseAccount)
    /// ``ResetContactCode``
    case resetContactCode(ResetContactCode)
    /// ``SetContactApproval``
    case setContactApproval(SetContactApproval)
    /// ``AddContact``
    case addContact(AddContact)
    /// ``ApproveContactRequest``
    case approveContactRequest(ApproveContactRequest)
    /// ``DeclineContactRequest``
    case declineContactRequest(DeclineContactRequest)
    /// ``WithdrawContactRequest``
    case withdrawContactRequest(WithdrawContactRequest)
    /// ``UpdateContact``
    case updateContact(UpdateContact)
    /// ``RequestRoleChange``
    case requestRoleChange(RequestRoleChange)
    /// ``AcceptRoleChange``
    case acceptRoleChange(AcceptRoleChange)
    /// ``DeclineRoleChange``
    case declineRoleChange(DeclineRoleChange)
    /// ``WithdrawRoleChange``
    case withdrawRoleChange(WithdrawRoleChange)
    /// ``RemoveContact``
    case removeContact(RemoveContact)
    /// ``BlockContact``
    case blockContact(BlockContact)
    /// ``UnblockContact``
    case unblockContact(UnblockContact)
    /// ``SendPing``
    case sendPing(SendPing)
    /// ``CancelPing``
    case cancelPing(CancelPing)
    /// ``RespondToPing``
    case respondToPing(RespondToPing)
    /// ``RespondToAllPings``
    case respondToAllPings(RespondToAllPings)
    /// ``ClearReceivedPings``
    case clearReceivedPings(ClearReceivedPings)
    /// ``RelayAlert``
    case relayAlert(RelayAlert)

    /// Their bodies' types.
    public static var types: [any MessageBody.Type] {
        [
            OpenAccount.self, CloseAccount.self, ResetContactCode.self, SetContactApproval.self, AddContact.self,
            ApproveContactRequest.self, DeclineContactRequest.self, WithdrawContactRequest.self, UpdateContact.self,
            RequestRoleChange.self, AcceptRoleChange.self, DeclineRoleChange.self, WithdrawRoleChange.self,
            RemoveContact.self, BlockContact.self, UnblockContact.self, SendPing.self, CancelPing.self,
            RespondToPing.self, RespondToAllPings.self, ClearReceivedPings.self, RelayAlert.self,
        ]
    }

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch type {
        case OpenAccount.type: self = .openAccount(try .decoded(from: body, version: version))
        case CloseAccount.type: self = .closeAccount(try .decoded(from: body, version: version))
        case ResetContactCode.type: self = .resetContactCode(try .decoded(from: body, version: version))
        case SetContactApproval.type: self = .setContactApproval(try .decoded(from: body, version: version))
        case AddContact.type: self = .addContact(try .decoded(from: body, version: version))
        case ApproveContactRequest.type:
            self = .approveContactRequest(try .decoded(from: body, version: version))
        case DeclineContactRequest.type:
            self = .declineContactRequest(try .decoded(from: body, version: version))
        case WithdrawContactRequest.type:
            self = .withdrawContactRequest(try .decoded(from: body, version: version))
        case UpdateContact.type: self = .updateContact(try .decoded(from: body, version: version))
        case RequestRoleChange.type: self = .requestRoleChange(try .decoded(from: body, version: version))
        case AcceptRoleChange.type: self = .acceptRoleChange(try .decoded(from: body, version: version))
        case DeclineRoleChange.type: self = .declineRoleChange(try .decoded(from: body, version: version))
        case WithdrawRoleChange.type: self = .withdrawRoleChange(try .decoded(from: body, version: version))
        case RemoveContact.type: self = .removeContact(try .decoded(from: body, version: version))
        case BlockContact.type: self = .blockContact(try .decoded(from: body, version: version))
        case UnblockContact.type: self = .unblockContact(try .decoded(from: body, version: version))
        case SendPing.type: self = .sendPing(try .decoded(from: body, version: version))
        case CancelPing.type: self = .cancelPing(try .decoded(from: body, version: version))
        case RespondToPing.type: self = .respondToPing(try .decoded(from: body, version: version))
        case RespondToAllPings.type: self = .respondToAllPings(try .decoded(from: body, version: version))
        case ClearReceivedPings.type: self = .clearReceivedPings(try .decoded(from: body, version: version))
        case RelayAlert.type: self = .relayAlert(try .decoded(from: body, version: version))
        default: throw .unknownType(type, version: version)
        }
    }

    /// The body inside.
    public var body: any MessageBody { command }

    /// The command inside, with its rules.
    public var command: any CommandBody {
        switch self {
        case .openAccount(let body): body
        case .closeAccount(let body): body
        case .resetContactCode(let body): body
        case .setContactApproval(let body): body
        case .addContact(let body): body
        case .approveContactRequest(let body): body
        case .declineContactRequest(let body): body
        case .withdrawContactRequest(let body): body
        case .updateContact(let body): body
        case .requestRoleChange(let body): body
        case .acceptRoleChange(let body): body
        case .declineRoleChange(let body): body
        case .withdrawRoleChange(let body): body
        case .removeContact(let body): body
        case .blockContact(let body): body
        case .unblockContact(let body): body
        case .sendPing(let body): body
        case .cancelPing(let body): body
        case .respondToPing(let body): body
        case .respondToAllPings(let body): body
        case .clearReceivedPings(let body): body
        case .relayAlert(let body): body
        }
    }
}
