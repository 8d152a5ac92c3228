public import Vocabulary

/// The account asked another one to become contacts.
public struct ContactRequestSent: EventBody {
    /// Who asked; whose stream this is in.
    public let account: AccountID
    /// The request as this side sees it.
    public let request: ContactRequest

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, request: ContactRequest) {
        self.account = account
        self.request = request
    }
}

/// Another account asked this one to become contacts.
public struct ContactRequestReceived: EventBody {
    /// Who was asked; whose stream this is in.
    public let account: AccountID
    /// The request as this side sees it.
    public let request: ContactRequest

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, request: ContactRequest) {
        self.account = account
        self.request = request
    }
}

/// A request is over without a relation.
public struct ContactRequestEnded: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The other account.
    public let contact: AccountID
    /// Outgoing: this side had asked.
    public let direction: Direction
    /// Why.
    public let reason: EndReason
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, direction: Direction, reason: EndReason, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.reason = reason
        self.at = at
    }
}

/// Two accounts became contacts. Each of the two has this in its stream; a request between them is over.
public struct ContactAdded: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The relation as this side sees it.
    public let contact: Contact
    /// Who did it.
    public let by: AccountID
    /// Whether this is the answer to the other's request.
    public let isAcceptance: Bool

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: Contact, by: AccountID, isAcceptance: Bool) {
        self.account = account
        self.contact = contact
        self.by = by
        self.isAcceptance = isAcceptance
    }
}

/// A relation's fields changed. The other side has this in its stream only if roles changed.
public struct ContactUpdated: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The relation as this side sees it, after the change.
    public let contact: Contact
    /// Who did it.
    public let by: AccountID
    /// Whether roles are others than before.
    public let rolesChanged: Bool
    /// Whether this is the answer to the other's request for a role.
    public let isAcceptance: Bool

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: Contact, by: AccountID, rolesChanged: Bool, isAcceptance: Bool) {
        self.account = account
        self.contact = contact
        self.by = by
        self.rolesChanged = rolesChanged
        self.isAcceptance = isAcceptance
    }
}

/// A relation is over. Each of the two has this in its stream.
public struct ContactRemoved: EventBody {
    /// Whose stream this is in.
    public let account: AccountID
    /// The other account.
    public let contact: AccountID
    /// Who did it.
    public let by: AccountID
    /// Why.
    public let reason: EndReason
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, by: AccountID, reason: EndReason, at: Instant) {
        self.account = account
        self.contact = contact
        self.by = by
        self.reason = reason
        self.at = at
    }
}

/// The account blocked another one, which isn't told.
public struct ContactBlocked: EventBody {
    /// Who blocked; whose stream this is in.
    public let account: AccountID
    /// Who is blocked.
    public let contact: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, at: Instant) {
        self.account = account
        self.contact = contact
        self.at = at
    }
}

/// The account took a block back.
public struct ContactUnblocked: EventBody {
    /// Who had blocked; whose stream this is in.
    public let account: AccountID
    /// Who isn't blocked any more.
    public let contact: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, contact: AccountID, at: Instant) {
        self.account = account
        self.contact = contact
        self.at = at
    }
}
