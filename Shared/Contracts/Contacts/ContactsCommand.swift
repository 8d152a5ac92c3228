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

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (OpenAccount.type, OpenAccount.version): self = .openAccount(try .decoded(from: body))
        case (CloseAccount.type, CloseAccount.version): self = .closeAccount(try .decoded(from: body))
        case (ResetContactCode.type, ResetContactCode.version): self = .resetContactCode(try .decoded(from: body))
        case (SetContactApproval.type, SetContactApproval.version): self = .setContactApproval(try .decoded(from: body))
        case (AddContact.type, AddContact.version): self = .addContact(try .decoded(from: body))
        case (ApproveContactRequest.type, ApproveContactRequest.version):
            self = .approveContactRequest(try .decoded(from: body))
        case (DeclineContactRequest.type, DeclineContactRequest.version):
            self = .declineContactRequest(try .decoded(from: body))
        case (WithdrawContactRequest.type, WithdrawContactRequest.version):
            self = .withdrawContactRequest(try .decoded(from: body))
        case (UpdateContact.type, UpdateContact.version): self = .updateContact(try .decoded(from: body))
        case (RemoveContact.type, RemoveContact.version): self = .removeContact(try .decoded(from: body))
        case (BlockContact.type, BlockContact.version): self = .blockContact(try .decoded(from: body))
        case (UnblockContact.type, UnblockContact.version): self = .unblockContact(try .decoded(from: body))
        case (SendPing.type, SendPing.version): self = .sendPing(try .decoded(from: body))
        case (CancelPing.type, CancelPing.version): self = .cancelPing(try .decoded(from: body))
        case (RespondToPing.type, RespondToPing.version): self = .respondToPing(try .decoded(from: body))
        case (RespondToAllPings.type, RespondToAllPings.version): self = .respondToAllPings(try .decoded(from: body))
        case (ClearReceivedPings.type, ClearReceivedPings.version): self = .clearReceivedPings(try .decoded(from: body))
        case (RelayAlert.type, RelayAlert.version): self = .relayAlert(try .decoded(from: body))
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
