package import ContactsContract
package import Vocabulary

/// What contacts keeps, as far as a batch of commands touches it.
package struct ContactsRows: Equatable, Sendable {
    /// The numbers in the rules.
    package var limits: ContactsLimits
    /// Accounts by id, closed ones too: an id is remembered for ever.
    package var accounts = WorkingSet<AccountID, AccountRow>()
    /// Requests that wait for an answer.
    package var requests = WorkingSet<Ends, RequestRow>()
    /// Who blocked whom.
    package var blocks = WorkingSet<Ends, BlockRow>()
    /// Alarms that are on.
    package var alarms = WorkingSet<AlarmPlace, AlarmRow>()
    /// Who heard of alarms that are on.
    package var recipients = WorkingSet<RecipientPlace, RecipientRow>()
    /// Relations between two accounts.
    private var relations = WorkingSet<Pair, RelationRow>()
    /// Which relations an account has, for those that are in ``relations``.
    private var neighbours: [AccountID: Set<AccountID>] = [:]
    /// Relations that were read without a lock, by either side: to look at, never to change.
    private var glimpses: [AccountID: [AccountID: RelationRow]] = [:]
    /// Whose code it is.
    private var codes: [ContactCode: AccountID] = [:]
    /// Who the contacts of an account are, for those that may get more.
    private var contactIDs: [AccountID: Set<AccountID>] = [:]

    /// Empty tables.
    package init(limits: ContactsLimits = ContactsLimits()) {
        self.limits = limits
    }

    // MARK: Loading

    /// Takes an account as the database has it.
    package mutating func load(_ row: AccountRow, at account: AccountID) {
        accounts.load(row, at: account)
        if let code = row.code { codes[code] = account }
    }

    /// Takes a relation as the database has it.
    package mutating func load(_ row: RelationRow, at pair: Pair) {
        relations.load(row, at: pair)
        neighbours[pair.low, default: []].insert(pair.high)
        neighbours[pair.high, default: []].insert(pair.low)
    }

    /// Takes a relation that was read without a lock: only ``responders(of:)`` looks at it.
    package mutating func load(glimpse row: RelationRow, at pair: Pair) {
        glimpses[pair.low, default: [:]][pair.high] = row
        glimpses[pair.high, default: [:]][pair.low] = row
    }

    /// Takes who is an account's contact in the database.
    package mutating func load(contact: AccountID, of account: AccountID) {
        contactIDs[account, default: []].insert(contact)
    }

    /// What has to be written of the relations.
    package var relationChanges: WorkingSet<Pair, RelationRow>.Changes { relations.changes }

    // MARK: Reading and changing

    /// The relation between two accounts.
    package subscript(pair: Pair) -> RelationRow? {
        get { relations[pair] }
        set {
            let was = relations[pair] != nil
            relations[pair] = newValue
            glimpses[pair.low]?[pair.high] = nil
            glimpses[pair.high]?[pair.low] = nil
            guard was != (newValue != nil) else { return }
            for (account, other) in [(pair.low, pair.high), (pair.high, pair.low)] {
                if was {
                    neighbours[account]?.remove(other)
                    contactIDs[account]?.remove(other)
                } else {
                    neighbours[account, default: []].insert(other)
                    contactIDs[account, default: []].insert(other)
                }
            }
        }
    }

    /// The contacts of an account, in the order of their ids.
    package func contacts(of account: AccountID) -> [AccountID] {
        neighbours[account, default: []].sorted()
    }

    /// Who looks after an account, each with their side of the relation, in the order of their ids.
    func responders(of account: AccountID) -> [(account: AccountID, side: RelationRow.Side)] {
        var found = glimpses[account, default: [:]]
        for contact in neighbours[account, default: []] { found[contact] = self[Pair(account, contact)] }
        return found.sorted { $0.key < $1.key }.compactMap { contact, row in
            let side = RelationView(row, of: account, with: contact).theirs
            return side.iAmResponder ? (contact, side) : nil
        }
    }

    /// Who heard of an alarm, in the order of their ids.
    func recipients(of alarm: AlarmID, about account: AccountID) -> [RecipientPlace] {
        recipients.keys.filter { $0.account == account && $0.alarm == alarm }.sorted()
    }

    /// How many contacts an account has.
    package func contactCount(of account: AccountID) -> Int { contactIDs[account, default: []].count }

    /// Whether two accounts have no contact in common.
    func areStrangers(_ one: AccountID, _ other: AccountID) -> Bool {
        contactIDs[one, default: []].isDisjoint(with: contactIDs[other, default: []])
    }

    /// Whose contact code this is.
    package func owner(of code: ContactCode) -> AccountID? { codes[code] }

    /// Gives an account another code, or none. The old one is dead at once.
    mutating func setCode(_ code: ContactCode?, of account: AccountID) {
        if let old = accounts[account]?.code { codes[old] = nil }
        accounts[account]?.code = code
        if let code { codes[code] = account }
    }

    /// The requests that an account sent or received, by who sent them.
    func requests(of account: AccountID) -> [Ends] {
        requests.keys.filter { $0.from == account || $0.to == account }.sorted()
    }

    /// Two states are equal when their rows are, however they were found.
    package static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.requests == right.requests
            && left.blocks == right.blocks && left.relations == right.relations && left.alarms == right.alarms
            && left.recipients == right.recipients
    }
}

/// The numbers in the rules of contacts.
package struct ContactsLimits: Equatable, Sendable {
    /// How many contacts an account may have.
    package var contacts = 1000
    /// How many requests an account may have waiting in each direction.
    package var requests = 100
    /// How many accounts an account may block.
    package var blocks = 1000
    /// How long after a ping to the same person the next one may be sent.
    package var pingCooldown: Interval = .seconds(10)

    /// The product's numbers.
    package init() {}
}
