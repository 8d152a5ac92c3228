import Grammar
public import NotificationsContract
public import Vocabulary
import WorkingSet

/// The rules of notifications: what an account was told, what of it is unread, and what its history keeps.
///
/// Every change of the unread count is made here, together with the row that it counts, and said in the same event.
public enum NotificationsReducer: Reducer {
    /// The tables.
    public typealias State = NotificationsRows
    /// What can be asked.
    public typealias Command = NotificationsCommand
    /// What then happened.
    public typealias Event = NotificationsEvent

    /// Decides a command. A rejected one leaves the rows as they were.
    public static func reduce(
        _ rows: inout NotificationsRows, _ command: NotificationsCommand, _ context: CommandContext
    ) throws(Rejection) -> [Emission<NotificationsEvent>] {
        try command.command.validate()
        guard let account = command.account ?? context.account else { throw .accountRequired }
        let time = context.time
        let events: [NotificationsEvent]
        switch command {
        case .openAccount: events = try open(&rows, account, time)
        case .closeAccount: events = close(&rows, account, time)
        // Timers of a closed account are dropped, not refused: nobody did anything wrong.
        case .deliverScheduledNotification(let command):
            events = rows.accounts[account]?.closed == nil ? try deliver(&rows, command, time) : []
        case .deliverHeldNotification(let command):
            events = rows.accounts[account]?.closed == nil ? try deliver(&rows, command, time) : []
        case .forgetOldNotifications:
            events = rows.accounts[account]?.closed == nil ? forgetOld(&rows, account, time) : []
        case .deliverNotification(let command):
            try requireOpen(rows, account)
            let notification = Notification(
                id: command.id, kind: command.kind, subject: command.subject, details: command.details, created: time)
            events = tell(&rows, notification, to: account)
        case .scheduleNotification(let command):
            try requireOpen(rows, account)
            events = try schedule(&rows, command, account, time)
        case .cancelNotification(let command):
            try requireOpen(rows, account)
            events = cancel(&rows, command, account, time)
        case .markRead(let command):
            try requireOpen(rows, account)
            events = try markRead(&rows, command, account, time)
        case .markAllRead:
            try requireOpen(rows, account)
            events = markAllRead(&rows, account, time)
        case .clearNotifications(let command):
            try requireOpen(rows, account)
            events = clear(&rows, command.selection, account, time)
        case .showNotifications(let command):
            try requireOpen(rows, account)
            events = show(&rows, command, account, time)
        case .registerPush(let command):
            try requireOpen(rows, account)
            events = try registerPush(&rows, command, account, time)
        case .unregisterPush(let command):
            // An account of which nothing was heard yet has no devices either: whoever signs out isn't refused.
            if rows.accounts[account] != nil { try requireOpen(rows, account) }
            events = (command.device.map { [$0] } ?? rows.pushDevices(of: account)).flatMap {
                unregisterPush(&rows, $0, account, .asked, time, stillWarns: command.stillWarns ?? false)
            }
        // As those of timers: a closed account has no devices.
        case .forgetPush(let command): events = forgetPush(&rows, command, time)
        }
        return events.map { Emission($0, key: .account(account)) }
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
            throw Rejection(.accountExists, "This account's notifications are open already; use them.")
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

extension NotificationsCommand {
    /// The account that a command names which the service sends itself; nobody asks for those.
    var account: AccountID? {
        switch self {
        case .deliverScheduledNotification(let command): command.account
        case .deliverHeldNotification(let command): command.account
        case .forgetOldNotifications(let command): command.account
        case .forgetPush(let command): command.account
        default: nil
        }
    }
}
