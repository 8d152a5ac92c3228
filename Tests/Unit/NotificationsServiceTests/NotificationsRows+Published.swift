import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary

@testable import QuartetNotificationsRules

extension NotificationsRows {
    /// The account's published state: the same as the view `notifications.notifications_state` gives, and as
    /// folding the account's stream.
    func published(_ account: AccountID) -> NotificationsState {
        guard let row = accounts[account] else { return NotificationsState(account: account) }
        guard row.closed == nil else { return NotificationsState(account: account, isClosed: true) }
        return NotificationsState(
            account: account, unread: row.unread, notifications: history(of: account),
            scheduled: .init(scheduled(for: account)), pushDevices: pushDevices(of: account))
    }
}
