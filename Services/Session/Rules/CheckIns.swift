import ContractSupport
package import SessionContract
package import Vocabulary

package struct CheckInRow: Equatable, Sendable {
    package var interval: Interval = CheckInRules.defaultInterval
    package var remindsTwoHours = true
    package var remindsThirtyMinutes = true
    package var last: Instant?
    /// When the next check-in is due, or when the missed one was. Nil for a closed account.
    package var due: Instant?
    /// The alarm that started when the deadline was missed.
    package var alarm: AlarmID?
    /// The latest reminder given for this deadline.
    package var reminded: ReminderLead?
    /// When responders were last alarmed.
    package var lastAlarm: Instant?
    /// How often the alarm was repeated.
    package var repetitions = 0
    package var repetitionHold = RepetitionHold()
    /// Since when the alarm has been held back for a check-in that waits to be handled, and when that is looked at again.
    package var hold: AlarmHold?

    /// Whether the deadline was missed and no check-in followed.
    package var missed: Bool { alarm != nil }

    /// Longest first.
    package var reminders: [ReminderLead] {
        (remindsTwoHours ? [.twoHours] : []) + (remindsThirtyMinutes ? [.thirtyMinutes] : [])
    }

    /// Leaves out reminders as long as the whole interval, which would come right after the check-in.
    var usefulReminders: [ReminderLead] { reminders.filter { $0.interval < interval } }

    /// Sets a new deadline and forgets what was done about the old one.
    mutating func move(to deadline: Instant) {
        due = deadline
        alarm = nil
        reminded = nil
        lastAlarm = nil
        repetitions = 0
        repetitionHold = RepetitionHold()
        hold = nil
    }

    /// Begins the alarm.
    mutating func miss(_ alarm: AlarmID, at time: Instant) {
        self.alarm = alarm
        lastAlarm = time
        hold = nil
    }
}

/// Holds the alarm of a missed check-in back for a moment. Both times are by the database's clock, not the rules' time, which
/// may be far ahead of it after a failover: timers go by the clock.
package struct AlarmHold: Equatable, Sendable {
    package var since: Instant
    package var reconsideredAt: Instant

    package init(since: Instant, reconsideredAt: Instant) {
        self.since = since
        self.reconsideredAt = reconsideredAt
    }
}

/// An account's first check-in that waits to be handled and hasn't expired.
package struct WaitingCheckIn: Equatable, Sendable {
    package var recordedAt: Instant
    /// The database's clock when that was looked up.
    package var seenAt: Instant

    package init(recordedAt: Instant, seenAt: Instant) {
        self.recordedAt = recordedAt
        self.seenAt = seenAt
    }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: CheckInCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .checkIn:
            let (account, row) = try asker(rows, context)
            return try checkIn(&rows, account, row, context)
        case .setCheckInInterval(let command):
            let (account, row) = try asker(rows, context)
            return try setInterval(&rows, command, account, row, context.time)
        case .setCheckInReminders(let command):
            let (account, row) = try asker(rows, context)
            return setReminders(&rows, command, account, row, context.time)
        case .missCheckIn(let command): return try expire(&rows, command, context)
        case .remindCheckIn(let command): return try remind(&rows, command, context.time)
        }
    }

    /// A check-in counts from when it was recorded, however long it waited to be handled.
    static func checkIn(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let time = min(max(context.recordedAt, row.checkIn.last ?? row.opened), context.time)
        var changed = row
        var events: [SessionEvent] = []
        // The timer's command may come later than this one. The deadline was missed all the same.
        if let deadline = row.checkIn.due, !row.checkIn.missed, deadline < time {
            // The rules' time may be far ahead of it after a failover, and the next alarm must not be older than this one.
            let alarm = newAlarm(context, at: time)
            changed.checkIn.miss(alarm, at: context.time)
            events.append(.checkInMissed(.init(account: account, alarm: alarm, deadline: deadline, at: time)))
        }
        // A missed check-in can be made up for at any time.
        if let last = row.checkIn.last, !changed.checkIn.missed, last + rows.limits.checkInCooldown > time {
            throw .tooSoon("You checked in", left: last + rows.limits.checkInCooldown - time)
        }
        let ended = changed.checkIn.missed ? row.checkIn.due : nil
        let alarm = changed.checkIn.alarm
        changed.checkIn.last = time
        changed.checkIn.move(to: time + row.checkIn.interval)
        rows[account] = changed
        return events + [
            .checkedIn(
                .init(account: account, due: time + row.checkIn.interval, ended: ended, alarm: alarm, at: time))
        ]
    }

    static func setInterval(
        _ rows: inout SessionRows, _ command: SetCheckInInterval, _ account: AccountID, _ row: AccountRow,
        _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard command.interval != row.checkIn.interval else { return [] }
        guard command.interval >= rows.limits.leastCheckInInterval else {
            throw Rejection(
                .invalidField, "Choose an interval from \(rows.limits.leastCheckInInterval.inWords) to 7 days.",
                field: "interval")
        }
        var changed = row
        changed.checkIn.interval = command.interval
        // A deadline that has passed is left to the timer, however late it fires.
        if let due = row.checkIn.due, !row.checkIn.missed, due > time {
            let next = (row.checkIn.last ?? row.opened) + command.interval
            changed.checkIn.move(to: next > time ? next : time + command.interval)
        }
        rows[account] = changed
        return [
            .checkInIntervalSet(
                .init(account: account, interval: command.interval, due: changed.checkIn.due, at: time))
        ]
    }

    static func setReminders(
        _ rows: inout SessionRows, _ command: SetCheckInReminders, _ account: AccountID, _ row: AccountRow,
        _ time: Instant
    ) -> [SessionEvent] {
        var changed = row
        changed.checkIn.remindsTwoHours = command.reminders.contains(.twoHours)
        changed.checkIn.remindsThirtyMinutes = command.reminders.contains(.thirtyMinutes)
        guard changed != row else { return [] }
        rows[account] = changed
        return [.checkInRemindersSet(.init(account: account, reminders: changed.checkIn.reminders, at: time))]
    }

    static func expire(
        _ rows: inout SessionRows, _ command: MissCheckIn, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let time = context.time
        guard let row = rows[command.account], row.closed == nil, row.checkIn.due == command.deadline,
            !row.checkIn.missed
        else { return [] }
        try requireDue(command.deadline, time)
        if let hold = hold(rows, command, row.checkIn) {
            rows[command.account]?.checkIn.hold = hold
            return []
        }
        let alarm = newAlarm(context, at: context.time)
        rows[command.account]?.checkIn.miss(alarm, at: time)
        return [.checkInMissed(.init(account: command.account, alarm: alarm, deadline: command.deadline, at: time))]
    }

    /// How long the alarm still waits, if a check-in that was recorded in time waits to be handled. Timers' commands overtake
    /// others, which an outage may have kept waiting; but nothing holds an alarm back for long.
    private static func hold(
        _ rows: SessionRows, _ command: MissCheckIn, _ row: CheckInRow
    ) -> AlarmHold? {
        guard let waiting = rows.waitingCheckIns[command.account], waiting.recordedAt <= command.deadline else {
            return nil
        }
        let since = row.hold?.since ?? waiting.seenAt
        // A clock that went back doesn't make it longer.
        guard since <= waiting.seenAt, waiting.seenAt < since + rows.limits.longestHold else { return nil }
        return AlarmHold(since: since, reconsideredAt: waiting.seenAt + rows.limits.holdPause)
    }

    static func remind(
        _ rows: inout SessionRows, _ command: RemindCheckIn, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, row.checkIn.due == command.deadline,
            !row.checkIn.missed, command.deadline > time, row.checkIn.usefulReminders.contains(command.lead)
        else { return [] }
        // A shorter reminder was given already, or is due as well and says more.
        if let reminded = row.checkIn.reminded, reminded.interval <= command.lead.interval { return [] }
        try requireDue(command.deadline - command.lead.interval, time)
        let later = row.checkIn.usefulReminders.filter { $0.interval < command.lead.interval }
        if later.contains(where: { command.deadline - $0.interval <= time }) { return [] }
        rows[command.account]?.checkIn.reminded = command.lead
        return [
            .checkInReminded(
                .init(account: command.account, deadline: command.deadline, lead: command.lead, at: time))
        ]
    }

}
