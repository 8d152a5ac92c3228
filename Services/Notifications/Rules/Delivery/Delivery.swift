import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: DeliveryCommand, _ account: AccountID, _ context: CommandContext
    ) throws(Rejection) -> [NotificationsEvent] {
        let time = context.time
        switch command {
        case .deliverNotification(let command):
            var notification = command.notification(at: time)
            // The rules' time may be far ahead of the clock after a failover. A push goes by the clock again.
            let clock = min(context.recordedAt, time)
            // Kept for the record, but it alarms nobody any more. Cleared rather than read, because nobody has seen it.
            if rows.isOver(notification, for: account, at: clock) { notification.cleared = time }
            let events = notify(&rows, notification, to: account)
            return notification.cleared == nil
                ? events + takeDrillsBack(&rows, becauseOf: notification, from: account, context) : events
        case .deliverHeldNotification(let command): return try deliver(&rows, command, time)
        }
    }

    static func deliver(
        _ rows: inout NotificationsRows, _ notification: QuartetNotification, to account: AccountID,
        makingRoom: Bool = true
    ) -> [NotificationsEvent] {
        guard rows[account, notification.id] == nil, var row = rows.accounts[account] else { return [] }
        var forgotten: NotificationID?
        if makingRoom, row.total >= rows.limits.history(of: account),
            let evicted = rows.evicted(for: notification, of: account)
        {
            forgotten = evicted.id
            rows[account, evicted.id] = nil
            row.total -= 1
            row.unread -= evicted.isUnread ? 1 : 0
        }
        rows[account, notification.id] = notification
        rows.scheduled[NotificationKey(account, notification.id)] = nil
        row.total += 1
        row.unread += notification.isUnread ? 1 : 0
        // The clock may have gone back since the oldest one arrived.
        let tooOld = notification.created + rows.limits.age
        row.forgetting = min(row.forgetting ?? tooOld, tooOld)
        // Overdue by an hour: its timer was lost with a command that was given up, so set it again.
        if let due = row.forgetting, due + .hours(1) < notification.created { rows.woken.insert(account) }
        rows.accounts[account] = row
        if notification.isUnread { rows.push(notification, to: account, unread: row.unread) }
        var told = notification
        told.details = notification.details.withoutReminder
        return [
            .notificationDelivered(
                .init(account: account, notification: told, forgotten: forgotten, unread: row.unread))
        ]
    }
}

extension DeliverNotification {
    fileprivate func notification(at time: Instant) -> QuartetNotification {
        QuartetNotification(id: id, kind: kind, subject: subject, details: details, created: time)
    }
}

extension NotificationKind {
    /// Whether it says that an alarm is on.
    var beginsAlarm: Bool { beginsOwnAlarm || beginsAnothersAlarm }

    var beginsOwnAlarm: Bool { self == .alertRaised || self == .checkInMissed }

    var beginsAnothersAlarm: Bool { self == .dependentAlertRaised || self == .dependentCheckInMissed }
}

extension NotificationsRows {
    /// Whether a notification is out of date: its grace, trip, question or drill is over, an alarm has voided the drill, or the account has already
    /// been notified of the end of its alarm. This happens because a failed delivery is retried on its own, after newer ones.
    fileprivate func isOver(_ notification: QuartetNotification, for account: AccountID, at clock: Instant) -> Bool {
        if let end = notification.details.endOfUse(of: notification.kind), end <= clock { return true }
        if notification.details.drillNews != nil { return isVoid(notification, for: account) }
        return notification.kind.beginsAlarm && isEnded(notification, for: account)
    }

    /// Whether the account was already notified of the end of a notification's alarm.
    func isEnded(_ notification: QuartetNotification, for account: AccountID) -> Bool {
        guard let alarm = notification.details.alarm else { return false }
        return loadedNotifications(of: account).contains { end in
            guard end.details.alarm == alarm else { return false }
            switch end.kind {
            case .alertCleared, .dependentAlertCleared, .dependentCheckedInLate: return true
            // It may have ended for this account only, which has become a responder again since.
            case .dependentAlarmEnded:
                guard let ended = end.id.time, let time = notification.id.time else { return false }
                return time < ended
            default: return false
            }
        }
    }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: DeliveryCommand, of account: AccountID) {
        switch command {
        case .deliverNotification(let command):
            deliver(command.id, to: account)
            if command.kind.beginsAlarm, let alarm = command.details.alarm {
                alarms[account, default: []].insert(alarm)
            }
            if command.kind.beginsAlarm { alarmed.insert(account) }
            if let drill = command.details.drill {
                if command.details.drillNews == .anothersIsOn || command.details.drillNews == .ownIsOn,
                    let start = NotificationsRows.alarmsMatter(to: drill)
                {
                    drilled[account] = min(drilled[account] ?? start, start)
                }
                named.insert(NotificationKey(account, .ofDrill(drill, to: account)))
            }
            if let pace = Pace(of: command.kind, about: command.subject) { paced.insert(PaceKey(account, pace)) }
        case .deliverHeldNotification:
            deliver(to: account)
            woken.insert(account)
        }
    }
}
