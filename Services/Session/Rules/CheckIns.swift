import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

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
    /// How long after a deadline others hear of it.
    package var grace: Interval = .seconds(0)
    /// The deadline that has passed, after which the grace below isn't changed by anything. It says nothing about another: a process
    /// of an earlier release moves the deadline without changing this.
    package var gracedDeadline: Instant?
    package var graceEnds: Instant?
    package var pause = CheckInPause()
    /// See ``daily``.
    package var keptDaily: DailyRow?
    package var dailyChanges = DailyChangeCount()
    /// Counts the changes of the interval and of daily times.
    package var version: Int64 = 0
    /// Since when the alarm has been held back for a check-in that waits to be handled, and when that is looked at again.
    package var hold: AlarmHold?

    /// Whether the deadline was missed and no check-in followed.
    package var missed: Bool { alarm != nil }

    /// When others hear that the deadline was missed.
    var othersHear: Instant? { due.map { fixedGraceEnd ?? $0 + grace } }

    /// When the grace ends of a deadline that has passed; nil if nothing has been made of it yet.
    var fixedGraceEnd: Instant? { due != nil && gracedDeadline == due ? graceEnds : nil }

    /// While only the person knows that the deadline has passed: when others hear of it.
    package var shownGraceEnd: Instant? {
        missed ? nil : fixedGraceEnd.flatMap { end in due.map { end > $0 } == true ? end : nil }
    }

    /// Longest first.
    package var reminders: [ReminderLead] {
        (remindsTwoHours ? [.twoHours] : []) + (remindsThirtyMinutes ? [.thirtyMinutes] : [])
    }

    /// Leaves out reminders as long as the whole interval, which would come right after the check-in, and those that would come when a
    /// check-in doesn't count yet.
    var usefulReminders: [ReminderLead] {
        guard let due, let opens else { return reminders.filter { $0.interval < interval } }
        return reminders.filter { due - $0.interval >= opens }
    }

    /// Sets a new deadline and forgets what was done about the old one.
    mutating func move(to deadline: CheckInDeadline, at time: Instant) {
        due = deadline.due
        daily?.take(deadline, at: time)
        alarm = nil
        reminded = nil
        lastAlarm = nil
        repetitions = 0
        repetitionHold = RepetitionHold()
        hold = nil
        (gracedDeadline, graceEnds) = (nil, nil)
        pause.until = nil
    }

    /// From now on nothing changes when others hear of the deadline.
    mutating func fixGrace() { (gracedDeadline, graceEnds) = (due, othersHear) }

    /// Begins the alarm.
    mutating func miss(_ alarm: AlarmID, at time: Instant) {
        self.alarm = alarm
        lastAlarm = time
        hold = nil
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
            return try setInterval(&rows, command, account, row, context)
        case .setCheckInReminders(let command):
            let (account, row) = try asker(rows, context)
            return setReminders(&rows, command, account, row, context.time)
        case .setCheckInGrace(let command):
            let (account, row) = try asker(rows, context)
            return setGrace(&rows, command, account, row, context)
        case .setDailyCheckIns(let command):
            let (account, row) = try asker(rows, context)
            return try setDaily(&rows, command, account, row, context)
        case .reviewDailyCheckIns(let command): return reviewDaily(&rows, command, context)
        case .pauseCheckIns(let command):
            let (account, row) = try asker(rows, context)
            return try pause(&rows, command, account, row, context)
        case .resumeCheckIns:
            let (account, row) = try asker(rows, context)
            return resume(&rows, account, row, context)
        case .endPause(let command): return try endPause(&rows, command, context.time)
        case .remindPause(let command): return try remindPause(&rows, command, context)
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
        if let deadline = row.checkIn.due, let hear = row.checkIn.othersHear, !row.checkIn.missed, hear < time {
            // The rules' time may be far ahead of it after a failover, and the next alarm must not be older than this one.
            let alarm = newAlarm(context, at: time)
            events += changed.checkIn.endPause(of: account, at: time)
            changed.checkIn.miss(alarm, at: context.time)
            events.append(missed(account, alarm, deadline, hear, at: time))
        }
        // One that is due, or was missed, can be made up for at any time; and an earlier one that counted for nothing is in nobody's way.
        let isDue = row.checkIn.due.map { $0 <= time } ?? false
        let isEarly = row.checkIn.isEarly(at: time)
        let counts = row.checkIn.opens != nil && !isEarly
        if let last = row.checkIn.last, !changed.checkIn.missed, !isDue, !counts,
            !row.isAnswering(byCheckInAt: time), last + rows.limits.checkInCooldown > time
        {
            throw .tooSoon("You checked in", left: last + rows.limits.checkInCooldown - time)
        }
        let isOver = changed.checkIn.missed
        let ended = isOver ? row.checkIn.due : nil
        let graced = row.checkIn.shownGraceEnd == nil ? nil : row.checkIn.due
        let alarm = isOver ? changed.checkIn.alarm : nil
        changed.checkIn.last = time
        let clock = min(context.recordedAt, context.time)
        let next = row.checkIn.next(afterCheckInAt: time, clock, rows)
        if let until = changed.checkIn.pausedUntil, until > clock,
            row.checkIn.daily != nil || next.due == row.checkIn.due
        {
            // It is shown, and the pause goes on.
            changed.checkIn.moveInPause(to: next, at: time)
            changed.checkIn.pause.restart(at: time)
        } else {
            // Its timer's command comes later than this one.
            if changed.checkIn.pausedUntil != nil {
                events.append(
                    .checkInsResumed(
                        .init(account: account, due: next.due, isEarly: false, opens: next.opens, at: time)))
            }
            if !isEarly { changed.checkIn.move(to: next, at: time) }
            changed.checkIn.pause = row.checkIn.pause.forgotten
        }
        rows[account] = changed
        let answered = changed.unanswered == nil ? [] : answerPings(&rows, of: account, said: time, context.time)
        // An earlier check-in, made while the clock was ahead, doesn't hide when this one was.
        if clock < time {
            var unanswered = rows[account]?.unanswered ?? UnansweredRow()
            unanswered.hear(said: clock)
            rows[account]?.unanswered = unanswered
        }
        let checkedIn = CheckedIn(
            account: account, due: next.due, ended: ended, alarm: alarm, graced: graced, opens: next.opens,
            isEarly: isEarly ? true : nil, at: time)
        return events + [.checkedIn(checkedIn)] + answered
    }

    static func setInterval(
        _ rows: inout SessionRows, _ command: SetCheckInInterval, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let time = context.time
        if let expected = command.expectedVersion, expected != row.checkIn.version {
            throw .staleVersion(expected: expected, current: row.checkIn.version)
        }
        guard command.interval != row.checkIn.interval || row.checkIn.daily != nil else { return [] }
        guard command.interval >= rows.limits.leastCheckInInterval else {
            throw Rejection(
                .invalidField, "Choose an interval from \(rows.limits.leastCheckInInterval.inWords) to 7 days.",
                field: "interval")
        }
        var changed = row
        // People were told of its end by the clock.
        let ended = changed.checkIn.endPause(of: account, at: min(context.recordedAt, time))
        changed.checkIn.interval = command.interval
        changed.checkIn.keptDaily = nil
        changed.checkIn.version += 1
        // A deadline that has passed is left to the timer, however late it fires.
        if let until = changed.checkIn.pause.until, ended.isEmpty, row.checkIn.pausedUntil == until {
            changed.checkIn.due = until + command.interval
            changed.checkIn.reminded = nil
            // What was said of the deadline isn't true any more.
            changed.checkIn.pause.isReminded = false
        } else if let due = row.checkIn.due, !row.checkIn.missed, due > time {
            // From the last check-in, or from the end of a pause after it.
            let last = row.checkIn.last ?? row.opened
            let pause = changed.checkIn.pause
            let begun = pause.until == nil ? max(last, pause.since ?? last) : last
            let next = begun + command.interval
            // Shorter and longer in turn puts nothing off for ever.
            let longest = max(begun + CheckInRules.intervals.upperBound, due)
            let chosen = next > time ? next : min(time + command.interval, longest)
            let isSafe = row.checkIn.daily != nil && due < time + DailySequence.safe
            changed.checkIn.move(to: CheckInDeadline(due: isSafe ? min(due, chosen) : chosen), at: time)
        }
        rows[account] = changed
        return ended + [
            .checkInIntervalSet(
                .init(
                    account: account, interval: command.interval, due: changed.checkIn.due,
                    version: changed.checkIn.version, at: time))
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
            !row.checkIn.missed, let hear = row.checkIn.othersHear
        else { return [] }
        try requireDue(command.deadline, time)
        // The rules' time may be far ahead of the clock after a failover, by which people were told when others hear.
        let clock = min(max(context.recordedAt, command.deadline), time)
        // A process of an earlier release sets the timer for the deadline once more.
        if row.checkIn.fixedGraceEnd != nil, hear > clock {
            rows.woken.insert(command.account)
            return []
        }
        if let hold = hold(rows, rows.waitingCheckIns[command.account], row.checkIn.hold, until: hear) {
            rows[command.account]?.checkIn.hold = hold
            return []
        }
        guard hear <= clock else { return beginGrace(&rows, command.account, time) }
        let alarm = newAlarm(context, at: context.time)
        let ended = rows[command.account]?.checkIn.endPause(of: command.account, at: time) ?? []
        rows[command.account]?.checkIn.miss(alarm, at: time)
        return ended + [missed(command.account, alarm, command.deadline, hear, at: time)]
    }

    /// Tells the person, and nobody else, that the deadline has passed.
    private static func beginGrace(_ rows: inout SessionRows, _ account: AccountID, _ time: Instant) -> [SessionEvent] {
        let over = rows[account]?.checkIn.endPause(of: account, at: time) ?? []
        rows[account]?.checkIn.fixGrace()
        // A check-in that comes now has a minute of its own.
        rows[account]?.checkIn.hold = nil
        guard let row = rows[account]?.checkIn, let deadline = row.due, let ends = row.graceEnds else { return over }
        return over + [.checkInGraceBegan(.init(account: account, deadline: deadline, ends: ends, at: time))]
    }

    private static func missed(
        _ account: AccountID, _ alarm: AlarmID, _ deadline: Instant, _ hear: Instant, at time: Instant
    ) -> SessionEvent {
        .checkInMissed(
            .init(
                account: account, alarm: alarm, deadline: deadline, graceEnded: hear > deadline ? hear : nil, at: time))
    }

    /// A deadline that has passed keeps its grace, however late the timer fires.
    static func setGrace(
        _ rows: inout SessionRows, _ command: SetCheckInGrace, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) -> [SessionEvent] {
        let time = context.time
        guard command.grace != row.checkIn.grace else { return [] }
        var events: [SessionEvent] = []
        if let due = row.checkIn.due, let hear = row.checkIn.othersHear, !row.checkIn.missed,
            due <= min(context.recordedAt, time),
            row.checkIn.fixedGraceEnd == nil
        {
            // One that is over already is said all the same: the alarm follows at once.
            if hear > due {
                events = beginGrace(&rows, account, time)
            } else {
                rows[account]?.checkIn.fixGrace()
            }
        }
        rows[account]?.checkIn.grace = command.grace
        return events + [.checkInGraceSet(.init(account: account, grace: command.grace, at: time))]
    }

    static func hold(
        _ rows: SessionRows, _ waiting: WaitingCommand?, _ begun: AlarmHold?, from start: Instant? = nil,
        until end: Instant
    ) -> AlarmHold? {
        AlarmHold(
            for: waiting, begun: begun, from: start, until: end, longest: rows.limits.longestHold,
            pause: rows.limits.holdPause)
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
