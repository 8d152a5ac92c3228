import QuartetContractSupport
import QuartetNotificationsContract
package import QuartetVocabulary

/// An account as notifications knows it.
package struct AccountRow: Equatable, Sendable {
    /// How many notifications are neither read nor cleared. The only place where they are counted.
    package var unread: Int
    /// The number of notifications in the history.
    package var total: Int
    /// When to look for notifications that are too old: no later than the oldest one expires. It may be earlier, if the
    /// one it was set for had to make room. Nil while the history is empty.
    package var forgetting: Instant?
    /// An account is never reopened.
    package var closed: Instant?

    package init(unread: Int = 0, total: Int = 0, forgetting: Instant? = nil, closed: Instant? = nil) {
        self.unread = unread
        self.total = total
        self.forgetting = forgetting
        self.closed = closed
    }
}

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: AccountCommand, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        switch command {
        case .openAccount: try open(&rows, account, time)
        case .closeAccount: close(&rows, account, time)
        }
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

    /// Also closes an account that was never opened, so that a late `OpenAccount` opens nothing.
    private static func close(
        _ rows: inout NotificationsRows, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        if rows.accounts[account]?.closed != nil { return [] }
        for notification in rows.history(of: account) { rows[account, notification.id] = nil }
        for scheduled in rows.scheduled(for: account) { rows.scheduled[NotificationKey(account, scheduled.id)] = nil }
        for (key, _) in rows.held(for: account) { rows.held[key] = nil }
        for device in rows.knownDevices(of: account) { rows.unregister(PushDeviceKey(account, device)) }
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
