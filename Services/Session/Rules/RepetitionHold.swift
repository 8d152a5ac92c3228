import SessionContract
package import Vocabulary

/// What responders answered holds the repetitions of an alarm back.
package struct RepetitionHold: Equatable, Sendable {
    /// The alarm that this is about; nil before the first answer. A process of an earlier release ends an alarm, and begins the
    /// next, without changing this.
    package var alarm: AlarmID?
    /// Since when somebody has been on it without a break.
    package var since: Instant?
    /// Until when somebody is on it.
    package var until: Instant?
    /// How long somebody was on it before.
    package var used: Interval = .seconds(0)
    /// When the alarm is closed, because somebody says that the person is safe.
    package var closes: Instant?

    package init() {}

    /// Until when the alarm isn't repeated; nil if nothing holds it back.
    func end(of alarm: AlarmID) -> Instant? { alarm == self.alarm ? closes ?? until : nil }

    /// When the alarm is closed because somebody says that the person is safe.
    func closing(of alarm: AlarmID) -> Instant? { alarm == self.alarm ? closes : nil }

    /// Takes what responders answered; for nobody longer than they may all together.
    mutating func take(_ command: HoldAlarm, at time: Instant, _ limits: SessionLimits) {
        if alarm != command.alarm { self = RepetitionHold() }
        alarm = command.alarm
        release(at: time)
        closes = command.closes
        guard let wanted = command.until else { return }
        let left = max(limits.longestRepetitionHold.microseconds - used.microseconds, 0)
        let until = min(wanted, time + Interval(microseconds: left))
        if until > time { (since, self.until) = (time, until) }
    }

    /// Lets the repetitions go on.
    mutating func release(at time: Instant) {
        if let since, let until {
            used = Interval(microseconds: used.microseconds + max((min(until, time) - since).microseconds, 0))
        }
        (since, until, closes) = (nil, nil, nil)
    }
}

extension SessionLimits {
    /// How long after the last time an alarm is repeated.
    /// - Parameter done: How often it was repeated.
    func pause(after done: Int) -> Interval {
        done <= repetitions ? repetitionInterval : max(slowRepetitionInterval, repetitionInterval)
    }
}

extension SessionReducer {
    static func holdAlarm(_ rows: inout SessionRows, _ command: HoldAlarm, _ time: Instant) {
        guard var row = rows[command.account], row.closed == nil else { return }
        switch command.kind {
        case .checkInMissed:
            guard row.checkIn.alarm == command.alarm else { return }
            row.checkIn.repetitionHold.take(command, at: time, rows.limits)
        case .alertRaised:
            // Whoever calls for help again isn't helped by what was answered before.
            guard row.alert.alarm == command.alarm, row.alert.askedAgain ?? command.at <= command.at else { return }
            row.alert.repetitionHold.take(command, at: time, rows.limits)
        }
        rows[command.account] = row
    }

    static func closeAlarm(
        _ rows: inout SessionRows, _ command: CloseAlarm, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard var row = rows[command.account], row.closed == nil else { return [] }
        let (since, hold): (Instant?, RepetitionHold) =
            switch command.kind {
            case .checkInMissed:
                row.checkIn.alarm == command.alarm ? (row.checkIn.due, row.checkIn.repetitionHold) : (nil, .init())
            case .alertRaised:
                row.alert.alarm == command.alarm ? (row.alert.raised, row.alert.repetitionHold) : (nil, .init())
            }
        guard let since else { return [] }
        let last = since + rows.limits.longestAlarm
        let saidSafe = hold.closing(of: command.alarm).flatMap { $0 < last ? $0 : nil }
        try requireDue(saidSafe ?? last, time)
        var due: Instant?
        switch command.kind {
        case .checkInMissed:
            due = time + row.checkIn.interval
            row.checkIn.move(to: time + row.checkIn.interval)
        case .alertRaised: row.alert = AlertRow(countedSince: row.alert.countedSince, count: row.alert.count)
        }
        rows[command.account] = row
        return [
            .alarmClosed(
                .init(
                    account: command.account, alarm: command.alarm, kind: command.kind,
                    reason: saidSafe == nil ? .unanswered : .saidSafe, since: since, due: due, at: time))
        ]
    }
}
