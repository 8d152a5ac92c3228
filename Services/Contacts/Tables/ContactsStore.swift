package import Bus
package import Postgres
package import QuartetContactsContract
package import QuartetContactsRules
package import QuartetVocabulary
import Storage

/// The tables of the schema `contacts`. Each is described once, in the file with its statements.
package enum Tables {}

/// Keeps relations in the schema `contacts`.
///
/// Some rows can be changed under two keys, so they are locked: first the accounts where a command changes one or
/// starts or ends something between two, then the relations, then the recipients of alarms. Each kind is locked and
/// read by one statement, in the order of the primary key. So no one becomes a contact of an account that is closing,
/// no change to a relation is lost, and a new responder gets both the beginning and the end of an alarm, or neither.
package struct ContactsStore: TimedStore {
    package typealias Rules = ContactsReducer

    private let limits: ContactsLimits

    /// - Parameter limits: Overridden by those in `contacts.limits`.
    package init(limits: ContactsLimits = ContactsLimits()) {
        self.limits = limits
    }

    /// Takes one round trip, or two when someone is added by code, or a ping is due.
    package func load(_ requests: [Request<ContactsCommand>], in pipeline: Pipeline) throws -> ContactsRows {
        var touched = ContactsRows.Selection(requests)
        let settled = pipeline.limits()
        let locked = pipeline.lockAccounts(touched)
        let named = pipeline.accounts(touched.named)
        if touched.needsCodes {
            // The owner of a code decides which relation is needed.
            try pipeline.flush()
            var owners = touched.newCodes
            for (account, row) in try Tables.account.rows(of: locked) {
                if let code = row.code { owners[code, default: []].insert(account) }
            }
            touched.resolve(owners)
        }
        let relations = pipeline.lockRelations(touched)
        let alarms = pipeline.alarms(of: touched.alarming, heardBy: touched.closing)
        let endedAlarms = pipeline.endedAlarms(of: touched.alarming)
        let recipients = pipeline.lockRecipients(ofAlarmsOf: touched.alarming, amongThem: touched.closing)
        let glimpses = pipeline.responders(of: touched.relaying)
        let outOfReach = pipeline.outOfReach(of: touched.telling)
        let dependents = pipeline.dependents(of: touched.flipping)
        let counts = pipeline.responderCounts(touched)
        let waiting = pipeline.requests(of: touched.asking)
        let blocks = pipeline.blocks(by: touched.blocking, between: touched.joining)
        let contacts = pipeline.contacts(of: touched.growing)
        // By now all that is changed is locked.
        let clock = touched.isTimed ? pipeline.query("SELECT clock_timestamp()") : nil
        try pipeline.flush()

        var rows = ContactsRows(limits: try settled.limits(besides: limits))
        for (account, row) in try Tables.account.rows(of: named) { rows.load(row, at: account) }
        for (account, row) in try Tables.account.rows(of: locked) { rows.load(row, at: account) }
        for (pair, row) in try Tables.relation.rows(of: relations) { rows.load(row, at: pair) }
        for row in try clock.rowsIfAsked { rows.clock = try row.decode(0, as: Instant.self) }
        try pipeline.loadWaiting(of: touched.judging, into: &rows)
        for pending in [glimpses, dependents] {
            for (pair, row) in try Tables.relation.rows(of: pending) { rows.load(glimpse: row, at: pair) }
        }
        for row in try outOfReach.rowsIfAsked { rows.load(outOfReach: try row.decode(0, as: AccountID.self)) }
        try rows.load(responderCounts: counts)
        for (key, row) in try Tables.alarm.rows(of: alarms) { rows.alarms.load(row, at: key) }
        for (key, row) in try Tables.endedAlarm.rows(of: endedAlarms) { rows.endedAlarms.load(row, at: key) }
        for (key, row) in try Tables.alarmRecipient.rows(of: recipients) { rows.recipients.load(row, at: key) }
        for (ends, row) in try Tables.request.rows(of: waiting) { rows.requests.load(row, at: ends) }
        for (ends, row) in try Tables.block.rows(of: blocks) { rows.blocks.load(row, at: ends) }
        for row in try contacts.rowsIfAsked {
            let (account, contact) = try row.decode(AccountID.self, AccountID.self)
            rows.load(contact: contact, of: account)
        }
        return rows
    }

    package func wantedTimers(of keys: TimedKeys, in pipeline: Pipeline) throws -> [Key: [TimedCommand]] {
        let found: Pending? =
            switch keys {
            case .next(let limit, let key): pipeline.accounts(after: key?.account, limit: limit)
            case .locked(let keys): pipeline.lockAccounts(Set(keys.compactMap(\.account)))
            }
        try pipeline.flush()
        var rows = ContactsRows(limits: limits)
        var accounts: Set<AccountID> = []
        for (account, row) in try Tables.account.rows(of: found) {
            rows.accounts.load(row, at: account)
            accounts.insert(account)
        }
        let counts = pipeline.responderCounts(of: accounts)
        try pipeline.flush()
        try rows.load(responderCounts: counts)
        return Dictionary(
            uniqueKeysWithValues: accounts.map { (Key.account($0), rows.wantedTimers(of: $0).map(TimedCommand.init)) })
    }

    /// Writes the changes: one statement for each table and kind of change.
    package func save(_ rows: ContactsRows, in pipeline: Pipeline) throws {
        let accounts = rows.accounts.changes
        try pipeline.save(accounts, in: Tables.account)
        try pipeline.setTimers(rows.changedTimers.mapValues { $0.map(TimedCommand.init) }, in: "contacts")
        try pipeline.save(rows.relationChanges, in: Tables.relation)
        try pipeline.save(rows.requests.changes, in: Tables.request)
        try pipeline.save(rows.blocks.changes, in: Tables.block)
        try pipeline.save(rows.alarms.changes, in: Tables.alarm)
        try pipeline.save(rows.endedAlarms.changes, in: Tables.endedAlarm)
        try pipeline.save(rows.recipients.changes, in: Tables.alarmRecipient)
        // Includes accounts that were closed before they were ever opened.
        let closed = accounts.updated.filter { $0.row.closed != $0.before.closed }.map(\.key)
        pipeline.redact(closed + accounts.inserted.filter { $0.row.closed != nil }.map(\.key), in: "contacts")
    }
}

extension ContactsRows {
    fileprivate mutating func load(responderCounts: Pending?) throws {
        for row in try responderCounts.rowsIfAsked {
            let (account, all, reachable) = try row.decode(AccountID.self, Int.self, Int.self)
            load(ResponderCounts(all: all, reachable: reachable), of: account)
        }
    }
}
