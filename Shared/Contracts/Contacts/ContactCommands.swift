public import ContractSupport
public import Vocabulary

/// What makes two accounts contacts.
public enum RequestCommand: MessageSet {
    case addContact(AddContact)
    case approveContactRequest(ApproveContactRequest)
    case declineContactRequest(DeclineContactRequest)
    case withdrawContactRequest(WithdrawContactRequest)

    public static let cases: Cases<Self> = [
        Case(Self.addContact), Case(Self.approveContactRequest), Case(Self.declineContactRequest),
        Case(Self.withdrawContactRequest),
    ]

    public var body: any CommandBody {
        switch self {
        case .addContact(let body): body
        case .approveContactRequest(let body): body
        case .declineContactRequest(let body): body
        case .withdrawContactRequest(let body): body
        }
    }
}

/// What changes or ends the relation of two accounts.
public enum RelationCommand: MessageSet {
    case updateContact(UpdateContact)
    case removeContact(RemoveContact)
    case blockContact(BlockContact)
    case unblockContact(UnblockContact)

    public static let cases: Cases<Self> = [
        Case(Self.updateContact), Case(Self.removeContact), Case(Self.blockContact), Case(Self.unblockContact),
    ]

    public var body: any CommandBody {
        switch self {
        case .updateContact(let body): body
        case .removeContact(let body): body
        case .blockContact(let body): body
        case .unblockContact(let body): body
        }
    }
}

/// Makes another account a contact, or asks it to become one.
///
/// Whoever shows a code agrees to be added, so a code takes effect at once unless its owner wants to approve. Otherwise,
/// and always by account, this sends a request. If the other has sent one already, this answers it: each side becomes the
/// responder of the other only if that other one said so.
///
/// Rejected: `notFound` (nobody has this code, its owner blocked the asker or closed the account), `yourself`,
/// `alreadyContact`, `alreadyRequested` (by the asker, or by the other without offering to be the asker's dependent),
/// `blocked`, `limitReached`. Result: ``ContactAdded`` or ``ContactRequestSent``.
public struct AddContact: CommandBody {
    /// The other's contact code; or else `contact`.
    public let code: ContactCode?
    /// The other account, when the sender looked it up by its handle or phone; or else `code`.
    public let contact: AccountID?
    /// Make the other the asker's responder.
    public let isMyResponder: Bool
    /// Make the other the asker's dependent.
    public let iAmResponder: Bool
    /// What to call the other; at most 50 characters.
    public let nickname: String?

    /// Its parameters are the properties of the same names.
    public init(
        code: ContactCode? = nil, contact: AccountID? = nil, isMyResponder: Bool, iAmResponder: Bool,
        nickname: String? = nil
    ) {
        self.code = code
        self.contact = contact
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.nickname = nickname
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard (code == nil) != (contact == nil) else {
            throw Rejection(.invalidField, "Give either the other person's code or their account.", field: "code")
        }
        try ContactRules.requireRole(isMyResponder: isMyResponder, iAmResponder: iAmResponder)
        if let nickname { try ContactRules.nickname.check(nickname, field: "nickname") }
    }
}

/// Says yes to a request, with the roles that it showed: a request that was withdrawn and sent again with other roles
/// isn't accepted by mistake.
///
/// Rejected: `notFound` (no such request), `requestChanged`, `limitReached`. Result: ``ContactAdded``.
public struct ApproveContactRequest: PublicCommandBody {
    /// Who asked.
    public let contact: AccountID
    /// Whether they become the asker's responder, as the request says.
    public let isMyResponder: Bool
    /// Whether they become the asker's dependent, as the request says.
    public let iAmResponder: Bool

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID, isMyResponder: Bool, iAmResponder: Bool) {
        self.contact = contact
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
    }
}

/// Says no to a request.
///
/// Rejected: `notFound`. Result: ``ContactRequestEnded``.
public struct DeclineContactRequest: PublicCommandBody {
    /// Who asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Takes one's own request back.
///
/// Rejected: `notFound`. Result: ``ContactRequestEnded``.
public struct WithdrawContactRequest: PublicCommandBody {
    /// Who was asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Changes what is given and leaves the rest as it is. Roles change on both sides; without the role a pending ping is
/// cancelled. A contact who isn't the asker's dependent yet becomes one by ``RequestRoleChange``.
///
/// Rejected: `notContact`, `staleVersion`, `roleRequired`, `consentRequired`. Result: ``ContactUpdated``.
public struct UpdateContact: PublicCommandBody {
    /// Which contact.
    public let contact: AccountID
    /// The version that the asker has seen; another one is rejected.
    public let expectedVersion: Int64
    /// At most 50 characters; empty for none.
    public let nickname: String?
    /// At most 1,000 characters; empty for none.
    public let notes: String?
    /// Whether the other is the asker's responder. True also accepts their request for it.
    public let isMyResponder: Bool?
    /// Whether the other stays the asker's dependent.
    public let iAmResponder: Bool?
    /// Whether the asker wants to be able to ping.
    public let sendPings: Bool?
    /// Whether the asker lets the other ping.
    public let receivePings: Bool?
    /// Whether the asker wants to hear of the other's check-ins.
    public let notifyOnCheckIn: Bool?
    /// Whether the asker wants to hear of the other's missed check-ins.
    public let notifyOnMissedCheckIn: Bool?

    /// Its parameters are the properties of the same names.
    public init(
        contact: AccountID, expectedVersion: Int64, nickname: String? = nil, notes: String? = nil,
        isMyResponder: Bool? = nil, iAmResponder: Bool? = nil, sendPings: Bool? = nil, receivePings: Bool? = nil,
        notifyOnCheckIn: Bool? = nil, notifyOnMissedCheckIn: Bool? = nil
    ) {
        self.contact = contact
        self.expectedVersion = expectedVersion
        self.nickname = nickname
        self.notes = notes
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
        self.sendPings = sendPings
        self.receivePings = receivePings
        self.notifyOnCheckIn = notifyOnCheckIn
        self.notifyOnMissedCheckIn = notifyOnMissedCheckIn
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        if let nickname { try ContactRules.nickname.check(nickname, field: "nickname") }
        if let notes { try ContactRules.notes.check(notes, field: "notes") }
        if isMyResponder == false, iAmResponder == false {
            try ContactRules.requireRole(isMyResponder: false, iAmResponder: false)
        }
    }
}

/// Ends a relation on both sides.
///
/// Rejected: `notContact`. Result: ``ContactRemoved``.
public struct RemoveContact: PublicCommandBody {
    /// Which contact.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Ends whatever there is between the two, and keeps the other from adding or asking the asker, who isn't told.
///
/// Rejected: `yourself`, `limitReached`, `accountNotFound`. Result: ``ContactBlocked``; nothing if it was blocked already.
public struct BlockContact: PublicCommandBody {
    /// Whom to block; needn't be a contact.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Takes a block back. Nothing else comes back with it.
///
/// Rejected: `notFound`. Result: ``ContactUnblocked``.
public struct UnblockContact: PublicCommandBody {
    /// Whom to unblock.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// The rules of a contact's fields that need no state.
public enum ContactRules {
    /// Nicknames: up to 50 characters.
    public static let nickname = TextRule(0...50)
    /// Notes: up to 1,000 characters, with lines.
    public static let notes = TextRule(0...1000, hasLines: true)

    /// - Throws: `roleRequired` when there is none.
    public static func requireRole(isMyResponder: Bool, iAmResponder: Bool) throws(Rejection) {
        guard isMyResponder || iAmResponder else {
            throw Rejection(
                .roleRequired, "Choose at least one role; to have none, remove the contact.",
                field: "isMyResponder")
        }
    }
}
