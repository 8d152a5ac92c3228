import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// The rules of session: accounts and their devices, profiles, check-ins and alerts; group sessions with games, messages, shared
/// playback and attachments.
package enum SessionReducer: Reducer {
    package typealias State = SessionRows
    package typealias Command = SessionCommand
    package typealias Event = SessionEvent

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
            case .trip(let command): try reduce(&rows, command, context)
            case .drill(let command): try reduce(&rows, command, context)
            case .group(let command): try reduce(&rows, command, context)
            case .presence(let command): try reduce(&rows, command, context)
            case .game(let command): try reduce(&rows, command, context)
            case .message(let command): try reduce(&rows, command, context)
            case .playback(let command): try reduce(&rows, command, context)
            case .attachment(let command): try reduce(&rows, command, context)
            }
        return (events + endDrills(&rows, because: events, at: context.time)).map { event in
            // A check-in that was late begins and ends the alarm in one: its result is still the check-in.
            if case .checkedIn = event { Emission(event, isResult: true) } else { Emission(event) }
        }
    }

    /// The asking account, which must be open.
    static func asker(
        _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, row: AccountRow) {
        let asker = try knownAsker(rows, context)
        guard asker.row.closed == nil else { throw .accountClosed() }
        return asker
    }

    /// The asking account, open or closed.
    static func knownAsker(
        _ rows: SessionRows, _ context: CommandContext
    ) throws(Rejection) -> (account: AccountID, row: AccountRow) {
        guard let account = context.account else { throw .accountRequired }
        guard let row = rows[account] else { throw .accountNotFound() }
        return (account, row)
    }

    static func requireDue(_ due: Instant, _ time: Instant) throws(Rejection) {
        guard due <= time else {
            throw Rejection(.notDue, "This isn't due yet; send it in \((due - time).inWords).")
        }
    }
}
