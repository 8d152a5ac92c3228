public import QuartetContractSupport
public import QuartetVocabulary

/// Commands that make two accounts contacts.
package enum RequestCommand: MessageSet {
    case addContact(AddContact)
    case approveContactRequest(ApproveContactRequest)
    case declineContactRequest(DeclineContactRequest)
    case withdrawContactRequest(WithdrawContactRequest)

    package static let cases: Cases<Self> = [
        Case(Self.addContact), Case(Self.approveContactRequest), Case(Self.declineContactRequest),
        Case(Self.withdrawContactRequest),
    ]

    package var body: any CommandBody {
        switch self {
        case .addContact(let body): body
        case .approveContactRequest(let body): body
        case .declineContactRequest(let body): body
        case .withdrawContactRequest(let body): body
        }
    }
}

/// Commands that change or end a relation.
package enum RelationCommand: MessageSet {
    case updateContact(UpdateContact)
    case removeContact(RemoveContact)
    case blockContact(BlockContact)
    case unblockContact(UnblockContact)

    package static let cases: Cases<Self> = [
        Case(Self.updateContact), Case(Self.removeContact), Case(Self.blockContact), Case(Self.unblockContact),
    ]

    package var body: any CommandBody {
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
/// Showing a code is agreeing to be added, so a code takes effect at once unless its owner wants to approve. Otherwise,
/// and always by account id, this sends a request. If the other has already sent one, this answers it: each account
/// becomes the other's responder only if the other one said so.
///
/// Rejected: `notFound` (no account has this code, or its owner has blocked the asking account or closed their own),
/// `yourself`, `alreadyContact`, `alreadyRequested` (by the asking account, or by the other without offering to be a
/// dependent), `blocked`, `limitReached`. Result: ``ContactAdded`` or ``ContactRequestSent``.
public struct AddContact: CommandBody {
    /// The other's contact code. Exactly one of `code` and `contact` must be given.
    public let code: ContactCode?
    /// The other account, found by its handle or phone.
    public let contact: AccountID?
    /// Make the other the asking account's responder.
    public let isMyResponder: Bool
    /// Make the other the asking account's dependent.
    public let iAmResponder: Bool
    /// What to call the other: at most 50 characters.
    public let nickname: String?

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

    public func validate() throws(Rejection) {
        guard (code == nil) != (contact == nil) else {
            throw Rejection(.invalidField, "Give either the other person's code or their account.", field: "code")
        }
        try ContactRules.requireRole(isMyResponder: isMyResponder, iAmResponder: iAmResponder)
        if let nickname { try ContactRules.nickname.check(nickname, field: "nickname") }
    }
}

/// Accepts a request with the roles that it showed, so that one withdrawn and sent again with other roles isn't
/// accepted by mistake.
///
/// Rejected: `notFound` (no such request), `requestChanged`, `limitReached`. Result: ``ContactAdded``.
public struct ApproveContactRequest: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The account that sent the request.
    public let contact: AccountID
    /// Whether they become the approving account's responder, as the request says.
    public let isMyResponder: Bool
    /// Whether they become the approving account's dependent, as the request says.
    public let iAmResponder: Bool

    public init(contact: AccountID, isMyResponder: Bool, iAmResponder: Bool) {
        self.contact = contact
        self.isMyResponder = isMyResponder
        self.iAmResponder = iAmResponder
    }
}

/// Declines a request.
///
/// Rejected: `notFound`. Result: ``ContactRequestEnded``.
public struct DeclineContactRequest: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The account that sent the request.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Withdraws one's own request.
///
/// Rejected: `notFound`. Result: ``ContactRequestEnded``.
public struct WithdrawContactRequest: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The account that received the request.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Changes the given fields. Roles change on both sides; losing the role cancels a pending ping. To make a contact a
/// dependent, use ``RequestRoleChange``.
///
/// Rejected: `notContact`, `staleVersion`, `roleRequired`, `consentRequired`. Result: ``ContactUpdated``.
public struct UpdateContact: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    public let contact: AccountID
    /// The version that the change is based on. Any other is rejected.
    public let expectedVersion: Int64
    /// At most 50 characters, or empty.
    public let nickname: String?
    /// At most 1,000 characters, or empty.
    public let notes: String?
    /// Whether the other is the asking account's responder. True also accepts their request to become one.
    public let isMyResponder: Bool?
    /// Whether the other stays the asking account's dependent. True is rejected unless they are one already.
    public let iAmResponder: Bool?
    public let sendPings: Bool?
    public let receivePings: Bool?
    public let notifyOnCheckIn: Bool?
    public let notifyOnMissedCheckIn: Bool?

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
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Ends any relation or request between the two, and keeps the other from adding the asking account. The other isn't
/// notified.
///
/// Rejected: `yourself`, `limitReached`; nothing else, so that the answer doesn't say whether the account exists or has
/// blocked the asking one. Result: ``ContactBlocked``; nothing if it was blocked already.
public struct BlockContact: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// Need not be a contact.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Removes a block. This restores nothing else.
///
/// Rejected: `notFound`. Result: ``ContactUnblocked``.
public struct UnblockContact: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Rules for a contact's fields that need no state.
public enum ContactRules {
    public static let nickname = TextRule(0...50)
    public static let notes = TextRule(0...1000, hasLines: true)

    /// - Throws: `roleRequired` if there is no role.
    public static func requireRole(isMyResponder: Bool, iAmResponder: Bool) throws(Rejection) {
        guard isMyResponder || iAmResponder else {
            throw Rejection(
                .roleRequired, "Choose at least one role; to have none, remove the contact.",
                field: "isMyResponder")
        }
    }
}
