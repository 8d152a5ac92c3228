public import QuartetVocabulary

/// The account asked another one to become contacts.
public struct ContactRequestSent: EventBody {
    /// The account that sent the request.
    public let account: AccountID
    /// The request as this account sees it.
    public let request: ContactRequest

    public init(account: AccountID, request: ContactRequest) {
        self.account = account
        self.request = request
    }
}

/// Another account asked this one to become contacts.
public struct ContactRequestReceived: EventBody {
    /// The account that received the request.
    public let account: AccountID
    /// The request as this account sees it.
    public let request: ContactRequest

    public init(account: AccountID, request: ContactRequest) {
        self.account = account
        self.request = request
    }
}

/// A request ended without a relation.
public struct ContactRequestEnded: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// Outgoing: this account had sent it.
    public let direction: Direction
    public let reason: RelationEndReason
    public let at: Instant

    public init(account: AccountID, contact: AccountID, direction: Direction, reason: RelationEndReason, at: Instant) {
        self.account = account
        self.contact = contact
        self.direction = direction
        self.reason = reason
        self.at = at
    }
}

/// Two accounts became contacts, which ends any request between them. Each of the two gets this event.
public struct ContactAdded: EventBody {
    public let account: AccountID
    /// The relation as this account sees it.
    public let contact: Contact
    /// The account that did it.
    public let by: AccountID
    /// Whether this answers the other's request.
    public let isAcceptance: Bool

    public init(account: AccountID, contact: Contact, by: AccountID, isAcceptance: Bool) {
        self.account = account
        self.contact = contact
        self.by = by
        self.isAcceptance = isAcceptance
    }
}

/// A relation's fields changed. The other account gets this event only if roles changed.
public struct ContactUpdated: EventBody {
    public let account: AccountID
    /// The relation after the change, as this account sees it.
    public let contact: Contact
    /// The account that did it.
    public let by: AccountID
    public let rolesChanged: Bool
    /// Whether this answers the other's request for a role.
    public let isAcceptance: Bool

    public init(account: AccountID, contact: Contact, by: AccountID, rolesChanged: Bool, isAcceptance: Bool) {
        self.account = account
        self.contact = contact
        self.by = by
        self.rolesChanged = rolesChanged
        self.isAcceptance = isAcceptance
    }
}

/// A relation ended. Each of the two gets this event.
public struct ContactRemoved: EventBody {
    public let account: AccountID
    public let contact: AccountID
    /// The account that did it.
    public let by: AccountID
    public let reason: RelationEndReason
    public let at: Instant

    public init(account: AccountID, contact: AccountID, by: AccountID, reason: RelationEndReason, at: Instant) {
        self.account = account
        self.contact = contact
        self.by = by
        self.reason = reason
        self.at = at
    }
}

/// The account blocked another one, which isn't notified.
public struct ContactBlocked: EventBody {
    public let account: AccountID
    public let contact: AccountID
    public let at: Instant

    public init(account: AccountID, contact: AccountID, at: Instant) {
        self.account = account
        self.contact = contact
        self.at = at
    }
}

/// The account removed a block.
public struct ContactUnblocked: EventBody {
    public let account: AccountID
    public let contact: AccountID
    public let at: Instant

    public init(account: AccountID, contact: AccountID, at: Instant) {
        self.account = account
        self.contact = contact
        self.at = at
    }
}
