public import Vocabulary

/// An account's profile and its end.
public enum AccountCommand: MessageSet {
    case updateProfile(UpdateProfile)
    case closeAccount(CloseAccount)
    case freeHandle(FreeHandle)

    public static let cases: Cases<Self> = [Case(Self.updateProfile), Case(Self.closeAccount), Case(Self.freeHandle)]

    public var body: any CommandBody {
        switch self {
        case .updateProfile(let body): body
        case .closeAccount(let body): body
        case .freeHandle(let body): body
        }
    }
}

/// Closes the account. Its id is never used again; others may have its handle a month later. Sending it again changes
/// nothing.
///
/// Rejected: `confirmationRequired`. Result: ``AccountClosed``.
public struct CloseAccount: CommandBody {
    /// The asking device.
    public let by: DeviceID?

    public init(by: DeviceID? = nil) {
        self.by = by
    }
}

/// Frees the handle of an account that was closed a month ago. A timer sends this. A closed account emits no events, so
/// neither does this.
///
/// Rejected: `notDue`.
public struct FreeHandle: OwnCommandBody {
    public let account: AccountID

    public init(account: AccountID) {
        self.account = account
    }
}
