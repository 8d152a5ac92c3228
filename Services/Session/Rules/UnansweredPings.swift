package import QuartetSessionContract
package import QuartetVocabulary

/// Pings that weren't answered in time.
package struct UnansweredRow: Codable, Equatable, Sendable {
    /// Those that made the alert that is on or were added to it; nil if there are none.
    package var shown: UnansweredPings?
    /// Those that made it: the others were added.
    package var made: [UnansweredPing]?
    /// Those that raise an alert once nothing holds it back.
    package var pending: [UnansweredPing]?
    /// When those were found.
    package var found: Instant?
    /// Since when a check-in that waits to be handled has held the alert back, and when to look again.
    package var hold: AlarmHold?
    /// The newest of each responder that made an alert which is over, was answered or taken back. Contacts says a ping again until it hears
    /// what came of it, which may be after that; and what it said first may be handled last.
    package var over: [UnansweredPing]?
    /// When the person last said that they are all right other than by a check-in, by the database's clock.
    package var said: Instant?
    /// The newest that is earlier and was heard later: what was said while the clock was ahead hides nothing that is said since.
    package var saidSince: Instant?

    package init() {}

    /// Nil if it says nothing.
    var kept: Self? { self == Self() ? nil : self }

    mutating func forgetPending() { (pending, found, hold) = (nil, nil, nil) }

    /// Drops those that wait and don't count any more.
    mutating func keepPending(_ isKept: (UnansweredPing) -> Bool) {
        let kept = pending?.filter(isKept) ?? []
        if kept.isEmpty { forgetPending() } else { pending = kept }
    }

    /// These raise nothing any more.
    mutating func forget(_ pings: [UnansweredPing]) {
        if !pings.isEmpty { over = UnansweredPings.joining(over ?? [], pings) }
    }

    /// The alert is over.
    mutating func endShown() {
        forget(shown?.pings ?? [])
        (shown, made) = (nil, nil)
    }

    /// The person has said that they are all right: what was asked before is answered.
    mutating func hear(said time: Instant) {
        if let said, time < said { saidSince = max(saidSince ?? time, time) } else { said = time }
        keepPending { $0.recorded > time }
    }

    func timers(of account: AccountID) -> [WantedTimer<SessionCommand>] {
        guard pending != nil, let found, let hold else { return [] }
        // The timer names no pings, so one that has been answered by the time it comes isn't brought back.
        let raise = RaiseUnansweredAlert(account: account, pings: [], found: found)
        return [WantedTimer(.alert(.raiseUnansweredAlert(raise)), due: hold.reconsideredAt)]
    }
}

extension AccountRow {
    /// Pings that wait, and those of the alert that is on. A process of an earlier release, which doesn't know them, ends the alert alone.
    package var unanswered: UnansweredRow? {
        get {
            var row = keptUnanswered
            if let shown = row?.shown, shown.alarm != alert.alarm { row?.endShown() }
            return row?.kept
        }
        set { keptUnanswered = newValue?.kept }
    }

    /// Whether unanswered pings made the alert that is on, and the person hasn't called for help.
    var isUnansweredAlert: Bool { unanswered?.shown?.isItsAlert ?? false }

    /// Whether the person has called for help by hand in the alert that is on.
    var isCalledByHand: Bool {
        guard let alarm = alert.alarm else { return false }
        if let shown = unanswered?.shown { return !shown.isItsAlert }
        return trip.map { $0.shown.alarm != alarm || $0.shown.isCalled == true } ?? true
    }

    /// When the first of the pings was sent that made the alert that is on, as responders hear of it.
    var alertPinged: Instant? { isUnansweredAlert ? unanswered?.shown?.earliest?.sent : nil }

    /// When the newest ping was sent that made the alert that is on or was added to it. What was said before isn't about that ping.
    var lastPinged: Instant? { unanswered?.shown?.pings.map(\.recorded).max() }

    /// When help was last asked for while the alert was on, by the person, a trip or a ping.
    var askedAgain: Instant? { [alert.askedAgain, lastPinged].compactMap(\.self).max() }

    /// Whether a ping says something new: it was sent after the person last said that they are all right, and isn't known.
    /// - Parameter clock: The database's clock now. A later time comes from a clock that was ahead, and discards nothing: better one
    ///   alert too many.
    fileprivate func isNews(_ ping: UnansweredPing, at clock: Instant) -> Bool {
        let said = [checkIn.last, unanswered?.said, unanswered?.saidSince].compactMap(\.self).filter { $0 <= clock }
            .max()
        guard said.map({ $0 < ping.recorded }) ?? true else { return false }
        let known = (unanswered?.shown?.pings ?? []) + (unanswered?.over ?? [])
        return !known.contains {
            guard $0.contact == ping.contact else { return false }
            return $0.sent == ping.sent || $0.recorded >= ping.recorded && $0.recorded <= clock
        }
    }

    /// Whether a check-in made at a time answers pings of the alert that is on.
    func isAnswering(byCheckInAt time: Instant) -> Bool {
        unanswered?.shown?.pings.contains { $0.recorded <= time } ?? false
    }
}

extension SessionReducer {
    static func raiseUnanswered(
        _ rows: inout SessionRows, _ command: RaiseUnansweredAlert, _ context: CommandContext
    ) -> [SessionEvent] {
        let (account, time) = (command.account, context.time)
        guard let row = rows[account], row.closed == nil else { return [] }
        var unanswered = row.unanswered ?? UnansweredRow()
        let pending = unanswered.pending ?? []
        let clock = max(context.recordedAt, command.found)
        // The command may have waited for a long time, and what was said meanwhile counts.
        let now = max(clock, min(rows.clock ?? clock, time))
        let pings = UnansweredPings.joining(pending, command.pings).filter { row.isNews($0, at: now) }
        let discarded = discard((pending + command.pings).filter { !row.isNews($0, at: now) }, row, account, time)
        guard let first = pings.map(\.recorded).min(), let last = pings.map(\.recorded).max() else {
            unanswered.forgetPending()
            rows[account]?.unanswered = unanswered
            return discarded
        }
        if let hold = hold(rows, rows.waitingCheckIns[account], unanswered.hold, from: first, until: command.found) {
            unanswered.found = min(command.found, unanswered.found ?? command.found)
            (unanswered.pending, unanswered.hold) = (pings, hold)
            rows[account]?.unanswered = unanswered
            return discarded
        }
        unanswered.forgetPending()
        if let alarm = row.alert.alarm {
            unanswered.shown = UnansweredPings(
                alarm: alarm, pings: UnansweredPings.joining(unanswered.shown?.pings ?? [], pings),
                isCalled: row.isCalledByHand ? true : nil)
            rows[account]?.unanswered = unanswered
            // What was said after the newest was sent still stands, however late it was found unanswered.
            return callAgain(&rows, account, row, alarm, pressed: last, pings: pings, time) + discarded
        }
        // People pressed by the clock, of which the rules' time may be far ahead after a failover.
        let alarm = newAlarm(context, at: time)
        rows[account]?.alert.begin(alarm, pressed: min(clock, time), at: time)
        rows[account]?.alert.lastAlarm = time
        unanswered.shown = UnansweredPings(alarm: alarm, pings: pings)
        unanswered.made = pings
        rows[account]?.unanswered = unanswered
        return [.alertRaised(.init(account: account, alarm: alarm, pings: pings, at: time))] + discarded
    }

    /// Contacts says a ping again, and lets its sender send no other, until it hears what came of it: also that nothing did, or once more
    /// which alert it made.
    private static func discard(
        _ pings: [UnansweredPing], _ row: AccountRow, _ account: AccountID, _ time: Instant
    ) -> [SessionEvent] {
        let (shown, made) = (row.unanswered?.shown, row.unanswered?.made ?? [])
        let named = Dictionary(grouping: UnansweredPings.joining([], pings)) { ping -> Become in
            guard let shown, shown.pings.contains(ping) else { return .nothing }
            return made.contains(ping) ? .alert : .added
        }
        return [Become.alert, .added, .nothing].compactMap { become in
            guard let pings = named[become] else { return nil }
            return .unansweredPingsDiscarded(
                UnansweredPingsDiscarded(
                    account: account, pings: pings, alarm: become == .nothing ? nil : shown?.alarm,
                    isRaised: become == .alert ? true : nil, at: time))
        }
    }

    /// What became of a ping: the alert that is on, which it made or was added to, or nothing.
    private enum Become { case alert, added, nothing }

    static func endUnanswered(
        _ rows: inout SessionRows, _ command: EndUnansweredAlert, _ time: Instant
    ) -> [SessionEvent] {
        guard let row = rows[command.account], row.closed == nil else { return [] }
        func isNamed(_ ping: UnansweredPing) -> Bool {
            command.pings.contains { $0.contact == ping.contact && $0.recorded >= ping.recorded }
        }
        var unanswered = row.unanswered ?? UnansweredRow()
        unanswered.keepPending { !isNamed($0) }
        // Also if they were taken back before they came here.
        unanswered.forget(command.pings)
        rows[command.account]?.unanswered = unanswered
        guard let answered = command.answered else { return [] }
        return answerPings(&rows, of: command.account, said: answered, time, besides: isNamed)
    }

    /// The person has said that they are all right, which answers the pings that were sent before, and those named. Once all of them are
    /// answered, the alert that they made is over, unless something else made it, too.
    static func answerPings(
        _ rows: inout SessionRows, of account: AccountID, said: Instant, _ time: Instant,
        besides isNamed: (UnansweredPing) -> Bool = { _ in false }
    ) -> [SessionEvent] {
        var unanswered = rows[account]?.unanswered ?? UnansweredRow()
        unanswered.hear(said: said)
        rows[account]?.unanswered = unanswered
        guard let row = rows[account], let shown = unanswered.shown else { return [] }
        let answered = shown.pings.filter { $0.recorded <= said || isNamed($0) }
        guard !answered.isEmpty else { return [] }
        if answered.count == shown.pings.count, shown.isItsAlert, row.trip?.shown.alarm == nil {
            return endAlert(&rows, account, row, shown.alarm, said: said, time)
        }
        unanswered.forget(answered)
        let left = shown.pings.filter { !answered.contains($0) }
        if left.isEmpty { unanswered.made = nil }
        unanswered.shown =
            left.isEmpty ? nil : UnansweredPings(alarm: shown.alarm, pings: left, isCalled: shown.isCalled)
        rows[account]?.unanswered = unanswered
        let dropped = UnansweredPingsDropped(account: account, alarm: shown.alarm, pings: answered, at: time)
        return [.unansweredPingsDropped(dropped)]
    }
}
