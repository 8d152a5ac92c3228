public import Bus
public import ContactsContract
public import Postgres
import Vocabulary
import WorkingSet

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
            for (account, row) in try locked.map(accountRows) ?? [] {
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

        for (account, row) in try named.map(accountRows) ?? [] { rows.load(row, at: account) }
        for (account, row) in try locked.map(accountRows) ?? [] { rows.load(row, at: account) }
        for row in try relations.rowsIfAsked { rows.load(try row.relation(), at: try row.pair()) }
        for row in try glimpses.rowsIfAsked { rows.load(glimpse: try row.relation(), at: try row.pair()) }
        for row in try alarms.rowsIfAsked { rows.alarms.load(try row.alarm(), at: try row.alarmPlace()) }
        for row in try recipients.rowsIfAsked {
            rows.recipients.load(RecipientRow(at: try row.decode(3, as: Instant.self)), at: try row.recipientPlace())
        }
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
        pipeline.save(rows.alarms.changes)
        pipeline.save(rows.recipients.changes)
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

extension Pending? {
    /// The rows of a statement that was queued; none for one that wasn't needed.
    var rowsIfAsked: [Row] {
        get throws { try self.map { Array(try $0.rows()) } ?? [] }
    }
}
