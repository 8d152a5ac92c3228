package import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

/// The rules of contacts: what a command does to the relations between accounts.
///
/// Each change of a relation emits one event for either side, the asking account's first. A command that changes
/// nothing emits nothing.
package enum ContactsReducer: Reducer {
    package typealias State = ContactsRows
    package typealias Command = ContactsCommand
    package typealias Event = ContactsEvent

    package static func reduce(
        _ rows: inout ContactsRows, _ command: ContactsCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let own = command.body as? any OwnCommandBody
        guard let account = own?.account ?? context.account else { throw .accountRequired }
        switch command {
        case .account: break
        // Nobody made a mistake.
        case .reach, .tier(.beginNextTier), .alarm(.askForRenewal), .pingEscalation(.judgePings),
            .pingEscalation(.settleUnansweredPings):
            guard let row = rows.accounts[account], row.closed == nil else { return [] }
        default: try requireOpen(rows, account)
        }
        let clock = min(context.recordedAt, context.time)
        let asker = Asker(
            account: account, time: context.time, clock: clock,
            now: max(clock, min(rows.clock ?? clock, context.time)), command: context.commandID)
        let events =
            switch command {
            case .account(let command): try reduce(&rows, command, asker)
            case .code(let command): try reduce(&rows, command, asker)
            case .request(let command): try reduce(&rows, command, asker)
            case .relation(let command): try reduce(&rows, command, asker)
            case .role(let command): try reduce(&rows, command, asker)
            case .ping(let command): try reduce(&rows, command, asker)
            case .alarm(let command): try reduce(&rows, command, asker)
            case .reach(let command): reduce(&rows, command, asker)
            case .tier(let command): try reduce(&rows, command, asker)
            case .drill(let command): reduce(&rows, command, asker)
            case .pingEscalation(let command): try reduce(&rows, command, asker)
            }
        return (events + updateResponderReach(&rows, asker)).map { Emission($0) }
    }

    /// The account that asks, when, and by which command.
    struct Asker {
        let account: AccountID
        let time: Instant
        /// The same by the database's clock, of which the rules' time may be far ahead after a failover.
        let clock: Instant
        /// The database's clock while it is handled, if that is looked up: later than ``clock`` by as long as the command waited.
        let now: Instant
        let command: CommandID
    }

    static func requireOpen(_ rows: ContactsRows, _ account: AccountID, field: String? = nil) throws(Rejection) {
        guard let row = rows.accounts[account] else { throw .accountNotFound(field) }
        guard row.closed == nil else { throw .accountClosed(field) }
    }

    static func relation(
        _ rows: ContactsRows, _ asker: Asker, with contact: AccountID
    ) throws(Rejection) -> RelationView {
        if let row = rows[Pair(asker.account, contact)], contact != asker.account {
            return RelationView(row, of: asker.account, with: contact)
        }
        throw Rejection(.notContact, "This account isn't one of your contacts.", field: "contact")
    }
}
