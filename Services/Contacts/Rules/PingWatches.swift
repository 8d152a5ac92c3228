import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

// Pings that raise an alert when they aren't answered in time, if the person who is pinged has chosen that.

/// What is kept of a responder's pings that may raise an alert.
package struct PingWatch: Codable, Equatable, Sendable {
    /// The ping that it is about. A process of an earlier release sends and ends pings without changing this: about another ping it says
    /// nothing.
    package var sent: Instant?
    /// The same by the database's clock, of which the rules' time may be far ahead after a failover.
    package var recorded: Instant?
    /// When the alert is raised, as it was when the ping was sent.
    package var due: Instant?
    /// When the person was warned, by the database's clock.
    package var warned: Instant?
    /// When the ping was last found unanswered.
    package var found: Instant?
    /// Whether nothing becomes of it any more: the alert was raised, or the person has checked in.
    package var isOver: Bool?
    /// Since when the alert has been held back for a command that waits to be handled.
    package var hold: AlarmHold?
    /// When a ping of this responder last raised an alert.
    package var raised: Instant?
    /// Whether one was found unanswered since the person last answered this responder.
    package var isMissed: Bool?

    package init() {}

    /// What outlives the ping; nil if nothing does.
    var withoutPing: Self? {
        guard raised != nil || isMissed != nil else { return nil }
        var kept = Self()
        (kept.raised, kept.isMissed) = (raised, isMissed)
        return kept
    }
}

extension RelationRow.Side {
    /// What is kept of the ping that waits for an answer, if an alert may come of it.
    var openWatch: PingWatch? {
        guard let pinged, let watch, watch.sent == pinged, watch.due != nil else { return nil }
        return watch
    }

    /// When an alert is raised unless the ping is answered, as both sides see it.
    var shownPingDue: Instant? { openWatch?.due }

    /// Ends the ping that waits for an answer. Returns whether a warning of it stands.
    mutating func endPing() -> Bool {
        let isWarned = openWatch.map { $0.warned != nil && $0.isOver != true } ?? false
        pinged = nil
        watch = watch?.withoutPing
        return isWarned
    }
}

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

    /// Begins to watch a ping that is sent now, if its receiver has chosen that. Counts from the clock by which people see when it falls due.
    static func watch(_ rows: inout ContactsRows, _ view: inout RelationView, _ asker: Asker) {
        var watch = view.mine.watch?.withoutPing ?? PingWatch()
        defer { view.mine.watch = watch == PingWatch() ? nil : watch }
        let settings = rows.accounts[view.contact]?.pingEscalation
        guard let after = view.theirs.pingEscalation ?? settings?.after, after > .seconds(0) else { return }
        (watch.sent, watch.recorded) = (asker.time, asker.clock)
        let due = max(asker.clock + after, watch.raised.map { $0 + rows.limits.pingAlarmPause } ?? asker.clock)
        watch.due = settings?.quietHours?.end(for: due) ?? due
        wake(&rows, view.contact, watch.due.map { $0 - PingEscalation.lead })
    }

    /// Sees to it that the timer comes by then.
    private static func wake(_ rows: inout ContactsRows, _ account: AccountID, _ time: Instant?) {
        guard let time, let row = rows.accounts[account], row.nextPing.map({ time < $0 }) ?? true else { return }
        rows.accounts[account]?.nextPing = time
    }

    private static func judgePings(_ rows: inout ContactsRows, _ asker: Asker) -> [ContactsEvent] {
        let clock = asker.clock
        var events: [ContactsEvent] = []
        var found: [UnansweredPing] = []
        var next: Instant?
        func look(at time: Instant) { next = min(next ?? time, time) }
        for contact in rows.contacts(of: asker.account) {
            guard let row = rows[Pair(asker.account, contact)] else { continue }
            var view = RelationView(row, of: asker.account, with: contact)
            guard var watch = view.theirs.openWatch, watch.isOver != true, let sent = watch.sent, let first = watch.due
            else { continue }
            let warnAt = due(watch, first, rows.limits) - PingEscalation.lead
            if watch.warned == nil, warnAt <= clock {
                watch.warned = clock
                let end = max(due(watch, first, rows.limits), clock + PingEscalation.lead)
                let warned = PingWarned(
                    account: asker.account, contact: contact, sent: sent, due: end, at: asker.time)
                events.append(.pingEscalation(.pingWarned(warned)))
            }
            guard let warned = watch.warned else {
                look(at: warnAt)
                continue
            }
            let end = max(due(watch, first, rows.limits), warned + PingEscalation.lead)
            let again = watch.found.map { $0 + rows.limits.pingAlarmRetry } ?? end
            if max(end, again) > clock {
                look(at: max(end, again))
            } else if let hold = hold(
                rows, asker.account, contact, watch.hold, from: watch.recorded ?? sent, until: end)
            {
                watch.hold = hold
                look(at: hold.reconsideredAt)
            } else if found.count == UnansweredPing.limit {
                look(at: clock + .seconds(1))
            } else {
                // Unless session says what became of it, it is asked again.
                (watch.found, watch.hold, watch.isMissed) = (clock, nil, true)
                look(at: clock + rows.limits.pingAlarmRetry)
                found.append(UnansweredPing(contact: contact, sent: sent))
            }
            view.theirs.watch = watch
            rows[view.pair] = view.row
        }
        rows.accounts[asker.account]?.nextPing = next
        guard !found.isEmpty else { return events }
        let unanswered = PingsUnanswered(account: asker.account, pings: found, at: clock)
        return events + [.pingEscalation(.pingsUnanswered(unanswered))]
    }

    /// When a ping falls due. An alert that an earlier one of this responder raised may have become known since it was sent.
    private static func due(_ watch: PingWatch, _ first: Instant, _ limits: ContactsLimits) -> Instant {
        max(first, watch.raised.map { $0 + limits.pingAlarmPause } ?? first)
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
        command.pings.flatMap { ping in
            guard let row = rows[Pair(asker.account, ping.contact)], ping.contact != asker.account else {
                return [ContactsEvent]()
            }
            var view = RelationView(row, of: asker.account, with: ping.contact)
            var watch = view.theirs.watch ?? PingWatch()
            if command.isRaised { watch.raised = max(watch.raised ?? command.at, command.at) }
            let isOpen = view.theirs.openWatch?.sent == ping.sent && watch.isOver != true
            if isOpen { watch.isOver = true }
            view.theirs.watch = watch == PingWatch() ? nil : watch
            rows[view.pair] = view.row
            return isOpen && watch.warned != nil ? [warningEnded(asker.account, ping.contact, ping.sent, asker)] : []
        }
    }

    /// A check-in says that the person is all right: no ping sent before raises an alert.
    static func settlePings(
        _ rows: inout ContactsRows, byCheckInAt time: Instant, _ asker: Asker
    ) -> [ContactsEvent] {
        rows.contacts(of: asker.account).compactMap { contact in
            guard let row = rows[Pair(asker.account, contact)] else { return nil }
            var view = RelationView(row, of: asker.account, with: contact)
            guard let watch = view.theirs.openWatch, watch.isOver != true, let sent = watch.sent, sent <= time else {
                return nil
            }
            view.theirs.watch?.isOver = true
            rows[view.pair] = view.row
            return watch.warned == nil ? nil : warningEnded(asker.account, contact, sent, asker)
        }
    }

    static func warningEnded(
        _ account: AccountID, _ contact: AccountID, _ sent: Instant, _ asker: Asker
    ) -> ContactsEvent {
        .pingEscalation(.pingWarningEnded(.init(account: account, contact: contact, sent: sent, at: asker.time)))
    }

    /// Ends the ping that the other side has sent, which the asking account's answer, or what else ends it, is about.
    /// - Returns: The end of its warning, if one stands.
    static func endPing(_ view: inout RelationView, sent: Instant, _ asker: Asker) -> [ContactsEvent] {
        view.theirs.endPing() ? [warningEnded(view.account, view.contact, sent, asker)] : []
    }

    /// Ends the ping that the asking account has sent.
    static func endPing(_ view: inout RelationView, mine sent: Instant, _ asker: Asker) -> [ContactsEvent] {
        view.mine.endPing() ? [warningEnded(view.contact, view.account, sent, asker)] : []
    }

    /// The account has answered these responders; of whom pings were found unanswered before, session hears.
    static func answered(_ rows: inout ContactsRows, _ contacts: [AccountID], _ asker: Asker) -> [ContactsEvent] {
        let missed = contacts.filter { contact in
            guard let row = rows[Pair(asker.account, contact)] else { return false }
            var view = RelationView(row, of: asker.account, with: contact)
            guard view.theirs.watch?.isMissed == true else { return false }
            view.theirs.watch?.isMissed = nil
            if view.theirs.watch == PingWatch() { view.theirs.watch = nil }
            rows[view.pair] = view.row
            return true
        }
        guard !missed.isEmpty else { return [] }
        let event = UnansweredPingsAnswered(account: asker.account, contacts: missed, at: asker.time)
        return [.pingEscalation(.unansweredPingsAnswered(event))]
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
        case .settleUnansweredPings(let command): for ping in command.pings { meet(account, ping.contact) }
        }
    }
}
