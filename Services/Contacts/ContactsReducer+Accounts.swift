import ContactsContract
import Grammar
import Vocabulary
import WorkingSet

extension ContactsReducer {
    static func open(
        _ rows: inout ContactsRows, _ command: OpenAccount, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        if let row = rows.accounts[asker.account] {
            if row.closed != nil { throw .accountClosed() }
            throw Rejection(.accountExists, "This account's contacts are open already; use them.")
        }
        try requireFree(rows, command.code)
        rows.accounts[asker.account] = AccountRow(code: nil)
        rows.setCode(command.code, of: asker.account)
        return [emit(.contactsOpened(.init(account: asker.account, code: command.code, at: asker.time)))]
    }

    /// Also closes an account that was never opened, so that an opening that arrives late opens nothing.
    static func close(_ rows: inout ContactsRows, _ asker: Asker) throws(Rejection) -> [Emission<ContactsEvent>] {
        let account = asker.account
        if rows.accounts[account]?.closed != nil { return [] }
        var told: [Emission<ContactsEvent>] = []
        for contact in rows.contacts(of: account) {
            rows[Pair(account, contact)] = nil
            told.append(
                emit(
                    .contactRemoved(
                        .init(account: contact, contact: account, by: account, reason: .closed, at: asker.time))))
        }
        for ends in rows.requests(of: account) {
            told += end(&rows, ends, .closed, at: asker.time, first: account).filter { $0.event.account != account }
        }
        for ends in rows.blocks.keys.filter({ $0.from == account }) { rows.blocks[ends] = nil }
        if rows.accounts[account] == nil { rows.accounts[account] = AccountRow(code: nil) }
        rows.setCode(nil, of: account)
        rows.accounts[account]?.isApprovalRequired = false
        rows.accounts[account]?.closed = asker.time
        return [emit(.contactsClosed(.init(account: account, at: asker.time)))] + told
    }

    static func resetCode(
        _ rows: inout ContactsRows, _ command: ResetContactCode, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        try requireFree(rows, command.code)
        rows.setCode(command.code, of: asker.account)
        return [emit(.contactCodeReset(.init(account: asker.account, code: command.code, at: asker.time)))]
    }

    static func setApproval(
        _ rows: inout ContactsRows, _ command: SetContactApproval, _ asker: Asker
    ) -> [Emission<ContactsEvent>] {
        guard rows.accounts[asker.account]?.isApprovalRequired != command.isRequired else { return [] }
        rows.accounts[asker.account]?.isApprovalRequired = command.isRequired
        return [
            emit(.contactApprovalSet(.init(account: asker.account, isRequired: command.isRequired, at: asker.time)))
        ]
    }

    private static func requireFree(_ rows: ContactsRows, _ code: ContactCode) throws(Rejection) {
        guard rows.owner(of: code) == nil else {
            throw Rejection(.codeTaken, "Choose another random code; this one is in use.", field: "code")
        }
    }
}
