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
    }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: CheckInCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .checkIn:
            let (account, row) = try asker(rows, context)
            return try checkIn(&rows, account, row, context.time)
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

    static func checkIn(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        // A missed check-in can be made up for at any time.
        if let last = row.checkIn.last, !row.checkIn.missed, last + rows.limits.checkInCooldown > time {
            throw .tooSoon("You checked in", left: last + rows.limits.checkInCooldown - time)
        }
        var changed = row
        let ended = row.checkIn.missed ? row.checkIn.due : nil
        let alarm = row.checkIn.alarm
        changed.checkIn.last = time
        changed.checkIn.move(to: time + row.checkIn.interval)
        rows[account] = changed
        return [
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
        let alarm = newAlarm(context)
        rows[command.account]?.checkIn.alarm = alarm
        rows[command.account]?.checkIn.lastAlarm = time
        return [.checkInMissed(.init(account: command.account, alarm: alarm, deadline: command.deadline, at: time))]
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
