public import Bus
public import ContactsContract
public import Postgres
import Storage
import Vocabulary
import WorkingSet

/// The tables of the schema `contacts`, each described once, in the file that has its statements.
package enum Tables {}

/// Keeps relations in the schema `contacts`.
///
/// Rows of two keys are locked: the accounts first, where a command makes or ends something between two accounts or
/// changes an account, then the relations, then who heard of which alarm; each in the order of their ids, in one statement
/// that also reads them. So nobody joins somebody who closes at the same moment, no change of a pair is lost, and whoever
/// becomes a responder while an alarm begins or ends hears of both or of neither.
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
            for (account, row) in try Tables.account.rows(of: locked) {
                if let code = row.code { owners[code, default: []].insert(account) }
            }
            touched.resolve(owners)
        }
        let relations = pipeline.lockRelations(touched)
        let alarms = pipeline.alarms(of: touched.alarming)
        let recipients = pipeline.lockRecipients(ofAlarmsOf: touched.alarming, amongThem: touched.closing)
        let glimpses = pipeline.responders(of: touched.relaying)
        let waiting = pipeline.requests(of: touched.asking)
        let blocks = pipeline.blocks(by: touched.blocking, between: touched.joining)
        let contacts = pipeline.contacts(of: touched.growing)
        try pipeline.flush()

        for (account, row) in try Tables.account.rows(of: named) { rows.load(row, at: account) }
        for (account, row) in try Tables.account.rows(of: locked) { rows.load(row, at: account) }
        for (pair, row) in try Tables.relation.rows(of: relations) { rows.load(row, at: pair) }
        for (pair, row) in try Tables.relation.rows(of: glimpses) { rows.load(glimpse: row, at: pair) }
        for (place, row) in try Tables.alarm.rows(of: alarms) { rows.alarms.load(row, at: place) }
        for (place, row) in try Tables.alarmRecipient.rows(of: recipients) { rows.recipients.load(row, at: place) }
        for (ends, row) in try Tables.request.rows(of: waiting) { rows.requests.load(row, at: ends) }
        for (ends, row) in try Tables.block.rows(of: blocks) { rows.blocks.load(row, at: ends) }
        for row in try contacts.rowsIfAsked {
            let (account, contact) = try row.decode(AccountID.self, AccountID.self)
            rows.load(contact: contact, of: account)
        }
        return rows
    }

    /// Writes what changed, a statement per table and kind of change.
    public func save(_ rows: ContactsRows, in pipeline: Pipeline) throws {
        let accounts = rows.accounts.changes
        try pipeline.save(accounts, in: Tables.account)
        try pipeline.save(rows.relationChanges, in: Tables.relation)
        try pipeline.save(rows.requests.changes, in: Tables.request)
        try pipeline.save(rows.blocks.changes, in: Tables.block)
        try pipeline.save(rows.alarms.changes, in: Tables.alarm)
        try pipeline.save(rows.recipients.changes, in: Tables.alarmRecipient)
        // Also one that was closed before it was ever opened.
        let closed = accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key)
        pipeline.redact(closed + accounts.inserted.filter { $0.row.closed != nil }.map(\.key), in: "contacts")
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
    /// Accounts with whose responders an alarm begins or is repeated.
    var alerting: Set<AccountID> = []
    /// Accounts whose alarms are looked at, and who heard of them.
    var alarming: Set<AccountID> = []
    /// Accounts whose responders are only looked at.
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
            alarming.insert(account)
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
        case .updateContact(let command):
            meet(account, command.contact)
            if command.responder != nil || command.dependent != nil || command.notifyOnExpiry != nil {
                hear(account, command.contact)
            }
        case .acceptRoleChange(let command):
            meet(account, command.contact)
            hear(account, command.contact)
        case .requestRoleChange(let command): meet(account, command.contact)
        case .declineRoleChange(let command): meet(account, command.contact)
        case .withdrawRoleChange(let command): meet(account, command.contact)
        case .removeContact(let command):
            meet(account, command.contact)
            alarming.formUnion([account, command.contact])
        case .sendPing(let command): meet(account, command.contact)
        case .cancelPing(let command): meet(account, command.contact)
        case .respondToPing(let command): meet(account, command.contact)
        case .respondToAllPings, .clearReceivedPings: answering.insert(account)
        case .relayAlert(let command):
            relaying.insert(account)
            guard command.alarm != nil else { break }
            // Nobody becomes or stops being a responder meanwhile.
            changed.insert(account)
            alarming.insert(account)
            if command.kind == .alertRaised || command.kind == .checkInMissed { alerting.insert(account) }
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
        alarming.formUnion([account, other])
        joining.insert(Pair(account, other))
        pairs.insert(Pair(account, other))
    }

    /// Who begins to hear of alarms hears of those that are on: none may begin or end meanwhile.
    private mutating func hear(_ account: AccountID, _ other: AccountID) {
        changed.formUnion([account, other])
        alarming.formUnion([account, other])
    }

    private mutating func meet(_ account: AccountID, _ other: AccountID) {
        named.insert(other)
        pairs.insert(Pair(account, other))
    }
}
