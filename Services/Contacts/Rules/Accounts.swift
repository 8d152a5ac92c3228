package import ContactsContract
import ContractSupport
package import Vocabulary

/// An account as contacts knows it.
package struct AccountRow: Equatable, Sendable {
    /// Others add the account by this code. Nil once it is closed.
    package var code: ContactCode?
    /// Whether others need approval even if they have the code.
    package var isApprovalRequired: Bool
    /// An account is never reopened.
    package var closed: Instant?

    package init(code: ContactCode?, isApprovalRequired: Bool = false, closed: Instant? = nil) {
        self.code = code
        self.isApprovalRequired = isApprovalRequired
        self.closed = closed
    }
}

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: AccountCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .openAccount(let command): try open(&rows, command, asker)
        case .closeAccount: try close(&rows, asker)
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
        rows.setCode(command.code, of: asker.account)
        return [.contactsOpened(.init(account: asker.account, code: command.code, at: asker.time))]
    }

    /// Also closes an account that was never opened, so that a late `OpenAccount` opens nothing.
    static func close(_ rows: inout ContactsRows, _ asker: Asker) throws(Rejection) -> [ContactsEvent] {
        let account = asker.account
        if rows.accounts[account]?.closed != nil { return [] }
        var events = endAlarms(&rows, ofClosing: asker)
        for contact in rows.contacts(of: account) {
            rows[Pair(account, contact)] = nil
            events.append(
                .contactRemoved(.init(account: contact, contact: account, by: account, reason: .closed, at: asker.time))
            )
        }
        for ends in rows.requests(of: account) {
            events += end(&rows, ends, .closed, at: asker.time, first: account).filter { $0.account != account }
        }
        for ends in rows.blocks.keys.filter({ $0.from == account }) { rows.blocks[ends] = nil }
        if rows.accounts[account] == nil { rows.accounts[account] = AccountRow(code: nil) }
        rows.setCode(nil, of: account)
        rows.accounts[account]?.isApprovalRequired = false
        rows.accounts[account]?.closed = asker.time
        return [.contactsClosed(.init(account: account, at: asker.time))] + events
    }

}

extension ContactsRows.Selection {
    mutating func add(_ command: AccountCommand, of account: AccountID) {
        switch command {
        case .openAccount(let command): add(code: command.code, for: account)
        case .closeAccount:
            changed.insert(account)
            closing.insert(account)
            asking.insert(account)
            blocking.insert(account)
            alarming.insert(account)
        }
    }
}
