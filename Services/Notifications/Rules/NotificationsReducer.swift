import QuartetContractSupport
package import QuartetNotificationsContract
package import QuartetVocabulary

/// The rules of notifications: what is delivered to an account, what of it is unread, and what its history keeps.
///
/// Only these rules change the unread count, together with the rows that it counts, and each event carries the new
/// count.
package enum NotificationsReducer: Reducer {
    package typealias State = NotificationsRows
    package typealias Command = NotificationsCommand
    package typealias Event = NotificationsEvent

    package static func reduce(
        _ rows: inout NotificationsRows, _ command: NotificationsCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<NotificationsEvent>] {
        let own = command.body as? any OwnCommandBody
        guard let account = own?.account ?? context.account else { throw .accountRequired }
        let (row, time) = (rows.accounts[account], context.time)
        switch command {
        case .account: break
        // A timer's command for a closed account is dropped, not rejected: no one made a mistake.
        case _ where own != nil: guard row?.closed == nil else { return [] }
        // The account is still unknown here, so it has no devices. A sign-out must not be rejected for that.
        case .push(.unregisterPush) where row == nil: return []
        default: try requireOpen(rows, account)
        }
        let events =
            switch command {
            case .account(let command): try reduce(&rows, command, account, time)
            case .delivery(let command): try reduce(&rows, command, account, context)
            case .scheduling(let command): try reduce(&rows, command, account, context)
            case .reading(let command): try reduce(&rows, command, account, context)
            case .push(let command): try reduce(&rows, command, account, time)
            }
        return events.map { Emission($0) }
    }

    private static func requireOpen(_ rows: NotificationsRows, _ account: AccountID) throws(Rejection) {
        guard let row = rows.accounts[account] else { throw .accountNotFound() }
        guard row.closed == nil else { throw .accountClosed() }
    }

}
