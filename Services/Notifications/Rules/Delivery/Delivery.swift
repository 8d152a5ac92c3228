import ContractSupport
import NotificationsContract
import Vocabulary

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: DeliveryCommand, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        switch command {
        case .deliverNotification(let command): notify(&rows, command.notification(at: time), to: account)
        case .deliverHeldNotification(let command): try deliver(&rows, command, time)
        }
    }

    static func deliver(
        _ rows: inout NotificationsRows, _ notification: Notification, to account: AccountID
    ) -> [NotificationsEvent] {
        guard rows[account, notification.id] == nil, var row = rows.accounts[account] else { return [] }
        var forgotten: NotificationID?
        if row.total >= rows.limits.history, let evicted = rows.evicted(for: notification, of: account) {
            forgotten = evicted.id
            rows[account, evicted.id] = nil
            row.total -= 1
            row.unread -= evicted.isUnread ? 1 : 0
        }
        rows[account, notification.id] = notification
        rows.scheduled[NotificationKey(account, notification.id)] = nil
        row.total += 1
        row.unread += 1
        // The clock may have gone back since the oldest one arrived.
        let tooOld = notification.created + rows.limits.age
        row.forgetting = min(row.forgetting ?? tooOld, tooOld)
        // Overdue by an hour: its timer was lost with a command that was given up, so set it again.
        if let due = row.forgetting, due + .hours(1) < notification.created { rows.woken.insert(account) }
        rows.accounts[account] = row
        rows.push(notification, to: account, unread: row.unread)
        return [
            .notificationDelivered(
                .init(account: account, notification: notification, forgotten: forgotten, unread: row.unread))
        ]
    }
}

extension DeliverNotification {
    fileprivate func notification(at time: Instant) -> Notification {
        Notification(id: id, kind: kind, subject: subject, details: details, created: time)
    }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: DeliveryCommand, of account: AccountID) {
        switch command {
        case .deliverNotification(let command):
            deliver(command.id, to: account)
            if let pace = Pace(of: command.kind, about: command.subject) { paced.insert(PaceKey(account, pace)) }
        case .deliverHeldNotification:
            deliver(to: account)
            woken.insert(account)
        }
    }
}
