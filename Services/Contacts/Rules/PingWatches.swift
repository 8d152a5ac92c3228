import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

// Pings that raise an alert when they aren't answered in time, if the person who is pinged has chosen that.

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: PingEscalationCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .setPingEscalation(let command): try setEscalation(&rows, command, asker)
        case .setPingQuietHours(let command): setQuietHours(&rows, command, asker)
        case .judgePings: judgePings(&rows, asker)
        case .settleUnansweredPings(let command): settle(&rows, command, asker)
        }
    }

    private static func setEscalation(
        _ rows: inout ContactsRows, _ command: SetPingEscalation, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var after = command.after
        if let contact = command.contact {
            var view = try relation(rows, asker, with: contact)
            guard view.theirs.iAmResponder else {
                throw Rejection(.notContact, "Choose somebody who is your responder.", field: "contact")
            }
            guard view.mine.pingEscalation != after else { return [] }
            view.mine.pingEscalation = after
            rows[view.pair] = view.row
        } else {
            after = after.flatMap { $0 > .seconds(0) ? $0 : nil }
            let chosen = rows.accounts[asker.account]?.pingEscalation
            guard chosen?.after != after else { return [] }
            rows.accounts[asker.account]?.pingEscalation =
                PingEscalation(after: after, quietHours: chosen?.quietHours).kept
            after = after ?? .seconds(0)
        }
        let set = PingEscalationSet(account: asker.account, contact: command.contact, after: after, at: asker.time)
        return [.pingEscalation(.pingEscalationSet(set))]
    }

    private static func setQuietHours(
        _ rows: inout ContactsRows, _ command: SetPingQuietHours, _ asker: Asker
    ) -> [ContactsEvent] {
        let chosen = rows.accounts[asker.account]?.pingEscalation
        guard chosen?.quietHours != command.quietHours else { return [] }
        rows.accounts[asker.account]?.pingEscalation =
            PingEscalation(after: chosen?.after, quietHours: command.quietHours).kept
        let set = PingQuietHoursSet(account: asker.account, quietHours: command.quietHours, at: asker.time)
        return [.pingEscalation(.pingQuietHoursSet(set))]
    }

    // MARK: While a ping waits for an answer

    /// How long a ping may stay unanswered before an alert is raised; nil for ever. Of somebody who is missing others know already.
    static func escalation(_ rows: ContactsRows, of view: RelationView) -> Interval? {
        guard !isKnownMissing(rows, view.contact) else { return nil }
        let after = view.theirs.pingEscalation ?? rows.accounts[view.contact]?.pingEscalation?.after
        return after.flatMap { $0 > .seconds(0) ? $0 : nil }
    }

    /// Whether others look for somebody who has missed a check-in: a responder was told, and none has said since that they are safe, which
    /// holds that alarm back.
    private static func isKnownMissing(_ rows: ContactsRows, _ account: AccountID) -> Bool {
        let told = responders(rows, toldOf: AlarmKey(account, .missedCheckIn))
        return !told.isEmpty && !told.contains { $0.saidSafe != nil }
    }

    /// Begins to watch a ping that is sent now. Counts from when it is handled: until then nobody could answer it.
    static func watch(_ rows: inout ContactsRows, _ view: inout RelationView, _ after: Interval, _ asker: Asker) {
        var watch = view.mine.watch?.withoutPing ?? PingWatch()
        (watch.sent, watch.recorded, watch.after) = (asker.time, asker.now, after)
        let first = max(asker.now + after, earliest(rows, watch, of: view.contact, at: asker.now) ?? asker.now)
        plan(&rows, &watch, of: view.contact, first)
        view.mine.watch = watch
    }

    /// A responder's pings raise one alert a day, and are added to one that is on once a day.
    private static func earliest(
        _ rows: ContactsRows, _ watch: PingWatch, of account: AccountID, at now: Instant
    ) -> Instant? {
        let isOn = watch.addedTo != nil && watch.addedTo == rows.alarms[AlarmKey(account, .alert)]?.alarm
        let last = [watch.raised, isOn ? watch.added : nil].compactMap(\.self).max()
        // The clock may have been ahead.
        return last.map { min($0, now) + rows.limits.pingAlarmPause }
    }

    /// Whether a warning is quiet: of pings that are taken back only one a day is loud, so that nobody gets used to ignoring it. The alert
    /// comes in time all the same, since this ping may be meant.
    private static func isRepeated(_ rows: ContactsRows, _ watch: PingWatch, at now: Instant) -> Bool {
        watch.warnedInVain.map { now < min($0, now) + rows.limits.pingAlarmPause } ?? false
    }

    private static func plan(
        _ rows: inout ContactsRows, _ watch: inout PingWatch, of account: AccountID, _ time: Instant
    ) {
        watch.plan(time, quietHours(rows, of: account), spread: spread(rows, of: account))
        wake(&rows, account, watch.warning)
    }

    private static func quietHours(_ rows: ContactsRows, of account: AccountID) -> QuietHours? {
        rows.accounts[account]?.pingEscalation?.quietHours
    }

    private static func spread(_ rows: ContactsRows, of account: AccountID) -> Interval {
        Interval(microseconds: Int64(account.low % UInt64(rows.limits.pingSpread.microseconds)))
    }

    /// Makes sure that the timer comes by then.
    private static func wake(_ rows: inout ContactsRows, _ account: AccountID, _ time: Instant?) {
        guard let time, let row = rows.accounts[account], row.nextPing.map({ time < $0 }) ?? true else { return }
        rows.accounts[account]?.nextPing = time
    }

    private static func judgePings(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        let (account, now) = (asker.account, asker.now)
        var events: [ContactsEvent] = []
        var found: [UnansweredPing] = []
        var next: Instant?
        func look(at time: Instant) { next = min(next ?? time, time) }
        for contact in rows.contacts(of: account) {
            guard let row = rows[Pair(account, contact)] else { continue }
            var view = RelationView(row, of: account, with: contact)
            guard var watch = view.theirs.pendingWatch, let sent = watch.sent, let due = watch.due,
                let recorded = watch.recorded
            else { continue }
            let planned = watch.warning ?? due - PingEscalation.lead
            if watch.warned == nil, planned + rows.limits.pingLateness < now {
                // After an outage the warning comes first, and not in quiet hours.
                watch.planLate(at: now, quietHours(rows, of: account), spread: spread(rows, of: account))
                view.theirs.watch = watch
                rows[view.pair] = view.row
                events += dueSet(view.theirs, sent, from: contact, to: account, asker)
            }
            let warning = watch.warning ?? planned
            guard watch.warned != nil || warning <= now else {
                look(at: warning)
                continue
            }
            if watch.warned == nil {
                (watch.warned, watch.warnedDue) = (now, watch.due ?? due)
                watch.isRepeated = isRepeated(rows, watch, at: now) ? true : nil
                let warned = PingWarned(
                    account: account, contact: contact, sent: sent, due: watch.due ?? due,
                    isRepeated: watch.isRepeated, at: asker.time)
                events.append(.pingEscalation(.pingWarned(warned)))
            }
            let end = watch.due ?? due
            let again = max(end, watch.found.map { min($0, now) + rows.limits.pingAlarmRetry } ?? end)
            if again > now {
                look(at: again)
            } else if let hold = hold(rows, account, contact, watch.hold, from: recorded, until: end) {
                watch.hold = hold
                look(at: hold.reconsideredAt)
            } else if found.count == UnansweredPing.limit {
                look(at: now + .seconds(1))
            } else {
                // Session is told again until it says what became of it.
                let ping = UnansweredPing(contact: contact, sent: sent, recorded: recorded)
                (watch.found, watch.hold, watch.missed) = (now, nil, ping)
                look(at: now + rows.limits.pingAlarmRetry)
                found.append(ping)
            }
            view.theirs.watch = watch
            rows[view.pair] = view.row
        }
        rows.accounts[account]?.nextPing = next
        guard !found.isEmpty else { return events }
        let unanswered = PingsUnanswered(account: account, pings: found, at: now)
        return events + [.pingEscalation(.pingsUnanswered(unanswered))]
    }

    /// How long the alert still waits for an answer or a cancellation that was recorded in time.
    private static func hold(
        _ rows: ContactsRows, _ account: AccountID, _ contact: AccountID, _ begun: AlarmHold?, from sent: Instant,
        until due: Instant
    ) -> AlarmHold? {
        [rows.waitingAnswers[account], rows.waitingCancellations[contact]].compactMap {
            AlarmHold(for: $0, begun: begun, from: sent, until: due)
        }.max { $0.reconsideredAt < $1.reconsideredAt }
    }

    private static func settle(
        _ rows: inout ContactsRows, _ command: SettleUnansweredPings, _ asker: Asker
    ) -> [ContactsEvent] {
        let settled = command.allRight.map { settlePings(&rows, bySaying: $0, asker) } ?? []
        return command.pings.reduce(into: settled) { events, ping in
            guard let row = rows[Pair(asker.account, ping.contact)], ping.contact != asker.account else { return }
            var view = RelationView(row, of: asker.account, with: ping.contact)
            var watch = view.theirs.watch ?? PingWatch()
            if command.isRaised {
                watch.raised = max(watch.raised ?? command.at, command.at)
            } else if let alarm = command.alarm {
                (watch.added, watch.addedTo) = (max(watch.added ?? command.at, command.at), alarm)
            }
            view.theirs.watch = watch == PingWatch() ? nil : watch
            events += settleOne(&rows, &view, ping, asker)
            rows[view.pair] = view.row
        }
    }

    /// Ends a ping that has led to an alert or to nothing, or puts off a later one of the same responder.
    private static func settleOne(
        _ rows: inout ContactsRows, _ view: inout RelationView, _ ping: UnansweredPing, _ asker: Asker
    ) -> [ContactsEvent] {
        guard var watch = view.theirs.pendingWatch, let sent = watch.sent else { return [] }
        let ended = warningEnded(view.account, view.contact, watch, asker)
        if sent == ping.sent {
            watch.isOver = true
        } else {
            guard let time = earliest(rows, watch, of: view.account, at: asker.now), let due = watch.due, due < time
            else { return [] }
            (watch.warned, watch.warnedDue, watch.isRepeated, watch.found, watch.hold) = (nil, nil, nil, nil, nil)
            plan(&rows, &watch, of: view.account, time)
        }
        view.theirs.watch = watch
        return dueSet(view.theirs, sent, from: view.contact, to: view.account, asker) + ended
    }

    /// The person has said that they are all right: no ping sent before raises an alert.
    static func settlePings(
        _ rows: inout ContactsRows, bySaying time: Instant, _ asker: Asker
    ) -> [ContactsEvent] {
        rows.contacts(of: asker.account).flatMap { contact -> [ContactsEvent] in
            guard let row = rows[Pair(asker.account, contact)] else { return [] }
            var view = RelationView(row, of: asker.account, with: contact)
            var events: [ContactsEvent] = []
            if let watch = view.theirs.pendingWatch, let sent = watch.sent, watch.recorded ?? sent <= time {
                view.theirs.watch?.isOver = true
                events = dueSet(view.theirs, sent, from: contact, to: asker.account, asker)
                events += warningEnded(asker.account, contact, watch, asker)
            }
            // Session has heard this, too, so an answer that comes later isn't about anything asked since.
            if let missed = view.theirs.watch?.missed, missed.recorded <= time { view.theirs.forgetMissed() }
            if view.row != row { rows[view.pair] = view.row }
            return events
        }
    }

    /// Both sides hear when a ping is due now.
    /// - Parameter side: The sender's.
    private static func dueSet(
        _ side: RelationRow.Side, _ sent: Instant, from sender: AccountID, to account: AccountID, _ asker: Asker
    ) -> [ContactsEvent] {
        [
            PingDueSet(
                account: account, contact: sender, direction: .incoming, sent: sent, due: side.pingDue, at: asker.time),
            PingDueSet(
                account: sender, contact: account, direction: .outgoing, sent: sent, due: side.shownPingDue,
                isLater: side.isPingLater, at: asker.time),
        ].map { .pingEscalation(.pingDueSet($0)) }
    }

    /// Nothing if the account wasn't warned.
    private static func warningEnded(
        _ account: AccountID, _ contact: AccountID, _ watch: PingWatch, _ asker: Asker
    ) -> [ContactsEvent] {
        guard watch.warned != nil, let sent = watch.sent else { return [] }
        let ended = PingWarningEnded(
            account: account, contact: contact, sent: sent, due: watch.warnedDue, at: asker.time)
        return [.pingEscalation(.pingWarningEnded(ended))]
    }

    /// What whoever was pinged, and session, hear of the end of a ping.
    /// - Parameters:
    ///   - watch: What was kept of it.
    ///   - isAnswered: Whether it was answered, and not taken back.
    static func pingEnded(
        _ watch: PingWatch?, from sender: AccountID, to account: AccountID, isAnswered: Bool, _ asker: Asker
    ) -> [ContactsEvent] {
        guard let watch, watch.isOver != true, let sent = watch.sent else { return [] }
        var events = warningEnded(account, sender, watch, asker)
        if !isAnswered, watch.found != nil {
            // The alert may be held back just now.
            let ping = UnansweredPing(contact: sender, sent: sent, recorded: watch.recorded)
            let ended = UnansweredPingsEnded(account: account, pings: [ping], at: asker.time)
            events.append(.pingEscalation(.unansweredPingsEnded(ended)))
        }
        return events
    }

    /// The account has answered these responders; of whom pings were found unanswered before, session hears, also if they were cancelled
    /// since, or the answer is about an earlier one than waits now.
    /// - Parameters:
    ///   - seen: The newest ping that the account knew of; nil for whichever there is.
    ///   - pressed: When it answered, if that is known.
    static func answered(
        _ rows: inout ContactsRows, _ contacts: [AccountID], seen: Instant?, pressed: Instant?, _ asker: Asker
    ) -> [ContactsEvent] {
        let missed = contacts.sorted().compactMap { contact -> UnansweredPing? in
            guard let row = rows[Pair(asker.account, contact)] else { return nil }
            var view = RelationView(row, of: asker.account, with: contact)
            guard let missed = view.theirs.watch?.missed, missed.sent <= seen ?? missed.sent else { return nil }
            view.theirs.forgetMissed()
            rows[view.pair] = view.row
            return missed
        }
        guard let last = missed.map(\.recorded).max() else { return [] }
        return stride(from: 0, to: missed.count, by: UnansweredPing.limit).map { start in
            let pings = Array(missed[start..<min(start + UnansweredPing.limit, missed.count)])
            let ended = UnansweredPingsEnded(
                account: asker.account, pings: pings, answered: pressed.map { min($0, asker.clock) } ?? last,
                at: asker.time)
            return .pingEscalation(.unansweredPingsEnded(ended))
        }
    }
}

extension ContactsRows {
    /// The senders of pings to an account that are due: whether they were answered in time is decided now.
    /// - Parameter time: The database's clock.
    package func sendersOfDuePings(to account: AccountID, at time: Instant) -> [AccountID] {
        contacts(of: account).filter { contact in
            guard let row = self[Pair(account, contact)] else { return false }
            let watch = RelationView(row, of: account, with: contact).theirs.pendingWatch
            return watch?.warned != nil && watch?.due.map { $0 <= time } == true
        }
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: PingEscalationCommand, of account: AccountID) {
        changed.insert(account)
        switch command {
        case .setPingEscalation(let command): if let contact = command.contact { meet(account, contact) }
        case .setPingQuietHours: break
        case .judgePings:
            answering.insert(account)
            judging.insert(account)
            isTimed = true
        case .settleUnansweredPings(let command):
            alarming.insert(account)
            if command.allRight != nil { answering.insert(account) }
            for ping in command.pings { meet(account, ping.contact) }
        }
    }
}
