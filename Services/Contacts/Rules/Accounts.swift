package import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

/// An account as contacts knows it.
package struct AccountRow: Equatable, Sendable {
    /// Others add the account by this code. Nil once it is closed.
    package var code: ContactCode?
    /// Whether others need approval even if they have the code.
    package var isApprovalRequired: Bool
    /// An account is never reopened.
    package var closed: Instant?
    /// Until when the account counts as reachable. Nil as long as nobody was told that this is shown.
    package var reachableUntil: Instant?
    /// False once ``reachableUntil`` has passed.
    package var isReachable = true
    /// When an account that was reached again counts as reachable.
    package var returns: Instant?
    /// What the account's stream says. Nil in a row of 0.1.0 whose responders haven't changed since: see
    /// ``ResponderCounts/reachBefore``.
    package var responderReach: ResponderReach? = .nobody
    /// What the account was last notified of, or what it began with.
    package var settledReach: ResponderReach? = .nobody
    /// Since when the two have differed.
    package var unsettled: Instant?
    /// Who hears of a missed check-in later than the others; the soonest first. Nil if all hear at once.
    package var responderTiers: [ResponderTier]?
    /// Counts their changes.
    package var responderTiersVersion: Int64 = 0
    /// When the next tier hears of the alarm that is on; nil if none waits.
    package var nextTier: Instant?
    /// When somebody who is on an alarm of the account is asked whether they still are, or when that is settled; nil for never.
    package var nextRenewal: Instant?
    /// What becomes of pings that the account doesn't answer; nil if nothing does.
    package var pingEscalation: PingEscalation?
    /// When it is looked at next whether such a ping is due; nil if none may be.
    package var nextPing: Instant?

    package init(
        code: ContactCode?, isApprovalRequired: Bool = false, closed: Instant? = nil, reachableUntil: Instant? = nil
    ) {
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.closed = closed
        self.reachableUntil = reachableUntil
    }
}

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: AccountCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .openAccount(let command): try open(&rows, command, asker)
        case .closeAccount: try close(&rows, asker)
        case .openCanary(let command): try openCanary(&rows, command, asker)
        }
    }

    static func open(
        _ rows: inout ContactsRows, _ command: OpenAccount, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        if let row = rows.accounts[asker.account] {
            if row.closed != nil { throw .accountClosed() }
            throw Rejection(.accountExists, "This account's contacts already exist.")
        }
        try requireFree(rows, command.code)
        rows.accounts[asker.account] = AccountRow(code: nil)
        setReached(&rows, asker.account, asker)
        rows.setCode(command.code, of: asker.account)
        return [.contactsOpened(.init(account: asker.account, code: command.code, at: asker.time))]
    }

    /// Also closes an account that was never opened, so that a late `OpenAccount` opens nothing.
    static func close(_ rows: inout ContactsRows, _ asker: Asker) throws(Rejection) -> [ContactsEvent] {
        let account = asker.account
        if rows.accounts[account]?.closed != nil { return [] }
        var events = endAlarms(&rows, ofClosing: asker)
        for contact in rows.contacts(of: account) {
            let watch = rows[Pair(account, contact)].flatMap { row in
                RelationView(row, of: contact, with: account).theirs.openWatch
            }
            rows[Pair(account, contact)] = nil
            events += pingEnded(watch, from: account, to: contact, isAnswered: false, asker)
            events.append(
                .contactRemoved(.init(account: contact, contact: account, by: account, reason: .closed, at: asker.time))
            )
            events += forgetTier(&rows, of: contact, naming: account, isForGood: true, at: asker.time)
        }
        for ends in rows.requests(of: account) {
            events += end(&rows, ends, .closed, at: asker.time, first: account).filter { $0.account != account }
        }
        for ends in rows.blocks.keys.filter({ $0.from == account }) { rows.blocks[ends] = nil }
        if rows.accounts[account] == nil { rows.accounts[account] = AccountRow(code: nil) }
        rows.setCode(nil, of: account)
        rows.accounts[account]?.isApprovalRequired = false
        rows.accounts[account]?.responderTiers = nil
        rows.accounts[account]?.pingEscalation = nil
        rows.accounts[account]?.nextPing = nil
        rows.accounts[account]?.closed = asker.time
        return [.contactsClosed(.init(account: account, at: asker.time))] + events
    }

    static func openCanary(
        _ rows: inout ContactsRows, _ command: OpenCanary, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        guard asker.account.canaryRole == .person, command.responder.canaryRole == .responder else {
            throw .accountNotFound()
        }
        for account in [asker.account, command.responder] where rows.accounts[account] == nil {
            rows.accounts[account] = AccountRow(code: nil)
        }
        let pair = Pair(asker.account, command.responder)
        guard rows[pair] == nil else { return [] }
        rows[pair] = RelationRow(
            low: .init(new: asker.time, iAmResponder: pair.low == command.responder),
            high: .init(new: asker.time, iAmResponder: pair.high == command.responder), added: asker.time)
        return []
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: AccountCommand, of account: AccountID) {
        switch command {
        case .openAccount(let command): add(code: command.code, for: account)
        case .openCanary(let command):
            changed.formUnion([account, command.responder])
            pairs.insert(Pair(account, command.responder))
        case .closeAccount:
            changed.insert(account)
            spreading.insert(account)
            closing.insert(account)
            asking.insert(account)
            blocking.insert(account)
            alarming.insert(account)
        }
    }
}
