public import ContactsContract
import Grammar
public import Vocabulary
import WorkingSet

/// The rules of contacts: what a command does to the relations between accounts.
///
/// Each change of a relation says one event to either side, the asker's first. What changes nothing says nothing.
public enum ContactsReducer: Reducer {
    /// The tables.
    public typealias State = ContactsRows
    /// What can be asked.
    public typealias Command = ContactsCommand
    /// What then happened.
    public typealias Event = ContactsEvent

    /// Decides a command. A rejected one leaves the rows as they were.
    public static func reduce(
        _ rows: inout ContactsRows, _ command: ContactsCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        try command.command.validate()
        guard let account = context.account else { throw .accountRequired }
        let asker = Asker(account: account, time: context.time)
        switch command {
        case .openAccount(let command): return try open(&rows, command, asker)
        case .closeAccount: return try close(&rows, asker)
        default: break
        }
        try requireOpen(rows, account)
        return switch command {
        case .openAccount, .closeAccount: []
        case .resetContactCode(let command): try resetCode(&rows, command, asker)
        case .setContactApproval(let command): setApproval(&rows, command, asker)
        case .addContact(let command): try add(&rows, command, asker)
        case .approveContactRequest(let command): try approve(&rows, command, asker)
        case .declineContactRequest(let command):
            try endRequest(&rows, from: command.contact, to: account, .declined, asker)
        case .withdrawContactRequest(let command):
            try endRequest(&rows, from: account, to: command.contact, .withdrawn, asker)
        case .updateContact(let command): try update(&rows, command, asker)
        case .requestRoleChange(let command): try requestRole(&rows, command, asker)
        case .acceptRoleChange(let command): try acceptRole(&rows, command, asker)
        case .declineRoleChange(let command): try declineRole(&rows, command, asker)
        case .withdrawRoleChange(let command): try withdrawRole(&rows, command, asker)
        case .removeContact(let command): try remove(&rows, command, asker)
        case .blockContact(let command): try block(&rows, command, asker)
        case .unblockContact(let command): try unblock(&rows, command, asker)
        case .sendPing(let command): try sendPing(&rows, command, asker)
        case .cancelPing(let command): try cancelPing(&rows, command, asker)
        case .respondToPing(let command): try respondToPing(&rows, command, asker)
        case .respondToAllPings: clearPings(&rows, asker, isClearing: false)
        case .clearReceivedPings: clearPings(&rows, asker, isClearing: true)
        case .relayAlert(let command): relay(rows, command, asker)
        }
    }

    /// Who asks, and when.
    struct Asker {
        let account: AccountID
        let time: Instant
    }

    static func requireOpen(_ rows: ContactsRows, _ account: AccountID, field: String? = nil) throws(Rejection) {
        guard let row = rows.accounts[account] else { throw .accountNotFound(field) }
        guard row.closed == nil else { throw .accountClosed(field) }
    }

    /// The asker's relation with a contact.
    static func relation(
        _ rows: ContactsRows, _ asker: Asker, with contact: AccountID
    ) throws(Rejection) -> RelationView {
        if let row = rows[Pair(asker.account, contact)], contact != asker.account {
            return RelationView(row, of: asker.account, with: contact)
        }
        throw Rejection(.notContact, "Choose one of your contacts; this account isn't one.", field: "contact")
    }

    static func emit(_ event: ContactsEvent) -> Emission<ContactsEvent> {
        Emission(event, key: .account(event.account))
    }
}
