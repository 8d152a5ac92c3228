import QuartetSessionContract
package import QuartetVocabulary

/// What responders answered holds the repetitions of an alarm back.
package struct RepetitionHold: Equatable, Sendable {
    /// The alarm that this is about; nil before the first answer. A process of an earlier release ends an alarm, and begins the
    /// next, without changing this.
    package var alarm: AlarmID?
    /// Of the last ``HoldAlarm`` that was taken.
    package var version = 0
    /// Since when somebody has been on it without a break.
    package var since: Instant?
    /// Until when somebody is on it.
    package var until: Instant?
    /// How long somebody was on it before.
    package var used: Interval = .seconds(0)
    /// Until when it isn't repeated because somebody says that the person is safe.
    package var safeUntil: Instant?
    /// When the alarm is to be closed for that.
    package var closes: Instant?
    /// Whether contacts is to decide about that.
    package var isClosing = false
    /// For how long after it was time the alarm isn't repeated, so that contacts can decide.
    private static let decision: Interval = .minutes(10)

    package init() {}

    /// Until when the alarm isn't repeated; nil if nothing holds it back.
    func end(of alarm: AlarmID) -> Instant? {
        guard alarm == self.alarm else { return nil }
        let closing = closes.flatMap { closes in safeUntil.map { $0 >= closes } == true ? closes + Self.decision : nil }
        return [until, safeUntil, closing].compactMap(\.self).max()
    }

    /// Whether something holds it back now, or soon ends it.
    func isActive(for alarm: AlarmID?, at time: Instant) -> Bool {
        guard let alarm, alarm == self.alarm else { return false }
        return isClosing || closes != nil || end(of: alarm).map { $0 > time } ?? false
    }

    /// It is time. Contacts has some minutes to decide; then the alarm goes on.
    mutating func beginClosing(at time: Instant) {
        (closes, safeUntil, isClosing) = (nil, time + Self.decision, true)
    }

    /// When the alarm is to be closed because somebody says that the person is safe.
    func closing(of alarm: AlarmID) -> Instant? { alarm == self.alarm ? closes : nil }

    /// Takes what responders answered; for nobody longer than they may all together.
    /// - Parameter called: When the person called for help again. What was said before holds nothing back.
    mutating func take(_ command: HoldAlarm, since called: Instant?, at time: Instant, _ limits: SessionLimits) {
        if alarm != command.alarm { self = RepetitionHold() }
        guard command.version > version else { return }
        (alarm, version) = (command.alarm, command.version)
        release(at: time)
        func isLater(_ said: Instant?) -> Bool { called.map { called in said.map { $0 >= called } ?? false } ?? true }
        if isLater(command.hold.safeSince) { (safeUntil, closes) = (command.hold.safeUntil, command.hold.closes) }
        guard let wanted = command.hold.until, isLater(command.hold.untilSince) else { return }
        let left = max(limits.longestRepetitionHold.microseconds - used.microseconds, 0)
        let until = min(wanted, time + Interval(microseconds: left))
        if until > time { (since, self.until) = (time, until) }
    }

    /// The decision came too late: by then somebody may have denied it. The timer asks once more.
    mutating func askAgain(at time: Instant) { (closes, isClosing) = (time, false) }

    /// Lets the repetitions go on.
    mutating func release(at time: Instant) {
        if let since, let until {
            used = Interval(microseconds: used.microseconds + max((min(until, time) - since).microseconds, 0))
        }
        (since, until, safeUntil, closes, isClosing) = (nil, nil, nil, nil, false)
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
        guard var row = rows[command.account], row.closed == nil, row.alarm(of: command.kind) == command.alarm else {
            return
        }
        switch command.kind {
        case .checkInMissed: row.checkIn.repetitionHold.take(command, since: nil, at: time, rows.limits)
        case .alertRaised:
            row.alert.repetitionHold.take(command, since: row.askedAgain, at: time, rows.limits)
        }
        rows[command.account] = row
    }

    static func closeAlarm(
        _ rows: inout SessionRows, _ command: CloseAlarm, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil, row.alarm(of: command.kind) == command.alarm,
            let since = row.since(of: command.kind)
        else { return [] }
        let hold = command.kind == .checkInMissed ? row.checkIn.repetitionHold : row.alert.repetitionHold
        let last = row.lastCall(of: command.kind, since) + rows.limits.longestAlarm
        if let decided = command.decided {
            // Something else was answered since, or the person called for help again.
            guard hold.isClosing, hold.alarm == command.alarm, hold.version == decided else { return [] }
            if let at = command.decidedAt, at + rows.limits.decisionLife <= time {
                switch command.kind {
                case .checkInMissed: rows[command.account]?.checkIn.repetitionHold.askAgain(at: time)
                case .alertRaised: rows[command.account]?.alert.repetitionHold.askAgain(at: time)
                }
                return []
            }
            return [close(&rows, command, row, since, .saidSafe, time)]
        }
        if last <= time { return [close(&rows, command, row, since, .unanswered, time)] }
        try requireDue(hold.closing(of: command.alarm) ?? last, time)
        switch command.kind {
        case .checkInMissed: rows[command.account]?.checkIn.repetitionHold.beginClosing(at: time)
        case .alertRaised: rows[command.account]?.alert.repetitionHold.beginClosing(at: time)
        }
        return [
            .alarmClosingDue(
                .init(account: command.account, alarm: command.alarm, version: hold.version, at: time))
        ]
    }

    private static func close(
        _ rows: inout SessionRows, _ command: CloseAlarm, _ before: AccountRow, _ since: Instant,
        _ reason: AlarmCloseReason, _ time: Instant
    ) -> SessionEvent {
        var row = before
        var next: CheckInDeadline?
        switch command.kind {
        case .checkInMissed:
            // Nobody is there to check in within minutes.
            let begun = row.checkIn.nextAnew(at: time, rows)
            next = begun
            row.checkIn.move(to: begun, at: time)
            // Nobody has checked in: no pause before that.
            row.checkIn.pause.used = rows.limits.longestPause
        case .alertRaised:
            if row.trip?.shown.alarm != nil { row.trip = nil }
            row.unanswered?.endShown()
            row.alert = AlertRow(countedSince: row.alert.countedSince, count: row.alert.count)
        }
        rows[command.account] = row
        return .alarmClosed(
            .init(
                account: command.account, alarm: command.alarm, kind: command.kind, reason: reason, since: since,
                due: next?.due, opens: next?.opens, at: time))
    }
}

extension AccountRow {
    /// The alarm that is on.
    fileprivate func alarm(of kind: AlarmKind) -> AlarmID? {
        switch kind {
        case .checkInMissed: checkIn.alarm
        case .alertRaised: alert.alarm
        }
    }

    /// The missed deadline, or when the alert was raised.
    fileprivate func since(of kind: AlarmKind) -> Instant? { kind == .checkInMissed ? checkIn.due : alert.raised }

    /// When the person called for help last, or missed the deadline.
    func lastCall(of kind: AlarmKind, _ since: Instant) -> Instant {
        kind == .alertRaised ? max(alert.askedAgain ?? since, since) : since
    }
}
