public import QuartetVocabulary

/// Commands by which a contact becomes a dependent.
package enum RoleCommand: MessageSet {
    case requestRoleChange(RequestRoleChange)
    case acceptRoleChange(AcceptRoleChange)
    case declineRoleChange(DeclineRoleChange)
    case withdrawRoleChange(WithdrawRoleChange)

    package static let cases: Cases<Self> = [
        Case(Self.requestRoleChange), Case(Self.acceptRoleChange), Case(Self.declineRoleChange),
        Case(Self.withdrawRoleChange),
    ]

    package var body: any CommandBody {
        switch self {
        case .requestRoleChange(let body): body
        case .acceptRoleChange(let body): body
        case .declineRoleChange(let body): body
        case .withdrawRoleChange(let body): body
        }
    }
}

/// Asks a contact to become the asking account's dependent, so that it sees their check-ins, alerts and emergency note.
/// Does nothing if they already are one or an earlier request waits.
///
/// Rejected: `notContact`. Result: ``RoleChangeRequested``.
public struct RequestRoleChange: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The future dependent.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Accepts a contact's request to become the asking account's responder.
///
/// Rejected: `notContact`, `notFound` (no such request). Result: ``ContactUpdated``.
public struct AcceptRoleChange: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The account that sent the request.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Declines a contact's request to become the asking account's responder. The relation stays as it is.
///
/// Rejected: `notContact`, `notFound`. Result: ``RoleChangeEnded``.
public struct DeclineRoleChange: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The account that sent the request.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Withdraws one's own request for a role.
///
/// Rejected: `notContact`, `notFound`. Result: ``RoleChangeEnded``.
public struct WithdrawRoleChange: PublicCommandBody {
    public static let sending = Sending(.contact)
    public var orderSubject: String { "\(contact)" }

    /// The account that received the request.
    public let contact: AccountID

    public init(contact: AccountID) {
        self.contact = contact
    }
}
