import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: SchedulingCommand, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        switch command {
        case .scheduleNotification(let command): try schedule(&rows, command, account, time)
        case .cancelNotification(let command): cancel(&rows, command, account, time)
        case .deliverScheduledNotification(let command): try deliver(&rows, command, time)
        }
    }

    static func schedule(
        _ rows: inout NotificationsRows, _ command: ScheduleNotification, _ account: AccountID, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        let key = NotificationKey(account, command.id)
        guard rows.scheduled[key] == nil, rows[account, command.id] == nil else { return [] }
        guard command.due > time else {
            throw Rejection(.invalidField, "Choose a time in the future.", field: "due")
        }
        guard command.due <= time + rows.limits.ahead else {
            throw Rejection(.invalidField, "Choose a time at most \(rows.limits.ahead.inWords) ahead.", field: "due")
        }
        guard rows.scheduled(for: account).count < rows.limits.scheduled else {
            throw Rejection(
                .limitReached,
                "At most \(rows.limits.scheduled) notifications can be scheduled; cancel one first.")
        }
        let scheduled = ScheduledNotification(
            id: command.id, kind: command.kind, subject: command.subject, details: command.details, due: command.due)
        rows.scheduled[key] = scheduled
        return [.notificationScheduled(.init(account: account, scheduled: scheduled))]
    }

    static func cancel(
        _ rows: inout NotificationsRows, _ command: CancelNotification, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        let key = NotificationKey(account, command.id)
        guard rows.scheduled[key] != nil else { return [] }
        rows.scheduled[key] = nil
        return [.scheduledNotificationCancelled(.init(account: account, id: command.id, at: time))]
    }

    /// Delivers only what is still scheduled for the time that the timer was set for.
    static func deliver(
        _ rows: inout NotificationsRows, _ command: DeliverScheduledNotification, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        guard let scheduled = rows.scheduled[NotificationKey(command.account, command.id)], scheduled.due == command.due
        else { return [] }
        guard command.due <= time else {
            throw Rejection(.notDue, "This isn't due yet; send it in \((command.due - time).inWords).", field: "due")
        }
        return deliver(&rows, scheduled.notification(at: time), to: command.account)
    }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: SchedulingCommand, of account: AccountID) {
        switch command {
        case .scheduleNotification(let command):
            named.insert(NotificationKey(account, command.id))
            scheduling.insert(account)
        case .cancelNotification: scheduling.insert(account)
        case .deliverScheduledNotification(let command):
            deliver(command.id, to: account)
            woken.insert(account)
        }
    }
}
