package import SessionContract
package import Vocabulary

extension SessionRows {
    /// The timers that an account's state wants now, by when they are due. A function of the state alone: whoever sets
    /// exactly these after each change has every deadline, and the rules drop what came too late to be true.
    package func wantedTimers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard let row = self[account] else { return [] }
        if let closed = row.closed {
            guard row.handle != nil else { return [] }
            return [WantedTimer(.account(.freeHandle(.init(account: account))), due: closed + limits.handleRest)]
        }
        var timers: [WantedTimer<SessionCommand>] = []
        if let oldest = row.oldestChange {
            timers.append(
                WantedTimer(
                    .recovery(.forgetSecurityChanges(.init(account: account))), due: oldest + limits.undoWindow))
        }
        if let due = row.checkIn.due, !row.checkIn.missed {
            timers.append(WantedTimer(.checkIn(.missCheckIn(.init(account: account, deadline: due))), due: due))
            for lead in row.checkIn.usefulReminders
            where row.checkIn.reminded.map({ lead.interval < $0.interval }) ?? true {
                timers.append(
                    WantedTimer(
                        .checkIn(.remindCheckIn(.init(account: account, deadline: due, lead: lead))),
                        due: due - lead.interval, part: lead.rawValue))
            }
        }
        if let alarm = row.checkIn.alarm, let lastAlarm = row.checkIn.lastAlarm {
            timers += repetition(of: alarm, .checkInMissed, after: row.checkIn.repetitions, lastAlarm, account)
        }
        if let alarm = row.alert.alarm, let waitsUntil = row.alert.waitsUntil {
            timers.append(
                WantedTimer(.alert(.announceAlert(.init(account: account, alarm: alarm))), due: waitsUntil))
        }
        if let alarm = row.alert.alarm, let lastAlarm = row.alert.lastAlarm {
            timers += repetition(of: alarm, .alertRaised, after: row.alert.repetitions, lastAlarm, account)
        }
        return timers.sorted { $0.due < $1.due }
    }

    /// Counts from the last alarm, not from the beginning: after an outage one repetition is sent, not several at once.
    private func repetition(
        of alarm: AlarmID, _ kind: AlarmKind, after done: Int, _ lastAlarm: Instant, _ account: AccountID
    ) -> [WantedTimer<SessionCommand>] {
        guard done < limits.repetitions else { return [] }
        let next = RepeatAlarm(account: account, alarm: alarm, kind: kind, repetition: done + 1)
        return [
            WantedTimer(.alert(.repeatAlarm(next)), due: lastAlarm + limits.repetitionInterval, part: kind.rawValue)
        ]
    }
}
