public import QuartetVocabulary

/// Commands that open and close an account's contacts.
package enum AccountCommand: MessageSet {
    case openAccount(OpenAccount)
    case closeAccount(CloseAccount)
    case openCanary(OpenCanary)

    package static let cases: Cases<Self> = [Case(Self.openAccount), Case(Self.closeAccount), Case(Self.openCanary)]

    package var body: any CommandBody {
        switch self {
        case .openAccount(let body): body
        case .closeAccount(let body): body
        case .openCanary(let body): body
        }
    }
}

/// How others may add an account.
package enum CodeCommand: MessageSet {
    case resetContactCode(ResetContactCode)
    case setContactApproval(SetContactApproval)

    package static let cases: Cases<Self> = [Case(Self.resetContactCode), Case(Self.setContactApproval)]

    package var body: any CommandBody {
        switch self {
        case .resetContactCode(let body): body
        case .setContactApproval(let body): body
        }
    }
}

/// Opens an account's contacts. A policy sends this when session has opened the account.
///
/// Rejected: `accountExists`, `accountClosed`, `codeTaken`. Result: ``ContactsOpened``.
package struct OpenAccount: CommandBody {
    /// No alarm of the account reaches anybody before this.
    package static let isUrgent = true

    /// Must be random.
    package let code: ContactCode

    package init(code: ContactCode) {
        self.code = code
    }
}

/// Closes an account's contacts: its relations end on both sides, along with their pings and requests, and later
/// commands that name the account are rejected. Sending it again changes nothing.
///
/// Result: ``ContactsClosed``.
package struct CloseAccount: CommandBody {
    package init() {}
}

/// Opens a canary and its responder, without contact codes, so nobody can add them. Sending it again changes nothing. They have no
/// events of their own, so neither has this.
///
/// Rejected: `accountNotFound` for accounts that aren't canaries.
package struct OpenCanary: CommandBody {
    package let responder: AccountID

    package init(responder: AccountID) {
        self.responder = responder
    }
}

/// Replaces the contact code. The old one stops working at once.
///
/// Rejected: `codeTaken`. Result: ``ContactCodeReset``.
public struct ResetContactCode: CommandBody {
    /// Must be random.
    public let code: ContactCode

    public init(code: ContactCode) {
        self.code = code
    }
}

/// Sets whether others who add this account must wait for its approval.
///
/// Result: ``ContactApprovalSet``.
public struct SetContactApproval: PublicCommandBody {
    public static let sending = Sending(.contactSettings, supersedes: ["SetContactApproval"])

    /// True: others send a request, which this account approves or declines. False: they become contacts at once.
    public let isRequired: Bool

    public init(isRequired: Bool) {
        self.isRequired = isRequired
    }
}
