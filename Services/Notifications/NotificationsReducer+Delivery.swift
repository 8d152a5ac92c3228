import Grammar
import NotificationsContract
import Vocabulary
import WorkingSet

extension NotificationsReducer {
    static func deliver(
        _ rows: inout NotificationsRows, _ notification: Notification, to account: AccountID
    ) -> [NotificationsEvent] {
        guard rows[account, notification.id] == nil, var row = rows.accounts[account] else { return [] }
        var forgotten: NotificationID?
        if row.total >= rows.limits.history, let oldest = rows.oldest(of: account) {
            forgotten = oldest.id
            rows[account, oldest.id] = nil
            row.total -= 1
            row.unread -= oldest.isUnread ? 1 : 0
        }
        rows[account, notification.id] = notification
        rows.scheduled[Place(account, notification.id)] = nil
        row.total += 1
        row.unread += 1
        // The clock may have gone back since the first one came.
        let tooOld = notification.created + rows.limits.age
        row.forgetting = min(row.forgetting ?? tooOld, tooOld)
        // Overdue by an hour: its timer was lost with a command that was given up, so it is set again.
        if let due = row.forgetting, due + .hours(1) < notification.created { rows.woken.insert(account) }
        rows.accounts[account] = row
        rows.push(notification, to: account, unread: row.unread)
        return [
            .notificationDelivered(
                .init(account: account, notification: notification, forgotten: forgotten, unread: row.unread))
        ]
    }

    static func schedule(
        _ rows: inout NotificationsRows, _ command: ScheduleNotification, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        let place = Place(account, command.id)
        guard rows.scheduled[place] == nil, rows[account, command.id] == nil else { return [] }
        guard command.due > time else {
            throw Rejection(.invalidField, "Choose a time in the future.", field: "due")
        }
        guard command.due <= time + rows.limits.ahead else {
            throw Rejection(.invalidField, "Choose a time at most \(rows.limits.ahead.inWords) ahead.", field: "due")
        }
        guard rows.scheduled(for: account).count < rows.limits.scheduled else {
            throw Rejection(
                .limitReached,
                "\(rows.limits.scheduled) notifications are scheduled, as many as there may be; cancel one first.")
        }
        let scheduled = ScheduledNotification(
            id: command.id, kind: command.kind, subject: command.subject, details: command.details, due: command.due)
        rows.scheduled[place] = scheduled
        return [.notificationScheduled(.init(account: account, scheduled: scheduled))]
    }

    static func cancel(
        _ rows: inout NotificationsRows, _ command: CancelNotification, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        let place = Place(account, command.id)
        guard rows.scheduled[place] != nil else { return [] }
        rows.scheduled[place] = nil
        return [.scheduledNotificationCancelled(.init(account: account, id: command.id, at: time))]
    }

    /// What a timer was set for is done only if it is still so.
    static func deliver(
        _ rows: inout NotificationsRows, _ command: DeliverScheduledNotification, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        guard let scheduled = rows.scheduled[Place(command.account, command.id)], scheduled.due == command.due
        else { return [] }
        guard command.due <= time else {
            throw Rejection(.notDue, "Send this when it is due, in \((command.due - time).inWords).", field: "due")
        }
        return deliver(&rows, scheduled.notification(at: time), to: command.account)
    }
}
