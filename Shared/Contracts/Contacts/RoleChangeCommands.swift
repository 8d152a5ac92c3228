public import Vocabulary

/// How a contact becomes a dependent.
public enum RoleCommand: MessageSet {
    case requestRoleChange(RequestRoleChange)
    case acceptRoleChange(AcceptRoleChange)
    case declineRoleChange(DeclineRoleChange)
    case withdrawRoleChange(WithdrawRoleChange)

    public static let cases: Cases<Self> = [
        Case(Self.requestRoleChange), Case(Self.acceptRoleChange), Case(Self.declineRoleChange),
        Case(Self.withdrawRoleChange),
    ]

    public var body: any CommandBody {
        switch self {
        case .requestRoleChange(let body): body
        case .acceptRoleChange(let body): body
        case .declineRoleChange(let body): body
        case .withdrawRoleChange(let body): body
        }
    }
}

/// Asks a contact to become the asker's dependent, so that the asker sees their check-ins, alerts and emergency note. While
/// one request waits, another one changes nothing; neither does one for a role that is there.
///
/// Rejected: `notContact`. Result: ``RoleChangeRequested``.
public struct RequestRoleChange: PublicCommandBody {
    /// The contact who would be seen.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Makes a contact who asked for it the asker's responder.
///
/// Rejected: `notContact`, `notFound` (no such request). Result: ``ContactUpdated``.
public struct AcceptRoleChange: PublicCommandBody {
    /// Who asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Says no to a contact who asked to become the asker's responder. The relation stays as it is.
///
/// Rejected: `notContact`, `notFound`. Result: ``RoleChangeEnded``.
public struct DeclineRoleChange: PublicCommandBody {
    /// Who asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}

/// Takes one's own request for a role back.
///
/// Rejected: `notContact`, `notFound`. Result: ``RoleChangeEnded``.
public struct WithdrawRoleChange: PublicCommandBody {
    /// Who was asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }
}
