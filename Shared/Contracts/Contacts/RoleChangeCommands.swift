public import Vocabulary

/// Asks a contact to become the asker's dependent, so that the asker sees their check-ins, alerts and emergency note. While
/// one request waits, another one changes nothing; neither does one for a role that is there.
///
/// Rejected: `notContact`. Result: ``RoleChangeRequested``.
public struct RequestRoleChange: CommandBody {
    /// The contact who would be seen.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Makes a contact who asked for it the asker's responder.
///
/// Rejected: `notContact`, `notFound` (no such request). Result: ``ContactUpdated``.
public struct AcceptRoleChange: CommandBody {
    /// Who asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Says no to a contact who asked to become the asker's responder. The relation stays as it is.
///
/// Rejected: `notContact`, `notFound`. Result: ``RoleChangeEnded``.
public struct DeclineRoleChange: CommandBody {
    /// Who asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Takes one's own request for a role back.
///
/// Rejected: `notContact`, `notFound`. Result: ``RoleChangeEnded``.
public struct WithdrawRoleChange: CommandBody {
    /// Who was asked.
    public let contact: AccountID

    /// Its parameters are the properties of the same names.
    public init(contact: AccountID) {
        self.contact = contact
    }

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}
