public import QuartetVocabulary

/// An account's contacts are open.
public struct ContactsOpened: EventBody {
    public let account: AccountID
    public let code: ContactCode
    public let at: Instant

    public init(account: AccountID, code: ContactCode, at: Instant) {
        self.account = account
        self.code = code
        self.at = at
    }
}

/// An account's contacts are closed. No event follows in its stream.
public struct ContactsClosed: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// An account replaced its contact code. The old one no longer works.
public struct ContactCodeReset: EventBody {
    public let account: AccountID
    public let code: ContactCode
    public let at: Instant

    public init(account: AccountID, code: ContactCode, at: Instant) {
        self.account = account
        self.code = code
        self.at = at
    }
}

/// An account set whether others need its approval.
public struct ContactApprovalSet: EventBody {
    public let account: AccountID
    public let isRequired: Bool
    public let at: Instant

    public init(account: AccountID, isRequired: Bool, at: Instant) {
        self.account = account
        self.isRequired = isRequired
        self.at = at
    }
}
