import Bus
public import SessionContract
public import Vocabulary

/// A command that an account's state wants to be sent at a time.
public struct WantedTimer: Hashable, Sendable {
    /// When it is due.
    public let due: Instant
    /// What to send then, under the account's key, on behalf of nobody.
    public let command: SessionCommand
}

extension WantedTimer {
    /// The same for the bus. One name for what is wanted once at a time.
    var timed: TimedCommand {
        let name =
            switch command {
            case .checkIn(.remindCheckIn(let body)): "\(RemindCheckIn.type)/\(body.lead.rawValue)"
            case .alert(.repeatAlarm(let body)): "\(RepeatAlarm.type)/\(body.kind.rawValue)"
            default: type(of: command.body).type
            }
        return TimedCommand(command.body, name: name, due: due)
    }
}

extension SessionRows {
    /// The timers that an account's state wants now, by when they are due. A function of the state alone: whoever sets
    /// exactly these after each change has every deadline, and the rules drop what came too late to be true.
    public func wantedTimers(of account: AccountID) -> [WantedTimer] {
        guard let row = self[account] else { return [] }
        if let closed = row.closed {
            guard row.handle != nil else { return [] }
            return [.init(due: closed + limits.handleRest, command: .account(.freeHandle(.init(account: account))))]
        }
        var timers: [WantedTimer] = []
        if let oldest = row.oldestChange {
            timers.append(
                .init(
                    due: oldest + limits.undoWindow, command: .recovery(.forgetSecurityChanges(.init(account: account)))
                ))
        }
        if let due = row.checkIn.due, !row.checkIn.missed {
            timers.append(.init(due: due, command: .checkIn(.missCheckIn(.init(account: account, deadline: due)))))
            for lead in row.checkIn.usefulReminders
            where row.checkIn.reminded.map({ lead.interval < $0.interval }) ?? true {
                timers.append(
                    .init(
                        due: due - lead.interval,
                        command: .checkIn(.remindCheckIn(.init(account: account, deadline: due, lead: lead)))))
            }
        }
        if let alarm = row.checkIn.alarm, let lastAlarm = row.checkIn.lastAlarm {
            timers += repetition(of: alarm, .checkInMissed, after: row.checkIn.repetitions, lastAlarm, account)
        }
        if let alarm = row.alert.alarm, let waitsUntil = row.alert.waitsUntil {
            timers.append(
                .init(due: waitsUntil, command: .alert(.announceAlert(.init(account: account, alarm: alarm)))))
        }
        if let alarm = row.alert.alarm, let lastAlarm = row.alert.lastAlarm {
            timers += repetition(of: alarm, .alertRaised, after: row.alert.repetitions, lastAlarm, account)
        }
        return timers.sorted { $0.due < $1.due }
    }

    /// Counts from the last alarm, not from the beginning: after an outage one repetition is sent, not several at once.
    private func repetition(
        of alarm: AlarmID, _ kind: AlarmKind, after done: Int, _ lastAlarm: Instant, _ account: AccountID
    ) -> [WantedTimer] {
        guard done < limits.repetitions else { return [] }
        let next = RepeatAlarm(account: account, alarm: alarm, kind: kind, repetition: done + 1)
        return [.init(due: lastAlarm + limits.repetitionInterval, command: .alert(.repeatAlarm(next)))]
    }
}
