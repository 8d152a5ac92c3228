public import Bus
public import ContactsContract
public import Postgres
import Vocabulary
import WorkingSet

/// Keeps relations in the schema `contacts`.
///
/// Rows of two keys are locked: the accounts first, where a command makes or ends something between two accounts or
/// changes an account, then the relations; each in the order of their ids, in one statement that also reads them. So
/// nobody joins somebody who closes at the same moment, and no change of a pair is lost.
public struct ContactsStore: Store {
    /// The rules whose tables these are.
    public typealias Rules = ContactsReducer

    private let limits: ContactsLimits

    /// - Parameter limits: The numbers in the rules.
    public init(limits: ContactsLimits = ContactsLimits()) {
        self.limits = limits
    }

    /// Loads what the commands may look at: one round trip, two when somebody is added by code.
    public func load(_ requests: [Request<ContactsCommand>], in pipeline: Pipeline) throws -> ContactsRows {
        var touched = Touched(requests)
        var rows = ContactsRows(limits: limits)
        let locked = pipeline.lockAccounts(touched.changed, codes: touched.codes)
        let named = pipeline.accounts(touched.named)
        if touched.needsCodes {
            // Whose code it is decides which relation is meant.
            try pipeline.flush()
            var owners = touched.newCodes
            for (account, row) in try locked.map(accountRows) ?? [] {
                if let code = row.code { owners[code, default: []].insert(account) }
            }
            touched.resolve(owners)
        }
        let relations = pipeline.lockRelations(touched)
        let glimpses = pipeline.responders(of: touched.relaying)
        let waiting = pipeline.requests(of: touched.asking)
        let blocks = pipeline.blocks(by: touched.blocking, between: touched.joining)
        let contacts = pipeline.contacts(of: touched.growing)
        try pipeline.flush()

        for (account, row) in try named.map(accountRows) ?? [] { rows.load(row, at: account) }
        for (account, row) in try locked.map(accountRows) ?? [] { rows.load(row, at: account) }
        for row in try relations.rowsIfAsked { rows.load(try row.relation(), at: try row.pair()) }
        for row in try glimpses.rowsIfAsked { rows.load(glimpse: try row.relation(), at: try row.pair()) }
        for row in try waiting.rowsIfAsked { rows.requests.load(try row.request(), at: try row.ends()) }
        for row in try blocks.rowsIfAsked {
            rows.blocks.load(BlockRow(at: try row.decode(2, as: Instant.self)), at: try row.ends())
        }
        for row in try contacts.rowsIfAsked {
            let (account, contact) = try row.decode(AccountID.self, AccountID.self)
            rows.load(contact: contact, of: account)
        }
        return rows
    }

    /// Writes what changed, a statement per table and kind of change.
    public func save(_ rows: ContactsRows, in pipeline: Pipeline) throws {
        let accounts = rows.accounts.changes
        pipeline.save(accounts)
        pipeline.save(rows.relationChanges)
        pipeline.save(rows.requests.changes)
        pipeline.save(rows.blocks.changes)
        // Also one that was closed before it was ever opened.
        let closed = accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key)
        pipeline.redact(closed + accounts.inserted.filter { $0.row.closed != nil }.map(\.key), in: "contacts")
    }

    private func accountRows(_ pending: Pending) throws -> [(AccountID, AccountRow)] {
        try pending.rows().map { row in
            let (account, code, isApprovalRequired, closed) = try row.decode(
                AccountID.self, ContactCode?.self, Bool.self, Instant?.self)
            return (account, AccountRow(code: code, isApprovalRequired: isApprovalRequired, closed: closed))
        }
    }
}

/// Which rows the commands of a batch may touch.
struct Touched {
    /// Accounts that are changed, or between which something begins or ends: locked.
    var changed: Set<AccountID> = []
    /// Accounts that are only looked at.
    var named: Set<AccountID> = []
    /// Codes that lead to an account, or shall.
    var codes: Set<ContactCode> = []
    /// Codes that commands of this batch give out.
    var newCodes: [ContactCode: Set<AccountID>] = [:]
    /// Pairs whose relation is changed.
    var pairs: Set<Pair> = []
    /// Accounts all of whose relations are ended.
    var closing: Set<AccountID> = []
    /// Accounts all of whose waiting pings are answered.
    var answering: Set<AccountID> = []
    /// Accounts whose responders are looked at.
    var relaying: Set<AccountID> = []
    /// Accounts whose requests are looked at.
    var asking: Set<AccountID> = []
    /// Accounts all of whose blocks are looked at.
    var blocking: Set<AccountID> = []
    /// Pairs that may become contacts.
    var joining: Set<Pair> = []
    /// Accounts that may get another contact: all who are theirs are looked at.
    var growing: Set<AccountID> = []
    private var byCode: [(AccountID, ContactCode)] = []

    /// Whether a code has to be looked up before the rest is known.
    var needsCodes: Bool { !byCode.isEmpty }

    init(_ requests: [Request<ContactsCommand>]) {
        for request in requests {
            guard let account = request.account else { continue }
            take(request.command, of: account)
        }
        named.subtract(changed)
    }

    /// Takes in whose the codes are. A code that changes hands in this batch has several owners; all are loaded.
    mutating func resolve(_ owners: [ContactCode: Set<AccountID>]) {
        for (account, code) in byCode {
            for other in owners[code, default: []] where other != account { join(account, other) }
        }
    }

    private mutating func take(_ command: ContactsCommand, of account: AccountID) {
        named.insert(account)
        switch command {
        case .openAccount(let command): take(code: command.code, for: account)
        case .resetContactCode(let command): take(code: command.code, for: account)
        case .setContactApproval: changed.insert(account)
        case .closeAccount:
            changed.insert(account)
            closing.insert(account)
            asking.insert(account)
            blocking.insert(account)
        case .addContact(let command):
            changed.insert(account)
            asking.insert(account)
            growing.insert(account)
            if let contact = command.contact { join(account, contact) }
            if let code = command.code {
                codes.insert(code)
                byCode.append((account, code))
            }
        case .approveContactRequest(let command): join(account, command.contact)
        case .declineContactRequest(let command): join(account, command.contact)
        case .withdrawContactRequest(let command): join(account, command.contact)
        case .blockContact(let command):
            join(account, command.contact)
            blocking.insert(account)
        case .unblockContact(let command): join(account, command.contact)
        case .updateContact(let command): meet(account, command.contact)
        case .requestRoleChange(let command): meet(account, command.contact)
        case .acceptRoleChange(let command): meet(account, command.contact)
        case .declineRoleChange(let command): meet(account, command.contact)
        case .withdrawRoleChange(let command): meet(account, command.contact)
        case .removeContact(let command): meet(account, command.contact)
        case .sendPing(let command): meet(account, command.contact)
        case .cancelPing(let command): meet(account, command.contact)
        case .respondToPing(let command): meet(account, command.contact)
        case .respondToAllPings, .clearReceivedPings: answering.insert(account)
        case .relayAlert: relaying.insert(account)
        }
    }

    private mutating func take(code: ContactCode, for account: AccountID) {
        changed.insert(account)
        codes.insert(code)
        newCodes[code, default: []].insert(account)
    }

    private mutating func join(_ account: AccountID, _ other: AccountID) {
        changed.formUnion([account, other])
        asking.formUnion([account, other])
        growing.formUnion([account, other])
        joining.insert(Pair(account, other))
        pairs.insert(Pair(account, other))
    }

    private mutating func meet(_ account: AccountID, _ other: AccountID) {
        named.insert(other)
        pairs.insert(Pair(account, other))
    }
}

extension Pending? {
    /// The rows of a statement that was queued; none for one that wasn't needed.
    var rowsIfAsked: [Row] {
        get throws { try self.map { Array(try $0.rows()) } ?? [] }
    }
}
