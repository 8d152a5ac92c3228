import QuartetContractSupport
package import QuartetSessionContract
package import QuartetVocabulary

/// Daily times, and what they have made of the present deadline.
package struct DailyRow: Codable, Equatable, Sendable {
    package var times: DailyTimes
    /// What the account has as its interval. Another one was set by a process of an earlier release, and daily times are over.
    package var interval: Interval
    /// The deadline that these times made, or that was there when they were set. Another one was set by a process of an earlier release.
    package var deadline: Instant
    /// From when a check-in counts for it; nil where any does.
    package var opens: Instant?
    /// Deadlines of before a change, which stay; and the one that had passed by then, to which the next ones keep their distance.
    package var kept: [Instant]?
    /// When the deadline was decided.
    package var since: Instant
    /// The pause after which the deadline is the first.
    package var paused: Instant?
    /// The version of the zones by which the deadlines are made. A later one that has other data of the zone is looked at first.
    package var zones: Int

    init(_ times: DailyTimes, zones: Int, deadline: Instant, at time: Instant) {
        (self.times, self.zones, self.deadline) = (times, zones, deadline)
        interval = times.longestGap
        since = time
    }

    mutating func take(_ next: CheckInDeadline, at time: Instant) {
        (deadline, opens) = (next.due, next.opens)
        since = time
        paused = nil
        // The deadline itself tells from when a check-in counts for the next.
        let left = kept?.filter { $0 >= next.due } ?? []
        kept = left.isEmpty ? nil : left
    }
}

/// Counts changes of daily times. An interval in between doesn't end that.
package struct DailyChangeCount: Equatable, Sendable {
    /// The start of the day in which they are counted.
    package var since: Instant?
    package var changes = 0

    /// Counts one. Returns how long to wait if there were too many.
    fileprivate mutating func count(at time: Instant, _ limits: SessionLimits) -> Interval? {
        if since.map({ $0 + .days(1) <= time }) ?? true { (since, changes) = (time, 0) }
        guard changes < limits.dailyChangesADay else { return since.map { $0 + .days(1) - time } }
        changes += 1
        return nil
    }
}

extension CheckInRow {
    /// Daily times; nil if a process of an earlier release has set an interval since.
    package var daily: DailyRow? {
        get { keptDaily.flatMap { $0.interval == interval ? $0 : nil } }
        set { keptDaily = newValue }
    }

    /// Daily times that made the deadline.
    var ownDaily: DailyRow? { daily.flatMap { $0.deadline == due ? $0 : nil } }

    /// From when a check-in counts for the deadline, a daily time that isn't missed.
    package var opens: Instant? { missed ? nil : ownDaily?.opens }

    /// Whether a check-in at a time is too early to count for the deadline. Once the deadline has passed by the rules' time, which may be
    /// far ahead of the clock after a failover, no check-in is: it ends the alarm.
    func isEarly(at time: Instant) -> Bool {
        guard !missed, fixedGraceEnd == nil, let due, let opens = ownDaily?.opens else { return false }
        return time < opens && time < due
    }

    private func sequence(_ rows: SessionRows) -> DailySequence? {
        daily.flatMap { daily in
            rows.zones[daily.times.zone, daily.zones].map { DailySequence(daily.times, in: $0, kept: daily.kept ?? []) }
        }
    }

    /// The deadline after a check-in.
    /// - Parameter clock: By which a pause goes on.
    func next(afterCheckInAt time: Instant, _ clock: Instant, _ rows: SessionRows) -> CheckInDeadline {
        if daily == nil, let until = pausedUntil, until > clock, until + interval > time {
            return CheckInDeadline(due: until + interval)
        }
        if let own = ownDaily, isEarly(at: time) {
            return CheckInDeadline(due: own.deadline, opens: opens)
        }
        let answered = ownDaily.map { max($0.deadline, time) } ?? time
        return sequence(rows)?.next(afterCheckIn: time, for: answered) ?? CheckInDeadline(due: time + interval)
    }

    /// The first deadline after a pause, which no check-in has answered.
    func next(after time: Instant, opened: Instant, _ rows: SessionRows) -> CheckInDeadline {
        sequence(rows)?.next(after: time, checkedIn: last ?? opened, standing: ownDaily?.deadline)
            ?? CheckInDeadline(due: time + interval)
    }

    /// The first deadline that leaves the whole time in which a check-in counts for it.
    func nextAnew(at time: Instant, _ rows: SessionRows) -> CheckInDeadline {
        sequence(rows)?.next(afterCheckIn: time, for: time) ?? CheckInDeadline(due: time + interval)
    }

    /// Whether the present deadline is still to come. One that has passed is left to its timer, however late that fires.
    fileprivate func isAhead(at time: Instant) -> Bool {
        !missed && fixedGraceEnd == nil && due.map { $0 > time } ?? false
    }

    /// The deadlines that a change now leaves: those of the next hours, as they were announced, that no check-in has answered.
    fileprivate func standing(at time: Instant, opened: Instant, _ rows: SessionRows) -> [Instant] {
        let present = isAhead(at: time) ? due : nil
        let end = time + DailySequence.safe
        let later = sequence(rows)?.deadlines(after: present ?? time, before: end, checkedIn: last ?? opened) ?? []
        return (present.map { [$0] } ?? []).filter { $0 < end } + later
    }

    /// Those that follow until soon after, and until soon after the present one, which may stay as well.
    fileprivate func following(at time: Instant, opened: Instant, _ rows: SessionRows) -> [Instant] {
        let end = time + DailySequence.safe
        let last = max(end, due ?? end) + DailySequence.nearest
        let all = sequence(rows)?.deadlines(after: time, before: last, checkedIn: self.last ?? opened)
        return all?.filter { $0 >= end } ?? []
    }

    func dailyTimers(
        of account: AccountID, _ limits: SessionLimits, _ zones: ZoneBook
    ) -> [WantedTimer<SessionCommand>] {
        // One that has passed stays as it is. After the check-in, it is time.
        guard let daily, let due, fixedGraceEnd == nil, hold == nil else { return [] }
        let times = [
            zones.isBehind(daily.zones, in: daily.times.zone) ? limits.zones.review(of: account) : nil,
            daily.deadline == due ? nil : min(last ?? due, due),
        ]
        return times.compactMap(\.self).min().map {
            [WantedTimer(.checkIn(.reviewDailyCheckIns(.init(account: account))), due: $0)]
        } ?? []
    }
}

extension SessionReducer {
    static func setDaily(
        _ rows: inout SessionRows, _ command: SetDailyCheckIns, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        if let expected = command.expectedVersion, expected != row.checkIn.version {
            throw .staleVersion(expected: expected, current: row.checkIn.version)
        }
        guard command.daily != row.checkIn.daily?.times else { return [] }
        guard command.daily.leastGap >= rows.limits.leastCheckInInterval else {
            throw DailyTimes.tooNear
        }
        guard let zone = rows.zones[command.zone, rows.limits.zones.number] else {
            throw rows.limits.zones.number == 0 ? DailyTimes.noZones : DailyTimes.unknownZone
        }
        // People choose by the clock, of which the rules' time may be far ahead after a failover.
        let time = min(context.recordedAt, context.time)
        var checkIn = row.checkIn
        guard let due = checkIn.due else { return [] }
        let daily = DailyRow(
            command.daily, zones: rows.limits.zones.number, deadline: due, at: checkIn.daily?.since ?? row.opened)
        if let wait = checkIn.dailyChanges.count(at: time, rows.limits) {
            throw Rejection(.tooSoon, "You changed your daily times too often; try again later.", retryAfter: wait)
        }
        let ended = checkIn.endPause(of: account, at: time)
        let paused = checkIn.pausedUntil
        let opens = checkIn.ownDaily?.opens
        // What was due while this waited would begin an alarm at once.
        let handled = max(time, min(context.recordedAt + SetDailyCheckIns.validity, context.time))
        let standing = checkIn.standing(at: handled, opened: row.opened, rows)
        let following = checkIn.following(at: handled, opened: row.opened, rows)
        checkIn.interval = daily.interval
        checkIn.keptDaily = daily
        checkIn.version += 1
        checkIn.daily?.paused = paused
        var skipped: Instant?
        if checkIn.isAhead(at: handled) {
            var change = Self.change(checkIn, in: zone, leaving: standing, following, paused, row.opened, handled)
            if paused == nil, let next = change?.next.due, next > max(due, checkIn.furthest(opened: row.opened)) {
                // Changing the times again and again must not postpone a deadline for ever.
                change = Self.change(
                    checkIn, in: zone, leaving: standing + [due], following, paused, row.opened, handled)
            }
            skipped = change?.skipped
            if let change { checkIn.take(change, opens: opens, at: handled) }
        } else {
            checkIn.daily?.opens = opens
            let kept = [due] + standing
            checkIn.daily?.kept = kept + DailySequence(daily.times, in: zone, kept: kept).untouched(of: following)
        }
        rows[account]?.checkIn = checkIn
        return ended + [
            .dailyCheckInsSet(
                .init(
                    account: account, daily: command.daily, interval: daily.interval, due: checkIn.due ?? due,
                    opens: checkIn.opens, skipped: skipped, version: checkIn.version, at: context.time))
        ]
    }

    /// What another zone, other times or other data of the zone make of the next deadline.
    fileprivate struct DailyChange {
        var next: CheckInDeadline
        var kept: [Instant]
        /// One that would be past.
        var skipped: Instant?
    }

    private static func change(
        _ checkIn: CheckInRow, in zone: ZoneRules, leaving kept: [Instant], _ following: [Instant], _ paused: Instant?,
        _ opened: Instant, _ time: Instant, notice: Interval = .seconds(0)
    ) -> DailyChange? {
        guard let daily = checkIn.daily else { return nil }
        let kept = kept + DailySequence(daily.times, in: zone, kept: kept).untouched(of: following)
        let sequence = DailySequence(daily.times, in: zone, kept: kept)
        let last = checkIn.last ?? opened
        guard let next = sequence.next(after: max(time + notice, paused ?? time), checkedIn: last) else { return nil }
        let earliest = [time - .days(1), last, daily.since, checkIn.pause.since ?? last].max() ?? time
        let skipped = paused == nil ? sequence.last(by: time + notice, after: earliest, checkedIn: last) : nil
        return DailyChange(next: next, kept: kept, skipped: skipped)
    }

    static func reviewDaily(
        _ rows: inout SessionRows, _ command: ReviewDailyCheckIns, _ context: CommandContext
    ) -> [SessionEvent] {
        // It may have waited since it was recorded, and what was due meanwhile would begin an alarm. The rules' time may be far ahead after
        // a failover, and what is due until then would be left out.
        let time = rows.now(context)
        guard let row = rows[command.account], row.closed == nil, let daily = row.checkIn.daily,
            let due = row.checkIn.due, row.checkIn.isAhead(at: time),
            rows.zones.isBehind(daily.zones, in: daily.times.zone) || daily.deadline != due,
            let zone = rows.zones[daily.times.zone, rows.limits.zones.number]
        else { return [] }
        var checkIn = row.checkIn
        let isOwn = checkIn.ownDaily != nil
        if isOwn, rows.zones[daily.times.zone, daily.zones] == zone {
            checkIn.daily?.zones = rows.limits.zones.number
            rows[command.account]?.checkIn = checkIn
            return []
        }
        let standing = checkIn.standing(at: time, opened: row.opened, rows)
        let following = isOwn ? checkIn.following(at: time, opened: row.opened, rows) : []
        checkIn.daily?.zones = rows.limits.zones.number
        let kept = isOwn ? Set(standing + (daily.kept ?? []).filter { $0 >= due }).sorted() : []
        let paused = checkIn.pausedUntil
        func made(leaving kept: [Instant], notice: Interval = .seconds(0)) -> DailyChange? {
            Self.change(checkIn, in: zone, leaving: kept, following, paused, row.opened, time, notice: notice)
        }
        guard var change = made(leaving: kept) else { return [] }
        let untilDue = Interval(microseconds: (due - time).microseconds - 1)
        if change.next.due < min(due, time + DailySequence.nearest) {
            // Nobody was told of it, and a reminder would come too late.
            change = made(leaving: kept, notice: min(DailySequence.nearest, untilDue)) ?? change
        }
        if !isOwn, change.next.due > due, change.skipped != nil {
            // It alone can still raise the alarm for the daily times that are skipped.
            change = made(leaving: [due], notice: untilDue) ?? change
        }
        // For one of an earlier release any check-in counts, as was said.
        let counts = isOwn ? checkIn.opens : change.next.opens.map { min($0, time) }
        checkIn.take(change, opens: counts, at: time)
        rows[command.account]?.checkIn = checkIn
        guard let next = checkIn.due, let opens = checkIn.opens, next != due || !isOwn else { return [] }
        return [
            .dailyCheckInsMoved(
                .init(
                    account: command.account, due: next, former: due, opens: opens, skipped: change.skipped,
                    isByZone: isOwn ? true : nil, at: context.time))
        ]
    }
}

extension CheckInRow {
    /// The latest instant to which a change of times can postpone a deadline: seven days after the last check-in, or after the pause that
    /// followed it, plus the longest time by which a check-in may be early.
    fileprivate func furthest(opened: Instant) -> Instant {
        let last = last ?? opened
        let begun = pause.until == nil ? max(last, pause.since ?? last) : last
        return begun + CheckInRules.intervals.upperBound + DailySequence.longestWindow
    }

    /// - Parameter opens: From when a check-in has counted for the present deadline, if that is known: this stays as it was said.
    fileprivate mutating func take(_ change: SessionReducer.DailyChange, opens: Instant?, at time: Instant) {
        daily?.kept = change.kept.isEmpty ? nil : change.kept
        let (pause, paused) = (pause, pausedUntil)
        if change.next.due == due {
            let since = daily?.since ?? time
            daily?.take(CheckInDeadline(due: change.next.due, opens: opens ?? change.next.opens), at: since)
        } else {
            move(to: change.next, at: time)
            self.pause = pause
            self.pause.isReminded = false
        }
        daily?.paused = paused
    }
}
