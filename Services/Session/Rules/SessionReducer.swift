import ContractSupport
package import SessionContract
package import Vocabulary

/// The rules of session: accounts and their devices, profiles, check-ins and alerts.
package enum SessionReducer: Reducer {
    /// The tables.
    package typealias State = SessionRows
    /// What can be asked.
    package typealias Command = SessionCommand
    /// What then happened.
    package typealias Event = SessionEvent

    /// Decides a command. A rejected one leaves the rows as they were.
    package static func reduce(
        _ rows: inout SessionRows, _ command: SessionCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<SessionEvent>] {
        let events =
            switch command {
            case .signIn(let command): try reduce(&rows, command, context)
            case .account(let command): try reduce(&rows, command, context)
            case .device(let command): try reduce(&rows, command, context)
            case .security(let command): try reduce(&rows, command, context)
            case .phone(let command): try reduce(&rows, command, context)
            case .recovery(let command): try reduce(&rows, command, context)
            case .avatar(let command): try reduce(&rows, command, context)
            case .checkIn(let command): try reduce(&rows, command, context)
            case .alert(let command): try reduce(&rows, command, context)
            }
        return events.map { Emission($0) }
    }

    /// The account that asks, which is open.
    static func asker(
        _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, row: AccountRow) {
        let asker = try knownAsker(rows, context)
        guard asker.row.closed == nil else { throw .accountClosed() }
        return asker
    }

    /// The account that asks, open or closed.
    static func knownAsker(
        _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, row: AccountRow) {
        guard let account = context.account else { throw .accountRequired }
        guard let row = rows[account] else { throw .accountNotFound() }
        return (account, row)
    }
}
