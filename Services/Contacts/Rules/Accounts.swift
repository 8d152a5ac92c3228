import ContactsContract
import ContractSupport
import Vocabulary

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: AccountCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .openAccount(let command): try open(&rows, command, asker)
        case .closeAccount: try close(&rows, asker)
        }
    }

    static func reduce(
        _ rows: inout ContactsRows, _ command: CodeCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .resetContactCode(let command): try resetCode(&rows, command, asker)
        case .setContactApproval(let command): setApproval(&rows, command, asker)
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

    /// Also closes an account that was never opened, so that an opening that arrives late opens nothing.
    static func close(_ rows: inout ContactsRows, _ asker: Asker) throws(Rejection) -> [ContactsEvent] {
        let account = asker.account
        if rows.accounts[account]?.closed != nil { return [] }
        var told = endAlarms(&rows, ofClosing: asker)
        for contact in rows.contacts(of: account) {
            rows[Pair(account, contact)] = nil
            told.append(
                .contactRemoved(.init(account: contact, contact: account, by: account, reason: .closed, at: asker.time))
            )
        }
        for ends in rows.requests(of: account) {
            told += end(&rows, ends, .closed, at: asker.time, first: account).filter { $0.account != account }
        }
        for ends in rows.blocks.keys.filter({ $0.from == account }) { rows.blocks[ends] = nil }
        if rows.accounts[account] == nil { rows.accounts[account] = AccountRow(code: nil) }
        rows.setCode(nil, of: account)
        rows.accounts[account]?.isApprovalRequired = false
        rows.accounts[account]?.closed = asker.time
        return [.contactsClosed(.init(account: account, at: asker.time))] + told
    }

    static func resetCode(
        _ rows: inout ContactsRows, _ command: ResetContactCode, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        try requireFree(rows, command.code)
        rows.setCode(command.code, of: asker.account)
        return [.contactCodeReset(.init(account: asker.account, code: command.code, at: asker.time))]
    }

    static func setApproval(
        _ rows: inout ContactsRows, _ command: SetContactApproval, _ asker: Asker
    ) -> [ContactsEvent] {
        guard rows.accounts[asker.account]?.isApprovalRequired != command.isRequired else { return [] }
        rows.accounts[asker.account]?.isApprovalRequired = command.isRequired
        return [
            .contactApprovalSet(.init(account: asker.account, isRequired: command.isRequired, at: asker.time))
        ]
    }

    private static func requireFree(_ rows: ContactsRows, _ code: ContactCode) throws(Rejection) {
        guard rows.owner(of: code) == nil else {
            throw Rejection(.codeTaken, "This code is in use; choose another random one.", field: "code")
        }
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

    mutating func add(_ command: CodeCommand, of account: AccountID) {
        switch command {
        case .resetContactCode(let command): add(code: command.code, for: account)
        case .setContactApproval: changed.insert(account)
        }
    }
}
