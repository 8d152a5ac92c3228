import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: RelationCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .updateContact(let command): try update(&rows, command, asker)
        case .removeContact(let command): try remove(&rows, command, asker)
        case .blockContact(let command): try block(&rows, command, asker)
        case .unblockContact(let command): try unblock(&rows, command, asker)
        }
    }

    static func update(
        _ rows: inout ContactsRows, _ command: UpdateContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        guard view.mine.version == command.expectedVersion else {
            throw .staleVersion(expected: command.expectedVersion, current: view.mine.version)
        }
        // A person must agree before anyone sees more of them.
        guard command.iAmResponder != true || view.mine.iAmResponder else {
            throw Rejection(
                .consentRequired, "They must agree to be your dependent; ask them with RequestRoleChange.",
                field: "iAmResponder")
        }
        let before = view
        view.theirs.iAmResponder = command.isMyResponder ?? view.theirs.iAmResponder
        view.mine.iAmResponder = command.iAmResponder ?? view.mine.iAmResponder
        try ContactRules.requireRole(isMyResponder: view.theirs.iAmResponder, iAmResponder: view.mine.iAmResponder)
        startResponding(&view.mine, was: before.mine)
        startResponding(&view.theirs, was: before.theirs)
        if command.iAmResponder == true { view.mine.showsReach = true }
        view.mine.nickname = command.nickname ?? view.mine.nickname
        view.mine.notes = command.notes ?? view.mine.notes
        view.mine.sendPings = command.sendPings ?? view.mine.sendPings
        view.mine.receivePings = command.receivePings ?? view.mine.receivePings
        view.mine.notifyOnCheckIn = command.notifyOnCheckIn ?? view.mine.notifyOnCheckIn
        view.mine.notifyOnMissedCheckIn = command.notifyOnMissedCheckIn ?? view.mine.notifyOnMissedCheckIn
        guard view.row != before.row else { return [] }
        return change(&rows, from: before, to: view, asker)
    }

    static func remove(
        _ rows: inout ContactsRows, _ command: RemoveContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let view = try relation(rows, asker, with: command.contact)
        rows[view.pair] = nil
        return removed(&rows, view, mine: .removed, asker)
    }

    static func removed(
        _ rows: inout ContactsRows, _ view: RelationView, mine: RelationEndReason, _ asker: Asker
    ) -> [ContactsEvent] {
        let events: [ContactsEvent] = [
            (view.account, view.contact, mine), (view.contact, view.account, RelationEndReason.removed),
        ].map {
            .contactRemoved(.init(account: $0.0, contact: $0.1, by: asker.account, reason: $0.2, at: asker.time))
        }
        let pings =
            pingEnded(view.theirs.openWatch, from: view.contact, to: view.account, isAnswered: false, asker)
            + pingEnded(view.mine.openWatch, from: view.account, to: view.contact, isAnswered: false, asker)
        return events + pings + endAlarms(&rows, between: view.account, and: view.contact, at: asker.time)
            + forgetTier(&rows, of: view.account, naming: view.contact, at: asker.time)
            + forgetTier(&rows, of: view.contact, naming: view.account, at: asker.time)
    }

    /// Saves the asking account's change to a relation, and everything that follows from it.
    static func change(
        _ rows: inout ContactsRows, from before: RelationView, to changed: RelationView, _ asker: Asker
    ) -> [ContactsEvent] {
        var view = changed
        var cancelled: [ContactsEvent] = []
        if let sent = view.mine.pinged, !view.mine.iAmResponder {
            let watch = view.mine.endPing()
            cancelled += Self.cancelled(sent, from: view.account, to: view.contact, at: asker.time)
            cancelled += pingEnded(watch, from: view.account, to: view.contact, isAnswered: false, asker)
        }
        if let sent = view.theirs.pinged, !view.theirs.iAmResponder {
            let watch = view.theirs.endPing()
            cancelled += Self.cancelled(sent, from: view.contact, to: view.account, at: asker.time)
            cancelled += pingEnded(watch, from: view.contact, to: view.account, isAnswered: false, asker)
        }
        // Should they become one again, nothing is chosen for them.
        if !view.mine.iAmResponder { (view.mine.watch, view.theirs.pingEscalation) = (nil, nil) }
        if !view.theirs.iAmResponder { (view.theirs.watch, view.mine.pingEscalation) = (nil, nil) }
        let rolesChanged =
            view.mine.iAmResponder != before.mine.iAmResponder || view.theirs.iAmResponder != before.theirs.iAmResponder
        let isAcceptance = view.theirs.iAmResponder && before.theirs.roleRequested != nil
        if isAcceptance {
            view.theirs.roleRequested = nil
            view.theirs.showsReach = true
        }
        view.mine.version += 1
        view.mine.updated = asker.time
        if rolesChanged {
            view.theirs.version += 1
            view.theirs.updated = asker.time
        }
        save(&rows, view, asker)
        let events: [ContactsEvent] = (rolesChanged ? [view, view.mirrored] : [view]).map { view in
            .contactUpdated(
                .init(
                    account: view.account, contact: view.seen, by: asker.account, rolesChanged: rolesChanged,
                    isAcceptance: isAcceptance))
        }
        let former = [(before, view), (before.mirrored, view.mirrored)].filter { before, view in
            before.theirs.iAmResponder && !view.theirs.iAmResponder
        }.flatMap { forgetTier(&rows, of: $0.1.account, naming: $0.1.contact, at: asker.time) }
        return events + cancelled + former + catchUp(&rows, view, at: asker.time)
    }

    /// Saves a relation. From now on both may lose touch, if a row of 0.1.0 doesn't say yet until when they are reachable.
    static func save(_ rows: inout ContactsRows, _ view: RelationView, _ asker: Asker) {
        for (account, side) in [(view.account, view.mine), (view.contact, view.theirs)] where side.showsReach {
            if rows.accounts[account]?.reachableUntil == nil { setReached(&rows, account, asker) }
        }
        rows[view.pair] = view.row
    }

    /// A new responder is notified of everything until they say otherwise; a former one of nothing.
    static func startResponding(_ side: inout RelationRow.Side, was before: RelationRow.Side) {
        guard side.iAmResponder != before.iAmResponder else { return }
        side.notifyOnCheckIn = side.iAmResponder
        side.notifyOnMissedCheckIn = side.iAmResponder
        side.showsReach = false
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: RelationCommand, of account: AccountID) {
        switch command {
        case .updateContact(let command):
            meet(account, command.contact)
            if command.isMyResponder != nil || command.iAmResponder != nil || command.notifyOnMissedCheckIn != nil {
                hear(account, command.contact)
            }
        case .removeContact(let command):
            meet(account, command.contact)
            hear(account, command.contact)
        case .blockContact(let command):
            join(account, command.contact)
            blocking.insert(account)
        case .unblockContact(let command): join(account, command.contact)
        }
    }
}
