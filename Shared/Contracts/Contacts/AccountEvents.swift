public import Vocabulary

/// An account can have contacts now.
public struct ContactsOpened: EventBody {
    /// Whose contacts.
    public let account: AccountID
    /// Its contact code.
    public let code: ContactCode
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, code: ContactCode, at: Instant) {
        self.account = account
        self.code = code
        self.at = at
    }
}

/// An account's contacts are gone; nothing follows in its stream.
public struct ContactsClosed: EventBody {
    /// Whose contacts.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// The contact code is another one; the old one is dead.
public struct ContactCodeReset: EventBody {
    /// Whose code.
    public let account: AccountID
    /// The new one.
    public let code: ContactCode
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, code: ContactCode, at: Instant) {
        self.account = account
        self.code = code
        self.at = at
    }
}

/// Whether others must ask before they become contacts was chosen.
public struct ContactApprovalSet: EventBody {
    /// Who chose.
    public let account: AccountID
    /// Whether they must ask.
    public let isRequired: Bool
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, isRequired: Bool, at: Instant) {
        self.account = account
        self.isRequired = isRequired
        self.at = at
    }
}
