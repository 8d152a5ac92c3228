import QuartetContractSupport
import QuartetSessionContract
package import QuartetVocabulary

package struct AlertRow: Equatable, Sendable {
    /// When it was raised; nil while there is none.
    package var raised: Instant?
    package var alarm: AlarmID?
    /// When help was asked for, as the app says it; nil if it didn't.
    package var pressed: Instant?
    /// When it was asked for last while the alert was on already; nil if it wasn't.
    package var pressedAgain: Instant?
    /// The alarm that these two are about. A process of an earlier release raises the next one without changing them.
    package var pressedAlarm: AlarmID?
    /// The newest call for help if it came late, perhaps about an earlier alarm.
    package var keptLateCall: KeptLateCall?
    /// When responders were last alarmed; nil while they are not to know yet.
    package var lastAlarm: Instant?
    /// How often the alarm was repeated.
    package var repetitions = 0
    package var repetitionHold = RepetitionHold()
    /// Responders aren't alarmed before this time, because too many alerts were raised before.
    package var waitsUntil: Instant?
    /// The start of the window in which alerts are counted. Outlasts the alert.
    package var countedSince: Instant?
    /// How many alerts of the window were announced at once.
    package var count = 0

    /// How far two devices' ideas of the server's time may differ.
    private static let clockError: Interval = .seconds(2)

    /// When help was asked for last.
    var asked: Instant? { askedAgain ?? (pressedAlarm == alarm ? pressed : nil) ?? raised }
    var askedAgain: Instant? { pressedAlarm == alarm ? pressedAgain : nil }

    /// Whether an all-clear is about this alert, as far as it says.
    /// - Parameter askedAgain: When help was asked for last while the alert was on.
    func isMeant(by command: ClearAlert, _ askedAgain: Instant?) -> Bool {
        guard let asked = [asked, askedAgain].compactMap(\.self).max(), let ended = command.pressed else {
            return command.alarm ?? alarm == alarm
        }
        guard let seen = command.alarm else { return asked <= ended }
        // Whoever saw it may not know that help was asked for again.
        return seen == alarm && askedAgain ?? ended <= ended + Self.clockError
    }

    /// Whether help was asked for by this time, as another device may have it.
    func wasRaised(before time: Instant) -> Bool { asked.map { $0 <= time + Self.clockError } ?? false }

    /// The newest call for help, if it came late. A trip or a ping that made the alert called for none.
    package var lateCall: LateCall? { keptLateCall?.call(of: alarm) }

    /// Begins another alert, of which nobody is told yet.
    mutating func begin(_ alarm: AlarmID, pressed: Instant?, lateCall: LateCall? = nil, at time: Instant) {
        (self.pressed, pressedAgain, pressedAlarm) = (pressed, nil, alarm)
        keptLateCall = lateCall.map { KeptLateCall($0, of: alarm) }
        (raised, self.alarm, repetitions) = (time, alarm, 0)
    }

    /// Counts another alert. Returns whether responders may be alarmed at once.
    mutating func counts(at time: Instant, _ limits: SessionLimits) -> Bool {
        if countedSince.map({ $0 + limits.alertWindow <= time }) ?? true { (countedSince, count) = (time, 0) }
        guard count < limits.alertBurst else { return false }
        count += 1
        return true
    }
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: AlertCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .raiseAlert(let command):
            let (account, row) = try asker(rows, context)
            return raiseAlert(&rows, command, account, row, context)
        case .clearAlert(let command):
            let (account, row) = try asker(rows, context)
            return try clearAlert(&rows, command, account, row, context)
        case .announceAlert(let command): return try announceAlert(&rows, command, context.time)
        case .repeatAlarm(let command): return try repeatAlarm(&rows, command, context.time)
        case .holdAlarm(let command):
            holdAlarm(&rows, command, context.time)
            // Nobody sees it but by what isn't repeated.
            return []
        case .closeAlarm(let command): return try closeAlarm(&rows, command, context.time)
        case .raiseUnansweredAlert(let command): return raiseUnanswered(&rows, command, context)
        case .endUnansweredAlert(let command): return endUnanswered(&rows, command, context.time)
        }
    }

    /// Derived from the command that starts the alarm, so handling it again gives the same id.
    /// - Parameter time: From when it counts, by which contacts tell a newer alarm from an older one.
    static func newAlarm(_ context: CommandContext, at time: Instant) -> AlarmID {
        .derived(at: time, from: Array("alarm".utf8), context.commandID.bytes)
    }

    static func repeatAlarm(
        _ rows: inout SessionRows, _ command: RepeatAlarm, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard var row = rows[command.account], row.closed == nil else { return [] }
        let since: Instant?
        let done: Int
        let lastAlarm: Instant?
        let hold: RepetitionHold
        switch command.kind {
        case .checkInMissed:
            guard row.checkIn.alarm == command.alarm else { return [] }
            (since, done, lastAlarm) = (row.checkIn.due, row.checkIn.repetitions, row.checkIn.lastAlarm)
            hold = row.checkIn.repetitionHold
        case .alertRaised:
            guard row.alert.alarm == command.alarm else { return [] }
            (since, done, lastAlarm) = (row.alert.raised, row.alert.repetitions, row.alert.lastAlarm)
            hold = row.alert.repetitionHold
        }
        // Another call for help starts the count again; a repetition that was due before that no longer counts.
        guard let since, command.repetition == done + 1 else { return [] }
        // It was due before somebody answered.
        if let end = hold.end(of: command.alarm), end > time { return [] }
        // It is closed now.
        if row.lastCall(of: command.kind, since) + rows.limits.longestAlarm <= time { return [] }
        try requireDue((lastAlarm ?? since) + rows.limits.pause(after: done), time)
        switch command.kind {
        case .checkInMissed: (row.checkIn.repetitions, row.checkIn.lastAlarm) = (command.repetition, time)
        case .alertRaised: (row.alert.repetitions, row.alert.lastAlarm) = (command.repetition, time)
        }
        let isSlow = command.repetition > rows.limits.repetitions
        let trip = row.trip.flatMap { $0.shown.alarm == command.alarm && $0.shown.isItsAlert ? $0.shown : nil }
        rows[command.account] = row
        return [
            .alarmRepeated(
                .init(
                    account: command.account, alarm: command.alarm, kind: command.kind, since: since,
                    repetition: command.repetition, isSlow: isSlow ? true : nil,
                    eta: trip?.eta, pinged: command.kind == .alertRaised ? row.alertPinged : nil,
                    lateCall: command.kind == .alertRaised ? row.alert.lateCall : nil, at: time))
        ]
    }

    static func raiseAlert(
        _ rows: inout SessionRows, _ command: RaiseAlert, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) -> [SessionEvent] {
        let time = context.time
        let alarm = newAlarm(context, at: time)
        let pressed = command.pressed.map { min(max($0, time - RaiseAlert.sending.lifetime), time) }
        // The rules' time may be far ahead of the clock after a failover, and a command may have waited here: then the call wasn't late.
        let clock = min(context.recordedAt, time)
        let lateCall = command.lateCall(receivedAt: clock)
        if row.alert.raised != nil, row.trip?.shown.isItsAlert == true || row.isUnansweredAlert {
            return callByHand(&rows, account, row, pressed ?? clock, lateCall, time)
        }
        guard row.alert.raised == nil else {
            // A call of an earlier app doesn't say when it was made. It is a new one if it would be held back by what was answered.
            let isHeld = row.alert.repetitionHold.isActive(for: row.alert.alarm, at: time)
            if let pressed = pressed ?? (isHeld ? clock : nil), let asked = row.alert.asked,
                let current = row.alert.alarm, pressed > asked
            {
                return callAgain(&rows, account, row, current, pressed: pressed, lateCall: lateCall, time)
            }
            return []
        }
        var alert = row.alert
        alert.begin(alarm, pressed: pressed, lateCall: lateCall, at: time)
        if alert.counts(at: time, rows.limits) {
            alert.lastAlarm = time
        } else {
            alert.waitsUntil = time + rows.limits.alertPause
        }
        rows[account]?.alert = alert
        return [
            .alertRaised(
                .init(
                    account: account, alarm: alarm, waitsUntil: alert.waitsUntil, lateCall: lateCall, at: time))
        ]
    }

    /// Help is asked for again while an alert is on. Responders are told again: at once, if the last time is long enough ago.
    static func callAgain(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ alarm: AlarmID, pressed: Instant,
        lateCall: LateCall? = nil, trip: MissedTrip? = nil, pings: [UnansweredPing]? = nil, _ time: Instant
    ) -> [SessionEvent] {
        var alert = row.alert
        // A call in time says nothing of the older, late one. Neither a trip nor a ping is a call.
        if trip == nil, pings == nil { alert.keptLateCall = lateCall.map { KeptLateCall($0, of: alarm) } }
        alert.repetitions = 0
        alert.repetitionHold.release(at: time)
        // Pings that are added don't lengthen it.
        if pings == nil {
            alert.pressed = alert.pressedAlarm == alarm ? alert.pressed : nil
            alert.pressedAgain = max(pressed, row.alert.asked ?? pressed)
            alert.pressedAlarm = alarm
        }
        rows[account]?.alert = alert
        return [
            .alertRaisedAgain(
                .init(
                    account: account, alarm: alarm, pressed: pressed, lateCall: lateCall, trip: trip, pings: pings,
                    at: time))
        ]
    }

    /// The person calls for help while an alert is on that their trip or unanswered pings made. Whenever they pressed, contacts tells
    /// responders at once: until now these know only of a late arrival or answer.
    private static func callByHand(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ pressed: Instant, _ lateCall: LateCall?,
        _ time: Instant
    ) -> [SessionEvent] {
        guard let alarm = row.alert.alarm else { return [] }
        let pressed = max(pressed, row.alert.asked ?? pressed)
        let events = callAgain(&rows, account, row, alarm, pressed: pressed, lateCall: lateCall, time)
        if row.trip?.shown.alarm == alarm { rows[account]?.trip?.shown.isCalled = true }
        rows[account]?.unanswered?.shown?.isCalled = true
        rows[account]?.alert.lastAlarm = time
        return events
    }

    /// Ends this alert, and the trip that was missed.
    /// - Parameter said: When the person said that they are all right.
    static func endAlert(
        _ rows: inout SessionRows, _ account: AccountID, _ row: AccountRow, _ alarm: AlarmID?, said: Instant,
        _ time: Instant
    ) -> [SessionEvent] {
        guard let raised = row.alert.raised, let alarm, alarm == row.alert.alarm else { return [] }
        if row.trip?.shown.alarm != nil { rows[account]?.trip = nil }
        var unanswered = row.unanswered ?? UnansweredRow()
        unanswered.endShown()
        unanswered.hear(said: said)
        rows[account]?.unanswered = unanswered
        rows[account]?.alert = AlertRow(countedSince: row.alert.countedSince, count: row.alert.count)
        return [
            .alertCleared(
                .init(
                    account: account, alarm: alarm, raised: raised, wasAnnounced: row.alert.lastAlarm != nil,
                    said: said, at: time))
        ]
    }

    static func announceAlert(
        _ rows: inout SessionRows, _ command: AnnounceAlert, _ time: Instant
    ) throws(Rejection) -> [SessionEvent] {
        guard let row = rows[command.account], row.alert.alarm == command.alarm, let raised = row.alert.raised,
            let waitsUntil = row.alert.waitsUntil
        else { return [] }
        try requireDue(waitsUntil, time)
        rows[command.account]?.alert.waitsUntil = nil
        rows[command.account]?.alert.lastAlarm = time
        return [
            .alertAnnounced(
                .init(
                    account: command.account, alarm: command.alarm, raised: raised, lateCall: row.alert.lateCall,
                    at: time))
        ]
    }

    static func clearAlert(
        _ rows: inout SessionRows, _ command: ClearAlert, _ account: AccountID, _ row: AccountRow,
        _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        guard let alarm = row.alert.alarm else { return [] }
        // An app of an earlier release doesn't say when it was pressed. It wasn't after it was received, and a trip may have been missed since, or
        // a ping not answered.
        let isOwn = row.trip?.shown.alarm == alarm || row.unanswered?.shown != nil
        let clock = min(context.recordedAt, context.time)
        let pressed = command.pressed ?? (isOwn ? clock : nil)
        guard row.alert.isMeant(by: ClearAlert(alarm: command.alarm, pressed: pressed), row.askedAgain) else {
            throw Rejection(
                .alertChanged,
                "Your alert isn't the one that you wanted to end; look at it, and end it if you are safe.",
                field: command.alarm == alarm || command.alarm == nil ? "pressed" : "alarm")
        }
        return endAlert(&rows, account, row, alarm, said: min(command.pressed ?? clock, clock), context.time)
    }
}

extension RaiseAlert {
    /// What people see of a call that came late. A time that can't be, by an app whose clock is wrong, they don't see.
    fileprivate func lateCall(receivedAt clock: Instant) -> LateCall? {
        guard let pressed, pressed >= clock - Self.sending.lifetime else { return nil }
        return LateCall(pressed: pressed, received: clock)
    }
}
