import ContractSupport
import NotificationsContract
import Vocabulary

extension NotificationsReducer {
    /// Delivers a notification now or, after much of the same, holds it back in place of what was held back before.
    static func tell(
        _ rows: inout NotificationsRows, _ notification: Notification, to account: AccountID
    ) -> [NotificationsEvent] {
        guard rows.limits.burst > 0, let pace = notification.pace, rows[account, notification.id] == nil else {
            return deliver(&rows, notification, to: account)
        }
        let place = PacePlace(account, pace)
        if let held = rows.held[place] {
            // What comes late says less than what is held back.
            if let time = notification.id.time, let newest = held.id.time, time < newest { return [] }
            if held.id != notification.id { rows.held[place] = notification.held(until: held.due) }
            return []
        }
        let now = notification.created
        let told = rows.history(of: account).lazy.filter { $0.pace == pace }.map(\.created)
        guard told.count(where: { $0 > now - rows.limits.burstWindow }) >= rows.limits.burst,
            let last = told.max(), last + rows.limits.burstInterval > now
        else { return deliver(&rows, notification, to: account) }
        rows.held[place] = notification.held(until: last + rows.limits.burstInterval)
        return []
    }

    /// Delivers what was held back.
    static func deliver(
        _ rows: inout NotificationsRows, _ command: DeliverHeldNotification, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        let place = PacePlace(command.account, Pace(name: command.pace))
        guard let held = rows.held[place], held.due == command.due else { return [] }
        guard command.due <= time else {
            throw Rejection(.notDue, "This isn't due yet; send it in \((command.due - time).inWords).", field: "due")
        }
        rows.held[place] = nil
        return deliver(&rows, held.notification(at: time), to: command.account)
    }

    /// Drops what is held back and over: what was asked and is answered, for example. What says no kinds and no time is
    /// about what was told, not about what will be.
    static func dropHeld(
        _ rows: inout NotificationsRows, _ selection: NotificationSelection, of account: AccountID, _ time: Instant
    ) {
        guard selection.kinds != nil, selection.occurredBy != nil else { return }
        for (place, held) in rows.held(for: account) where selection.matches(held.notification(at: time)) {
            rows.held[place] = nil
        }
    }
}

extension Notification {
    fileprivate func held(until due: Instant) -> ScheduledNotification {
        ScheduledNotification(id: id, kind: kind, subject: subject, details: details, due: due)
    }
}

extension ScheduledNotification {
    /// The same as it is delivered.
    func notification(at time: Instant) -> Notification {
        Notification(id: id, kind: kind, subject: subject, details: details, created: time)
    }
}
