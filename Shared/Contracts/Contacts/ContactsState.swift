public import ContractSupport
public import Vocabulary

/// One account's contacts: the state of the stream `contacts/<account>`.
///
/// Folding the stream's events from the beginning gives the state that the service publishes.
public struct ContactsState: Codable, Hashable, Sendable {
    public var account: AccountID
    /// Others add the account by this code. Nil before it is opened and once it is closed.
    public var code: ContactCode?
    /// Whether others need approval to become contacts.
    public var isApprovalRequired: Bool
    /// Sorted by id.
    public var contacts: Ordered<Contact>
    /// Requests in both directions, sorted by the other account's id.
    public var requests: Ordered<ContactRequest>
    /// Sorted by id.
    public var blocked: [AccountID]
    public var isClosed: Bool

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
