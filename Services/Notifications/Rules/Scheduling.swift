import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary

extension NotificationsReducer {
    static func reduce(
        _ rows: inout NotificationsRows, _ command: SchedulingCommand, _ account: AccountID, _ context: CommandContext
    ) throws(Rejection) -> [NotificationsEvent] {
        let time = context.time
        return switch command {
        case .scheduleNotification(let command): try schedule(&rows, command.scheduled, account, context)
        case .cancelNotification(let command): cancel(&rows, command.id, account, time)
        case .scheduleReminder(let command): try schedule(&rows, command.scheduled, account, context)
        case .cancelReminder(let command): cancel(&rows, command.id, account, time)
        case .deliverScheduledNotification(let command): try deliver(&rows, command, time)
        }
    }

    static func schedule(
        _ rows: inout NotificationsRows, _ scheduled: ScheduledNotification, _ account: AccountID,
        _ context: CommandContext
    ) throws(Rejection) -> [NotificationsEvent] {
        let key = NotificationKey(account, scheduled.id)
        guard rows.scheduled[key] == nil, rows[account, scheduled.id] == nil else { return [] }
        // What was asked for in time is delivered, however late it is handled. The rules' time may also be far ahead of the clock after a failover.
        let asked = min(context.recordedAt, context.time)
        guard scheduled.due > asked else {
            throw Rejection(.invalidField, "Choose a time in the future.", field: "due")
        }
        let (days, most, daily) = (rows.limits.daysAhead, rows.limits.scheduled, rows.limits.dailyReminders)
        guard scheduled.due <= asked + .days(days) else {
            throw Rejection(.invalidField, "Choose a time at most \(days) days ahead.", field: "due")
        }
        guard rows.scheduled(for: account).count < most else {
            throw Rejection(.limitReached, "At most \(most) reminders can be open; take one back first.")
        }
        guard !scheduled.details.isReminder || rows.hasRoom(forReminderAt: scheduled.due, for: account) else {
            throw Rejection(
                .limitReached, "At most \(daily) reminders can come within 24 hours; choose another time.",
                field: "due")
        }
        rows.scheduled[key] = scheduled
        return [.notificationScheduled(.init(account: account, scheduled: scheduled))]
    }

    static func cancel(
        _ rows: inout NotificationsRows, _ id: NotificationID, _ account: AccountID, _ time: Instant
    ) -> [NotificationsEvent] {
        let key = NotificationKey(account, id)
        guard rows.scheduled[key] != nil else { return [] }
        rows.scheduled[key] = nil
        return [.scheduledNotificationCancelled(.init(account: account, id: id, at: time))]
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

extension ScheduleNotification {
    fileprivate var scheduled: ScheduledNotification {
        ScheduledNotification(id: id, kind: kind, subject: subject, details: details, due: due)
    }
}

extension NotificationsRows {
    /// Whether no more than ``NotificationsLimits/dailyReminders`` come within any 24 hours if one comes at this time, too. Those that were taken
    /// back never came.
    fileprivate func hasRoom(forReminderAt due: Instant, for account: AccountID) -> Bool {
        let others =
            scheduled(for: account).lazy.filter(\.details.isReminder).map(\.due)
            + loadedNotifications(of: account).lazy.filter(\.details.isReminder).map(\.created)
        let near = (others.filter { $0 > due - .days(1) && $0 < due + .days(1) } + [due]).sorted()
        return zip(near, near.dropFirst(limits.dailyReminders)).allSatisfy { first, last in last >= first + .days(1) }
    }
}

extension NotificationsRows.Selection {
    mutating func add(_ command: SchedulingCommand, of account: AccountID) {
        switch command {
        case .scheduleNotification(let command): schedule(command.id, for: account)
        case .scheduleReminder(let command):
            schedule(command.id, for: account)
            // Whatever time it is, it isn't refused before the rules have seen it, and the tables can't be asked for just any.
            reminded[account, default: []].insert(min(max(command.due, Self.earliest), Self.latest))
        case .cancelNotification, .cancelReminder: scheduling.insert(account)
        case .deliverScheduledNotification(let command):
            deliver(command.id, to: account)
            woken.insert(account)
        }
    }

    private static var earliest: Instant { Instant(microseconds: 0) }
    /// The year 10000.
    private static var latest: Instant { Instant(microseconds: 253_402_300_800_000_000) }

    private mutating func schedule(_ id: NotificationID, for account: AccountID) {
        named.insert(NotificationKey(account, id))
        scheduling.insert(account)
    }
}
