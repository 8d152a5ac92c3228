import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: PingCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .sendPing(let command): try sendPing(&rows, command, asker)
        case .cancelPing(let command): try cancelPing(&rows, command, asker)
        case .respondToPing(let command): try respondToPing(&rows, command, asker)
        case .respondToAllPings(let command): clearPings(&rows, asker, upTo: command.upTo, isClearing: false)
        case .clearReceivedPings(let command): clearPings(&rows, asker, upTo: command.upTo, isClearing: true)
        }
    }

    static func sendPing(
        _ rows: inout ContactsRows, _ command: SendPing, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        guard view.mine.iAmResponder else {
            throw Rejection(
                .notDependent, "You can only ping your dependents; ask this contact to become one first.",
                field: "contact")
        }
        guard view.mine.sendPings else {
            throw Rejection(.pingsOff, "You turned off pings to this contact; turn them on first.", field: "contact")
        }
        guard view.theirs.receivePings else {
            throw Rejection(.pingsOff, "This contact turned off pings; reach them another way.", field: "contact")
        }
        guard view.mine.pendingWatch == nil else { return [] }
        let (replaced, after) = (view.mine.pinged, escalation(rows, of: view))
        // The one that waits will do, unless only another could lead to an alert.
        if replaced != nil, after == nil, view.mine.openWatch == nil { return [] }
        if let last = view.mine.lastPing, last + rows.limits.pingCooldown > asker.time {
            // Pressed twice: the one that waits is as good.
            if replaced != nil, view.mine.openWatch == nil { return [] }
            throw .tooSoon("You pinged this contact", left: last + rows.limits.pingCooldown - asker.time)
        }
        // The first one that wasn't answered stands for all that followed.
        let first = replaced.map { view.mine.watch?.replaced ?? $0 }
        _ = view.mine.endPing()
        view.mine.pinged = asker.time
        view.mine.lastPing = asker.time
        if let after { watch(&rows, &view, after, asker) }
        if let first { view.mine.keep(replaced: first) }
        rows[view.pair] = view.row
        let (shown, due) = (view.mine.shownPingDue, view.mine.pingDue)
        return [
            .pingSent(
                .init(
                    account: view.account, contact: view.contact, due: shown, isLater: view.mine.isPingLater,
                    at: asker.time)),
            .pingReceived(
                .init(account: view.contact, contact: view.account, due: due, replaced: replaced, at: asker.time)),
        ]
    }

    static func cancelPing(
        _ rows: inout ContactsRows, _ command: CancelPing, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        guard let sent = view.mine.pinged else { return [] }
        let watch = view.mine.endPing(isTakenBack: true)
        rows[view.pair] = view.row
        return cancelled(sent, from: view.account, to: view.contact, at: asker.time)
            + pingEnded(watch, from: view.account, to: view.contact, isAnswered: false, asker)
    }

    /// The events for both sides of a cancelled ping, the sender's first.
    static func cancelled(
        _ sent: Instant, from account: AccountID, to contact: AccountID, at time: Instant
    ) -> [ContactsEvent] {
        [
            .pingCancelled(.init(account: account, contact: contact, direction: .outgoing, sent: sent, at: time)),
            .pingCancelled(.init(account: contact, contact: account, direction: .incoming, sent: sent, at: time)),
        ]
    }

    static func respondToPing(
        _ rows: inout ContactsRows, _ command: RespondToPing, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        var events: [ContactsEvent] = []
        if let sent = view.theirs.pinged, sent <= command.sent ?? sent {
            let watch = view.theirs.endPing()
            rows[view.pair] = view.row
            events = [
                .pingAnswered(
                    .init(
                        account: view.account, contact: view.contact, direction: .incoming, sent: sent, at: asker.time)),
                answered(view, sent, asker),
            ]
            events += pingEnded(watch, from: view.contact, to: view.account, isAnswered: true, asker)
        } else {
            events = answeredReplaced(&rows, &view, seen: command.sent, asker)
        }
        return events + answered(&rows, [view.contact], seen: command.sent, pressed: command.pressed, asker)
    }

    static func clearPings(
        _ rows: inout ContactsRows, _ asker: Asker, upTo: Instant?, isClearing: Bool
    ) -> [ContactsEvent] {
        var cleared: [AccountID] = []
        var events: [ContactsEvent] = []
        for contact in rows.contacts(of: asker.account) {
            if cleared.count == ReceivedPingsCleared.limit { break }
            guard let row = rows[Pair(asker.account, contact)] else { continue }
            var view = RelationView(row, of: asker.account, with: contact)
            guard let sent = view.theirs.pinged, sent <= upTo ?? sent else {
                events += answeredReplaced(&rows, &view, seen: upTo, asker)
                continue
            }
            let watch = view.theirs.endPing()
            rows[view.pair] = view.row
            cleared.append(contact)
            events += [answered(view, sent, asker)]
            events += pingEnded(watch, from: contact, to: asker.account, isAnswered: true, asker)
        }
        let missed = answered(&rows, rows.contacts(of: asker.account), seen: upTo, pressed: nil, asker)
        guard !cleared.isEmpty else { return events + missed }
        let event = ReceivedPingsCleared(
            account: asker.account, contacts: cleared, isClearing: isClearing, at: asker.time)
        return [.receivedPingsCleared(event)] + events + missed
    }

    /// Who sent a ping whose place another has taken hears of the answer to it. Who answered hears of the one that waits.
    private static func answeredReplaced(
        _ rows: inout ContactsRows, _ view: inout RelationView, seen: Instant?, _ asker: Asker
    ) -> [ContactsEvent] {
        guard let replaced = view.theirs.takeReplaced(seen: seen), let sent = view.theirs.pinged else { return [] }
        rows[view.pair] = view.row
        let waiting = PingDueSet(
            account: view.account, contact: view.contact, direction: .incoming, sent: sent, due: view.theirs.pingDue,
            at: asker.time)
        return [.pingEscalation(.pingDueSet(waiting)), answered(view, replaced, asker)]
    }

    /// The event for the sender of an answered ping.
    private static func answered(_ view: RelationView, _ sent: Instant, _ asker: Asker) -> ContactsEvent {
        .pingAnswered(
            .init(account: view.contact, contact: view.account, direction: .outgoing, sent: sent, at: asker.time))
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: PingCommand, of account: AccountID) {
        switch command {
        case .sendPing(let command):
            meet(account, command.contact)
            // Its timer may be set, and what comes of it depends on the alarms that are on.
            changed.insert(command.contact)
            alarming.insert(command.contact)
            isTimed = true
        case .cancelPing(let command): meet(account, command.contact)
        case .respondToPing(let command): meet(account, command.contact)
        case .respondToAllPings, .clearReceivedPings: answering.insert(account)
        }
    }
}
