import QuartetContractSupport
import QuartetNotificationsContract
import QuartetVocabulary

extension NotificationsReducer {
    /// Delivers a notification now or, if much the same was delivered already, holds it back in place of the one held
    /// before.
    static func notify(
        _ rows: inout NotificationsRows, _ notification: QuartetNotification, to account: AccountID
    ) -> [NotificationsEvent] {
        guard rows.limits.burst > 0, let pace = notification.pace, rows[account, notification.id] == nil else {
            return deliver(&rows, notification, to: account)
        }
        let key = PaceKey(account, pace)
        if let held = rows.held[key] {
            // A late one is older news than the one held back.
            if let time = notification.id.time, let newest = held.id.time, time < newest { return [] }
            // The start of a session is taken back when its person comes, and the end of another one would be lost with it. They have
            // the invitation.
            if held.kind == .groupEnded, notification.kind == .groupStarted { return [] }
            if held.id != notification.id { rows.held[key] = notification.held(until: held.due) }
            return []
        }
        let now = notification.created
        let delivered = rows.history(of: account).lazy.filter { $0.pace == pace }.map(\.created)
        guard delivered.count(where: { $0 > now - rows.limits.burstWindow }) >= rows.limits.burst,
            let last = delivered.max(), last + rows.limits.burstInterval > now
        else { return deliver(&rows, notification, to: account) }
        rows.held[key] = notification.held(until: last + rows.limits.burstInterval)
        return []
    }

    static func deliver(
        _ rows: inout NotificationsRows, _ command: DeliverHeldNotification, _ time: Instant
    ) throws(Rejection) -> [NotificationsEvent] {
        let key = PaceKey(command.account, Pace(name: command.pace))
        guard let held = rows.held[key], held.due == command.due else { return [] }
        guard command.due <= time else {
            throw Rejection(.notDue, "This isn't due yet; send it in \((command.due - time).inWords).", field: "due")
        }
        rows.held[key] = nil
        return deliver(&rows, held.notification(at: time), to: command.account)
    }

    /// Drops held notifications that no longer apply, for example because a question was answered. A selection without
    /// kinds and a time refers to what was delivered, not to what is still to come.
    static func dropHeld(
        _ rows: inout NotificationsRows, _ selection: NotificationSelection, of account: AccountID, _ time: Instant
    ) {
        guard selection.kinds != nil, selection.occurredBy != nil else { return }
        for (key, held) in rows.held(for: account) where selection.matches(held.notification(at: time)) {
            rows.held[key] = nil
        }
    }
}

extension QuartetNotification {
    fileprivate func held(until due: Instant) -> ScheduledNotification {
        ScheduledNotification(id: id, kind: kind, subject: subject, details: details, due: due)
    }
}

extension ScheduledNotification {
    /// The notification as it is delivered.
    func notification(at time: Instant) -> QuartetNotification {
        QuartetNotification(id: id, kind: kind, subject: subject, details: details, created: time)
    }
}
