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
    /// Whether anyone would be told of an alarm. Nil before the account is opened, once it is closed, and from a server
    /// that doesn't say. When no responder can be reached, that is true of each contact that is the account's responder.
    public var responderReach: ResponderReach?
    public var isClosed: Bool

    public init(
        account: AccountID, code: ContactCode? = nil, isApprovalRequired: Bool = false, contacts: Ordered<Contact> = [],
        requests: Ordered<ContactRequest> = [], blocked: [AccountID] = [],
        responderReach: ResponderReach? = nil, isClosed: Bool = false
    ) {
        self.account = account
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.contacts = contacts
        self.requests = requests
        self.blocked = blocked
        self.responderReach = responderReach
        self.isClosed = isClosed
    }
}
