import ContractSupport
import NotificationsContract
import Vocabulary

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
            return notify(&rows, notification, to: account)
        case .deliverHeldNotification(let command): return try deliver(&rows, command, time)
        }
    }

    static func deliver(
        _ rows: inout NotificationsRows, _ notification: Notification, to account: AccountID
    ) -> [NotificationsEvent] {
        guard rows[account, notification.id] == nil, var row = rows.accounts[account] else { return [] }
        var forgotten: NotificationID?
        if row.total >= rows.limits.history(of: account), let evicted = rows.evicted(for: notification, of: account) {
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

extension NotificationKind {
    /// Whether it says that an alarm is on.
    fileprivate var beginsAlarm: Bool {
        switch self {
        case .alertRaised, .checkInMissed, .dependentAlertRaised, .dependentCheckInMissed: true
        default: false
        }
    }
}

extension Notification {
    /// Whose drill the account is told of.
    fileprivate var drilled: AccountID? { details.isOfDrill ? subject : nil }

    /// The drill of another that it says is over.
    fileprivate var endedDrill: DrillID? { details.drillNews == .anothersIsOver ? details.drill : nil }
}

extension NotificationsRows {
    /// Whether the account was notified of an alarm of a dependent since their drill began. Alarms overtake drills on the way here. Both ids have the
    /// time of session's rules; of the other times one is the clock's, which may be far behind after a failover.
    private func isOvertaken(_ drill: Notification, of dependent: AccountID, for account: AccountID) -> Bool {
        loadedNotifications(of: account).contains { alarm in
            guard alarm.kind.beginsAlarm, alarm.subject == dependent, let at = alarm.details.alarm?.time,
                let began = drill.details.drill?.time
            else { return false }
            return at >= began
        }
    }

    /// Whether a notification speaks of a grace, a trip, a question or a drill whose time is over, of a drill that an alarm has overtaken, or says
    /// that an alarm is on of whose end the account was notified already. A delivery that failed is tried again by itself, and so may come after it.
    fileprivate func isOver(_ notification: Notification, for account: AccountID, at clock: Instant) -> Bool {
        if let end = notification.details.endOfUse(of: notification.kind), end <= clock { return true }
        if let dependent = notification.drilled { return isOvertaken(notification, of: dependent, for: account) }
        // Of a drill that one never heard of, or has answered or cleared, there is nothing to take back. One that was read may still be on another device.
        if let drill = notification.endedDrill {
            guard let told = self[account, .ofDrill(drill, to: account)] else { return true }
            return told.cleared != nil || told.answered != nil
        }
        guard notification.kind.beginsAlarm, let alarm = notification.details.alarm else { return false }
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
            if command.details.isOfDrill, let dependent = command.subject {
                drills[account, default: []].insert(dependent)
            }
            if command.details.drillNews == .anothersIsOver, let drill = command.details.drill {
                named.insert(NotificationKey(account, .ofDrill(drill, to: account)))
            }
            if let pace = Pace(of: command.kind, about: command.subject) { paced.insert(PaceKey(account, pace)) }
        case .deliverHeldNotification:
            deliver(to: account)
            woken.insert(account)
        }
    }
}
