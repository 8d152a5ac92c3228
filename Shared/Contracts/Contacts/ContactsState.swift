public import ContractSupport
public import Vocabulary

/// What one account sees of its contacts: the state of the stream `contacts/<account>`.
///
/// Folding a stream's events from its beginning gives the same as what the owner publishes.
public struct ContactsState: Codable, Hashable, Sendable {
    /// Whose.
    public var account: AccountID
    /// What others need to add the account; nil before the beginning and after the end.
    public var code: ContactCode?
    /// Whether others must ask before they become contacts.
    public var isApprovalRequired: Bool
    /// Everybody, by id.
    public var contacts: Ordered<Contact>
    /// Requests in both directions, by the other's id.
    public var requests: Ordered<ContactRequest>
    /// Who is blocked, in the order of their ids.
    public var blocked: [AccountID]
    /// Whether the account is closed, for ever.
    public var isClosed: Bool

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, code: ContactCode? = nil, isApprovalRequired: Bool = false, contacts: Ordered<Contact> = [],
        requests: Ordered<ContactRequest> = [], blocked: [AccountID] = [], isClosed: Bool = false
    ) {
        self.account = account
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.contacts = contacts
        self.requests = requests
        self.blocked = blocked
        self.isClosed = isClosed
    }
}
