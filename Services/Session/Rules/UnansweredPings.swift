package import QuartetSessionContract
package import QuartetVocabulary

/// Pings that weren't answered in time.
package struct UnansweredRow: Codable, Equatable, Sendable {
    /// Those that made an alert or were added to one; nil if there are none.
    package var shown: UnansweredPings?
    /// Those that raise an alert when nothing holds it back any more.
    package var pending: [UnansweredPing]?
    /// When those were found.
    package var found: Instant?
    /// Since when the alert has been held back for a check-in that waits to be handled, and when that is looked at again.
    package var hold: AlarmHold?

    package init() {}

    /// Nil if it says nothing.
    var kept: Self? { shown == nil && pending == nil ? nil : self }

    mutating func forgetPending() { (pending, found, hold) = (nil, nil, nil) }

    /// Drops those that wait and don't count any more.
    mutating func keepPending(_ isKept: (UnansweredPing) -> Bool) {
        let kept = pending?.filter(isKept) ?? []
        if kept.isEmpty { forgetPending() } else { pending = kept }
    }

    func timers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard let pending, let found, let hold else { return [] }
        let raise = RaiseUnansweredAlert(account: account, pings: pending, found: found)
        return [WantedTimer(.alert(.raiseUnansweredAlert(raise)), due: hold.reconsideredAt)]
    }
}

extension AccountRow {
    /// Pings that wait, and those of the alert that is on. A process of an earlier release, which doesn't know them, ends the alert alone.
    package var unanswered: UnansweredRow? {
        get {
            var row = keptUnanswered
            if let shown = row?.shown, shown.alarm != alert.alarm { row?.shown = nil }
            return row?.kept
        }
        set { keptUnanswered = newValue?.kept }
    }

    /// Whether unanswered pings raised the alert that is on, and nothing else asked for help.
    var isUnansweredAlert: Bool { unanswered?.shown?.isItsAlert ?? false }

    /// The first of the pings that raised the alert that is on, as responders hear of it.
    var alertPing: UnansweredPing? { isUnansweredAlert ? unanswered?.shown?.pings.first : nil }
}

extension SessionReducer {
    static func raiseUnanswered(
        _ rows: inout SessionRows, _ command: RaiseUnansweredAlert, _ context: CommandContext
    ) -> [SessionEvent] {
        let (account, time) = (command.account, context.time)
        guard let row = rows[account], row.closed == nil else { return [] }
        // A check-in says that the person is all right, and so answers all that were sent before.
        let shown = row.unanswered?.shown?.pings ?? []
        let pings = UnansweredPings.joining(row.unanswered?.pending ?? [], command.pings).filter { ping in
            (row.checkIn.last.map { $0 < ping.sent } ?? true) && !shown.contains(ping)
        }
        guard let first = pings.map(\.sent).min() else {
            rows[account]?.unanswered?.forgetPending()
            return []
        }
        let found = min(command.found, row.unanswered?.found ?? command.found)
        let begun = row.unanswered?.hold
        if let hold = hold(rows, rows.waitingCheckIns[account], begun, from: first, until: command.found) {
            var held = row.unanswered ?? UnansweredRow()
            (held.pending, held.found, held.hold) = (pings, found, hold)
            rows[account]?.unanswered = held
            return []
        }
        // People pressed by the clock, of which the rules' time may be far ahead after a failover.
        let clock = min(max(context.recordedAt, command.found), time)
        var unanswered = row.unanswered ?? UnansweredRow()
        unanswered.forgetPending()
        if let alarm = row.alert.alarm {
            let isCalled = unanswered.shown.map { $0.isCalled } ?? true
            unanswered.shown = UnansweredPings(
                alarm: alarm, pings: UnansweredPings.joining(shown, pings), isCalled: isCalled)
            rows[account]?.unanswered = unanswered
            return callAgain(&rows, account, row, alarm, pressed: clock, pings: pings, time)
        }
        let alarm = newAlarm(context, at: time)
        rows[account]?.alert.begin(alarm, pressed: clock, at: time)
        rows[account]?.alert.lastAlarm = time
        unanswered.shown = UnansweredPings(alarm: alarm, pings: pings)
        rows[account]?.unanswered = unanswered
        return [.alertRaised(.init(account: account, alarm: alarm, pings: pings, at: time))]
    }

    static func endUnanswered(
        _ rows: inout SessionRows, _ command: EndUnansweredAlert, _ time: Instant
    ) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil else { return [] }
        rows[command.account]?.unanswered?.keepPending { !command.contacts.contains($0.contact) }
        guard row.isUnansweredAlert, let shown = row.unanswered?.shown,
            shown.pings.contains(where: { command.contacts.contains($0.contact) })
        else { return [] }
        return endAlert(&rows, command.account, row, shown.alarm, time)
    }

    /// A check-in ends the alert that unanswered pings have raised, if it was made after they were sent.
    static func endUnanswered(
        _ rows: inout SessionRows, byCheckInOf account: AccountID, made: Instant, _ time: Instant
    ) -> [SessionEvent] {
        guard let row = rows[account], row.unanswered != nil else { return [] }
        rows[account]?.unanswered?.keepPending { $0.sent > made }
        guard row.isEnded(byCheckInAt: made), let shown = row.unanswered?.shown else { return [] }
        return endAlert(&rows, account, row, shown.alarm, time)
    }
}

extension AccountRow {
    /// Whether a check-in made at a time ends the alert that unanswered pings have raised.
    func isEnded(byCheckInAt time: Instant) -> Bool {
        isUnansweredAlert && unanswered?.shown?.pings.allSatisfy { $0.sent <= time } == true
    }
}
