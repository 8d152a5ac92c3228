public import Vocabulary

/// What begins and ends an account's contacts.
public enum AccountCommand: MessageSet {
    case openAccount(OpenAccount)
    case closeAccount(CloseAccount)

    public static let cases: Cases<Self> = [Case(Self.openAccount), Case(Self.closeAccount)]

    public var body: any CommandBody {
        switch self {
        case .openAccount(let body): body
        case .closeAccount(let body): body
        }
    }
}

/// How others may add an account.
public enum CodeCommand: MessageSet {
    case resetContactCode(ResetContactCode)
    case setContactApproval(SetContactApproval)

    public static let cases: Cases<Self> = [Case(Self.resetContactCode), Case(Self.setContactApproval)]

    public var body: any CommandBody {
        switch self {
        case .resetContactCode(let body): body
        case .setContactApproval(let body): body
        }
    }
}

/// Begins an account's contacts. Sent by a policy when session says that the account was opened.
///
/// Rejected: `accountExists`, `accountClosed`, `codeTaken`. Result: ``ContactsOpened``.
public struct OpenAccount: CommandBody {
    /// The account's first contact code, random.
    public let code: ContactCode

    /// Its parameters are the properties of the same names.
    public init(code: ContactCode) {
        self.code = code
    }
}

/// Ends an account's contacts for ever: relations go on both sides, pings and requests with them, and whatever names the
/// account later is rejected. Sent again it changes nothing.
///
/// Result: ``ContactsClosed``.
public struct CloseAccount: CommandBody {
    /// It has no parameters.
    public init() {}
}

/// Replaces the contact code; the old one is dead at once.
///
/// Rejected: `codeTaken`. Result: ``ContactCodeReset``.
public struct ResetContactCode: CommandBody {
    /// The new code, random.
    public let code: ContactCode

    /// Its parameters are the properties of the same names.
    public init(code: ContactCode) {
        self.code = code
    }
}

/// Chooses whether others who add this account must wait for its approval.
///
/// Result: ``ContactApprovalSet``.
public struct SetContactApproval: PublicCommandBody {
    /// True: others ask, and this account approves or declines. False: adding takes effect at once.
    public let isRequired: Bool

    /// Its parameters are the properties of the same names.
    public init(isRequired: Bool) {
        self.isRequired = isRequired
    }
}
