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
        guard view.mine.pinged == nil else { return [] }
        if let last = view.mine.lastPing, last + rows.limits.pingCooldown > asker.time {
            throw .tooSoon("You pinged this contact", left: last + rows.limits.pingCooldown - asker.time)
        }
        view.mine.pinged = asker.time
        view.mine.lastPing = asker.time
        rows[view.pair] = view.row
        return [
            .pingSent(.init(account: view.account, contact: view.contact, at: asker.time)),
            .pingReceived(.init(account: view.contact, contact: view.account, at: asker.time)),
        ]
    }

    static func cancelPing(
        _ rows: inout ContactsRows, _ command: CancelPing, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        guard let sent = view.mine.pinged else { return [] }
        view.mine.pinged = nil
        rows[view.pair] = view.row
        return cancelled(sent, from: view.account, to: view.contact, at: asker.time)
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
        guard let sent = view.theirs.pinged, sent <= command.sent ?? sent else { return [] }
        view.theirs.pinged = nil
        rows[view.pair] = view.row
        return [
            .pingAnswered(
                .init(account: view.account, contact: view.contact, direction: .incoming, sent: sent, at: asker.time)),
            answered(view, sent, asker),
        ]
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
            guard let sent = view.theirs.pinged, sent <= upTo ?? sent else { continue }
            view.theirs.pinged = nil
            rows[view.pair] = view.row
            cleared.append(contact)
            events.append(answered(view, sent, asker))
        }
        guard !cleared.isEmpty else { return [] }
        let event = ReceivedPingsCleared(
            account: asker.account, contacts: cleared, isClearing: isClearing, at: asker.time)
        return [.receivedPingsCleared(event)] + events
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
        case .sendPing(let command): meet(account, command.contact)
        case .cancelPing(let command): meet(account, command.contact)
        case .respondToPing(let command): meet(account, command.contact)
        case .respondToAllPings, .clearReceivedPings: answering.insert(account)
        }
    }
}
