import ContractSupport
package import NotificationsContract
package import Vocabulary

/// The rules of notifications: what an account was told, what of it is unread, and what its history keeps.
///
/// Every change of the unread count is made here, together with the row that it counts, and said in the same event.
package enum NotificationsReducer: Reducer {
    /// The tables.
    package typealias State = NotificationsRows
    /// What can be asked.
    package typealias Command = NotificationsCommand
    /// What then happened.
    package typealias Event = NotificationsEvent

    /// Decides a command. A rejected one leaves the rows as they were.
    package static func reduce(
        _ rows: inout NotificationsRows, _ command: NotificationsCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<NotificationsEvent>] {
        let own = command.body as? any OwnCommandBody
        guard let account = own?.account ?? context.account else { throw .accountRequired }
        let (row, time) = (rows.accounts[account], context.time)
        switch command {
        case .account: break
        // A timer's command for a closed account is dropped, not refused: nobody did anything wrong.
        case _ where own != nil: guard row?.closed == nil else { return [] }
        // Nothing has been heard of the account yet, so it has no devices: a sign-out isn't refused.
        case .push(.unregisterPush) where row == nil: return []
        default: try requireOpen(rows, account)
        }
        let events =
            switch command {
            case .account(let command): try reduce(&rows, command, account, time)
            case .delivery(let command): try reduce(&rows, command, account, time)
            case .scheduling(let command): try reduce(&rows, command, account, time)
            case .reading(let command): try reduce(&rows, command, account, time)
            case .push(let command): try reduce(&rows, command, account, time)
            }
        return events.map { Emission($0) }
    }

    private static func reduce(
        _ rows: inout NotificationsRows, _ command: AccountCommand, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        switch command {
        case .openAccount: try open(&rows, account, time)
        case .closeAccount: close(&rows, account, time)
        }
    }

    private static func requireOpen(_ rows: NotificationsRows, _ account: AccountID) throws(Rejection) {
        guard let row = rows.accounts[account] else { throw .accountNotFound() }
        guard row.closed == nil else { throw .accountClosed() }
    }

    private static func open(
        _ rows: inout NotificationsRows, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        if let row = rows.accounts[account] {
            if row.closed != nil { throw .accountClosed() }
            throw Rejection(.accountExists, "This account's notifications already exist.")
        }
        rows.accounts[account] = AccountRow()
        return [.notificationsOpened(.init(account: account, at: time))]
    }

    /// Also closes an account that was never opened, so that an opening that arrives late opens nothing.
    private static func close(
        _ rows: inout NotificationsRows, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        if rows.accounts[account]?.closed != nil { return [] }
        for notification in rows.history(of: account) { rows[account, notification.id] = nil }
        for scheduled in rows.scheduled(for: account) { rows.scheduled[Place(account, scheduled.id)] = nil }
        for (place, _) in rows.held(for: account) { rows.held[place] = nil }
        for device in rows.knownDevices(of: account) { rows.unregister(PushPlace(account, device)) }
        rows.accounts[account] = AccountRow(closed: time)
        return [.notificationsClosed(.init(account: account, at: time))]
    }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: AccountCommand, of account: AccountID) {
        switch command {
        case .openAccount: break
        case .closeAccount:
            closing.insert(account)
            scheduling.insert(account)
            pushing.insert(account)
        }
    }
}
