package import QuartetContactsContract
package import QuartetVocabulary

/// The part of contacts' tables that a batch of commands touches.
package struct ContactsRows: Equatable, Sendable {
    package var limits: ContactsLimits
    /// Accounts, including closed ones: an id is never used again.
    package var accounts = WorkingSet<AccountID, AccountRow>()
    /// Requests without an answer.
    package var requests = WorkingSet<Ends, RequestRow>()
    package var blocks = WorkingSet<Ends, BlockRow>()
    /// Alarms that are on.
    package var alarms = WorkingSet<AlarmKey, AlarmRow>()
    /// The newest alarm of each kind that has ended.
    package var endedAlarms = WorkingSet<AlarmKey, EndedAlarmRow>()
    /// Who was alerted to an alarm that is on.
    package var recipients = WorkingSet<RecipientKey, RecipientRow>()
    /// The database's clock when they were loaded, if it matters.
    package var clock: Instant?
    /// Answers to pings that wait to be handled, of accounts with pings that are due.
    package var waitingAnswers: [AccountID: WaitingCommand] = [:]
    /// Cancellations of pings that wait to be handled, of accounts that sent such pings.
    package var waitingCancellations: [AccountID: WaitingCommand] = [:]
    private var relations = WorkingSet<Pair, RelationRow>()
    /// The contacts that each account has in ``relations``.
    private var neighbours: [AccountID: Set<AccountID>] = [:]
    /// Relations that were read without a lock. Rules may look at them but never change them.
    private var glimpses: [AccountID: [AccountID: RelationRow]] = [:]
    /// The responders of accounts whose roles or responders' reachability may change.
    private var responderCounts: [AccountID: ResponderCounts] = [:]
    private var loadedCounts: [AccountID: ResponderCounts] = [:]
    /// Accounts whose ``ResponderReach`` may have changed since ``takeUnsureReach()``.
    private var unsureReach: Set<AccountID> = []
    /// Those who can't be reached among responders that were read without a lock.
    private var outOfReach: Set<AccountID> = []
    private var codes: [ContactCode: AccountID] = [:]
    /// The ids of all contacts, loaded for accounts that may get another one.
    private var contactIDs: [AccountID: Set<AccountID>] = [:]

    package init(limits: ContactsLimits = ContactsLimits()) {
        self.limits = limits
    }

    // MARK: Loading

    /// Loads an account from its table.
    package mutating func load(_ row: AccountRow, at account: AccountID) {
        accounts.load(row, at: account)
        if let code = row.code { codes[code] = account }
    }

    /// Loads a relation from its table.
    package mutating func load(_ row: RelationRow, at pair: Pair) {
        relations.load(row, at: pair)
        neighbours[pair.low, default: []].insert(pair.high)
        neighbours[pair.high, default: []].insert(pair.low)
    }

    /// Loads a relation that was read without a lock. Only ``responders(of:)`` looks at it.
    package mutating func load(glimpse row: RelationRow, at pair: Pair) {
        glimpses[pair.low, default: [:]][pair.high] = row
        glimpses[pair.high, default: [:]][pair.low] = row
    }

    /// Loads the fact that nothing has reached a responder for long, read without a lock.
    package mutating func load(outOfReach responder: AccountID) {
        outOfReach.insert(responder)
    }

    /// Loads the fact that two accounts are contacts.
    package mutating func load(contact: AccountID, of account: AccountID) {
        contactIDs[account, default: []].insert(contact)
    }

    package mutating func load(_ counts: ResponderCounts, of account: AccountID) {
        responderCounts[account] = counts
        loadedCounts[account] = counts
    }

    package var relationChanges: WorkingSet<Pair, RelationRow>.Changes { relations.changes }

    // MARK: Reading and changing

    package subscript(pair: Pair) -> RelationRow? {
        get { relations[pair] }
        set {
            let old = relations[pair]
            let was = old != nil
            relations[pair] = newValue
            count(from: old?.low, to: newValue?.low, pair.low, of: pair.high)
            count(from: old?.high, to: newValue?.high, pair.high, of: pair.low)
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

    /// Sorted by id.
    package func contacts(of account: AccountID) -> [AccountID] {
        neighbours[account, default: []].sorted()
    }

    /// The responders of an account with their sides of the relation, sorted by id.
    func responders(of account: AccountID) -> [(account: AccountID, side: RelationRow.Side)] {
        var found = glimpses[account, default: [:]]
        for contact in neighbours[account, default: []] { found[contact] = self[Pair(account, contact)] }
        return found.sorted { $0.key < $1.key }.compactMap { contact, row in
            let side = RelationView(row, of: account, with: contact).theirs
            return side.iAmResponder ? (contact, side) : nil
        }
    }

    /// Whether nothing has reached a responder for long, as far as their dependents may know.
    func isOutOfReach(_ responder: AccountID, _ side: RelationRow.Side) -> Bool {
        side.showsReach && !(accounts[responder]?.isReachable ?? !outOfReach.contains(responder))
    }

    /// Those who see whether an account, their responder, can be reached, sorted by id.
    private func watchers(of account: AccountID) -> [AccountID] {
        var found = glimpses[account, default: [:]]
        for contact in neighbours[account, default: []] { found[contact] = self[Pair(account, contact)] }
        return found.filter { contact, row in
            let side = RelationView(row, of: account, with: contact).mine
            return side.hearsOfMissedCheckIns && side.showsReach
        }.keys.sorted()
    }

    package func responders(countedOf account: AccountID) -> ResponderCounts? { responderCounts[account] }

    /// Those that ``responders(countedOf:)`` gave before this batch.
    func responders(loadedOf account: AccountID) -> ResponderCounts { loadedCounts[account] ?? ResponderCounts() }

    /// Counts a responder who came or went, or whose choices changed.
    private mutating func count(
        from old: RelationRow.Side?, to new: RelationRow.Side?, _ responder: AccountID, of account: AccountID
    ) {
        let (before, after) = (counts(old, of: responder), counts(new, of: responder))
        guard before != after else { return }
        responderCounts[account, default: ResponderCounts()].all += after.all - before.all
        responderCounts[account]?.reachable += after.reachable - before.reachable
        unsureReach.insert(account)
    }

    /// What one responder adds to the counts.
    private func counts(_ side: RelationRow.Side?, of responder: AccountID) -> ResponderCounts {
        guard let side, side.hearsOfMissedCheckIns else { return ResponderCounts() }
        let isReachable = !side.showsReach || accounts[responder]?.isReachable ?? false
        return ResponderCounts(all: 1, reachable: isReachable ? 1 : 0)
    }

    /// Sets whether an account can be reached, and counts that for its dependents.
    mutating func setReachable(_ isReachable: Bool, _ account: AccountID) {
        guard accounts[account]?.isReachable != isReachable else { return }
        accounts[account]?.isReachable = isReachable
        for dependent in watchers(of: account) {
            responderCounts[dependent, default: ResponderCounts()].reachable += isReachable ? 1 : -1
            unsureReach.insert(dependent)
        }
    }

    /// The accounts whose ``ResponderReach`` may have changed since the last call, sorted by id.
    mutating func takeUnsureReach() -> [AccountID] {
        defer { unsureReach = [] }
        return unsureReach.sorted()
    }

    /// Everyone who was alerted to an alarm, sorted by id.
    func recipients(of alarm: AlarmID, about account: AccountID) -> [RecipientKey] {
        recipients.keys.filter { $0.account == account && $0.alarm == alarm }.sorted()
    }

    package func contactCount(of account: AccountID) -> Int { contactIDs[account, default: []].count }

    func areStrangers(_ one: AccountID, _ other: AccountID) -> Bool {
        contactIDs[one, default: []].isDisjoint(with: contactIDs[other, default: []])
    }

    package func owner(of code: ContactCode) -> AccountID? { codes[code] }

    /// Replaces or removes an account's code. The old one stops working at once.
    mutating func setCode(_ code: ContactCode?, of account: AccountID) {
        if let old = accounts[account]?.code { codes[old] = nil }
        accounts[account]?.code = code
        if let code { codes[code] = account }
    }

    /// The requests that an account sent or received, sorted.
    func requests(of account: AccountID) -> [Ends] {
        requests.keys.filter { $0.from == account || $0.to == account }.sorted()
    }

    /// Compares the rows alone, not what was indexed or read without a lock.
    package static func == (left: Self, right: Self) -> Bool {
        left.limits == right.limits && left.accounts == right.accounts && left.requests == right.requests
            && left.blocks == right.blocks && left.relations == right.relations && left.alarms == right.alarms
            && left.endedAlarms == right.endedAlarms && left.recipients == right.recipients
    }
}
