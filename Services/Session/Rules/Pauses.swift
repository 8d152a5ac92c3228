import QuartetContractSupport
import QuartetSessionContract
package import QuartetVocabulary

/// A pause of check-ins: the next deadline is an interval after its end, or the first daily time after it.
package struct CheckInPause: Equatable, Sendable {
    /// When it ends; nil while there is none. It says nothing if the deadline isn't an interval later, or the one that daily times made
    /// after it: a process of an earlier release moves that without changing this.
    package var until: Instant?
    /// From when it counts: its beginning or the last change of its end or, if that was later, the last check-in. Without a pause, when
    /// the last one ended: from then on the deadline counts. Nil after a check-in.
    package var since: Instant?
    /// How long check-ins were paused before that and since the last one.
    package var used: Interval = .seconds(0)
    /// The start of the day in which beginnings and changes are counted.
    package var countedSince: Instant?
    package var count = 0
    package var isReminded = false

    package init() {}

    /// What is left of it once the person has checked in and no pause goes on.
    var forgotten: Self {
        var rest = Self()
        (rest.countedSince, rest.count) = (countedSince, count)
        return rest
    }

    /// Counts a beginning or a change, each of which responders hear of. Returns how long to wait if there were too many.
    mutating func count(at time: Instant, _ limits: SessionLimits) -> Interval? {
        if countedSince.map({ $0 + .days(1) <= time }) ?? true { (countedSince, count) = (time, 0) }
        guard count < limits.pausesADay else { return countedSince.map { $0 + .days(1) - time } }
        count += 1
        return nil
    }

    /// How long before its end the person is reminded.
    static let lead: Interval = .hours(1)

    /// For how long check-ins have been paused without one.
    func used(by time: Instant) -> Interval {
        guard let since, let until else { return used }
        return Interval(microseconds: used.microseconds + max((min(time, until) - since).microseconds, 0))
    }

    /// Somebody checked in while it goes on.
    mutating func restart(at time: Instant) { (since, used) = (time, .seconds(0)) }

    mutating func end(at time: Instant) {
        used = used(by: time)
        (until, since, isReminded) = (nil, until.map { min($0, time) }, false)
    }
}

extension CheckInRow {
    /// Until when check-ins are paused; nil if they aren't.
    package var pausedUntil: Instant? {
        guard !missed, let until = pause.until else { return nil }
        let isItsOwn = ownDaily.map { $0.paused == until } ?? (due == until + interval)
        return isItsOwn ? until : nil
    }

    /// Ends a pause that is over, if its timer's command comes later. The deadline stays.
    mutating func endPause(of account: AccountID, at time: Instant) -> [SessionEvent] {
        guard let until = pausedUntil, until <= time, let due else { return [] }
        pause.end(at: time)
        return [.checkInsResumed(.init(account: account, due: due, isEarly: false, opens: opens, at: time))]
    }

    /// Sets another deadline of a pause that goes on.
    mutating func moveInPause(to deadline: CheckInDeadline, at time: Instant) {
        guard deadline.due != due else { return }
        let pause = pause
        move(to: deadline, at: time)
        self.pause = pause
        daily?.paused = pause.until
    }

    func pauseTimers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard let until = pausedUntil else { return [] }
        let end = WantedTimer(SessionCommand.checkIn(.endPause(.init(account: account, until: until))), due: until)
        guard !pause.isReminded, let since = pause.since, since < until - CheckInPause.lead else { return [end] }
        let reminder = RemindPause(account: account, until: until)
        return [WantedTimer(.checkIn(.remindPause(reminder)), due: until - CheckInPause.lead), end]
    }
}

extension SessionReducer {
    static func pause(
        _ rows: inout SessionRows, _ command: PauseCheckIns, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        if row.isConfirmationRequired { try requireConfirmed(rows, account, by: command.by, context.time) }
        // People choose by the clock, of which the rules' time may be far ahead after a failover.
        let time = min(context.recordedAt, context.time)
        let limits = rows.limits
        var checkIn = row.checkIn
        let ended = checkIn.endPause(of: account, at: time)
        let former = checkIn.pausedUntil
        guard command.until != former else { return [] }
        guard let due = checkIn.due, !checkIn.missed, checkIn.fixedGraceEnd == nil, due > time else {
            throw Rejection(.checkInDue, "Your check-in is due; check in first, then you can pause.")
        }
        // The clock may be behind the last check-in after a failover.
        guard command.until > time, command.until + checkIn.interval > checkIn.last ?? row.opened else {
            throw Rejection(.invalidField, "Choose a time to come.", field: "until")
        }
        // A pause of a second moves the deadline as far as any: what counts is how long nobody has checked in, too.
        let used = former == nil ? checkIn.pause.used : checkIn.pause.used(by: time)
        let left = Interval(microseconds: max(limits.longestPause.microseconds - used.microseconds, 0))
        let last = (checkIn.last ?? row.opened) + limits.longestPause + checkIn.interval
        guard command.until <= min(time + left, last) else {
            throw Rejection(
                .limitReached,
                "Without a check-in you can pause for at most \(limits.longestPause.inWords) in all. Check in, and you can pause anew.",
                field: "until")
        }
        if let wait = checkIn.pause.count(at: time, limits) { throw .tooSoon("You paused too often", left: wait) }
        let next = checkIn.next(after: command.until, opened: row.opened, rows)
        checkIn.move(to: next, at: time)
        checkIn.daily?.paused = command.until
        (checkIn.pause.until, checkIn.pause.since, checkIn.pause.used) = (command.until, time, used)
        checkIn.pause.isReminded = false
        rows[account]?.checkIn = checkIn
        let paused = CheckInsPaused(
            account: account, until: command.until, due: next.due, former: former, opens: next.opens, at: time)
        return ended + [.checkInsPaused(paused)]
    }

    static func resume(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ context: CommandContext
    ) -> [SessionEvent] {
        guard let until = row.checkIn.pausedUntil, let due = row.checkIn.due else { return [] }
        let time = max(min(context.recordedAt, context.time), row.checkIn.last ?? context.recordedAt)
        // One that is over already keeps the deadline that was announced.
        let isEarly = until > time
        var checkIn = row.checkIn
        checkIn.pause.end(at: time)
        if isEarly {
            let pause = checkIn.pause
            // A daily time that has passed while this waited would begin an alarm at once.
            let handled = max(time, min(context.recordedAt + ResumeCheckIns.validity, context.time))
            let start = checkIn.daily == nil ? time : handled
            checkIn.move(to: checkIn.next(after: start, opened: row.opened, rows), at: time)
            checkIn.pause = pause
        }
        rows[account]?.checkIn = checkIn
        return [
            .checkInsResumed(
                .init(account: account, due: checkIn.due ?? due, isEarly: isEarly, opens: checkIn.opens, at: time))
        ]
    }

    static func endPause(
        _ rows: inout SessionRows, _ command: EndPause, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, row.checkIn.pausedUntil == command.until,
            let due = row.checkIn.due
        else { return [] }
        try requireDue(command.until, time)
        rows[command.account]?.checkIn.pause.end(at: time)
        let opens = row.checkIn.opens
        return [.checkInsResumed(.init(account: command.account, due: due, isEarly: false, opens: opens, at: time))]
    }

    static func remindPause(
        _ rows: inout SessionRows, _ command: RemindPause, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, row.checkIn.pausedUntil == command.until,
            !row.checkIn.pause.isReminded, let due = row.checkIn.due,
            command.until > min(context.recordedAt, context.time)
        else { return [] }
        let time = context.time
        try requireDue(command.until - CheckInPause.lead, time)
        rows[command.account]?.checkIn.pause.isReminded = true
        return [.pauseReminded(.init(account: command.account, until: command.until, due: due, at: time))]
    }
}
