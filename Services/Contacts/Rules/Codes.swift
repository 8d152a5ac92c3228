import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: CodeCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .resetContactCode(let command): try resetCode(&rows, command, asker)
        case .setContactApproval(let command): setApproval(&rows, command, asker)
        }
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

    static func requireFree(_ rows: ContactsRows, _ code: ContactCode) throws(Rejection) {
        guard rows.owner(of: code) == nil else {
            throw Rejection(.codeTaken, "This code is in use; choose another random one.", field: "code")
        }
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: CodeCommand, of account: AccountID) {
        switch command {
        case .resetContactCode(let command): add(code: command.code, for: account)
        case .setContactApproval: changed.insert(account)
        }
    }
}
