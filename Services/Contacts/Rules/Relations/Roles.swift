import ContactsContract
import ContractSupport
import Vocabulary

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: RoleCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .requestRoleChange(let command): try requestRole(&rows, command, asker)
        case .acceptRoleChange(let command): try acceptRole(&rows, command, asker)
        case .declineRoleChange(let command): try declineRole(&rows, command, asker)
        case .withdrawRoleChange(let command): try withdrawRole(&rows, command, asker)
        }
    }

    static func update(
        _ rows: inout ContactsRows, _ command: UpdateContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        guard view.mine.version == command.expectedVersion else {
            throw .staleVersion(expected: command.expectedVersion, current: view.mine.version)
        }
        // Whoever is seen more has to agree.
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
        view.mine.nickname = command.nickname ?? view.mine.nickname
        view.mine.notes = command.notes ?? view.mine.notes
        view.mine.sendPings = command.sendPings ?? view.mine.sendPings
        view.mine.receivePings = command.receivePings ?? view.mine.receivePings
        view.mine.notifyOnCheckIn = command.notifyOnCheckIn ?? view.mine.notifyOnCheckIn
        view.mine.notifyOnMissedCheckIn = command.notifyOnMissedCheckIn ?? view.mine.notifyOnMissedCheckIn
        guard view.row != before.row else { return [] }
        return change(&rows, from: before, to: view, asker)
    }

    static func requestRole(
        _ rows: inout ContactsRows, _ command: RequestRoleChange, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        guard !view.mine.iAmResponder, view.mine.roleRequested == nil else { return [] }
        view.mine.roleRequested = asker.time
        rows[view.pair] = view.row
        return [(view, Direction.outgoing), (view.mirrored, .incoming)].map { view, direction in
            .roleChangeRequested(
                .init(account: view.account, contact: view.contact, direction: direction, at: asker.time))
        }
    }

    static func acceptRole(
        _ rows: inout ContactsRows, _ command: AcceptRoleChange, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let before = try relation(rows, asker, with: command.contact)
        try requireRoleRequest(before.theirs)
        var view = before
        view.theirs.iAmResponder = true
        startResponding(&view.theirs, was: before.theirs)
        return change(&rows, from: before, to: view, asker)
    }

    static func declineRole(
        _ rows: inout ContactsRows, _ command: DeclineRoleChange, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        try requireRoleRequest(view.theirs)
        view.theirs.roleRequested = nil
        rows[view.pair] = view.row
        return roleRequestEnded(view, .incoming, .declined, asker)
    }

    static func withdrawRole(
        _ rows: inout ContactsRows, _ command: WithdrawRoleChange, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        var view = try relation(rows, asker, with: command.contact)
        try requireRoleRequest(view.mine)
        view.mine.roleRequested = nil
        rows[view.pair] = view.row
        return roleRequestEnded(view, .outgoing, .withdrawn, asker)
    }

    private static func requireRoleRequest(_ side: RelationRow.Side) throws(Rejection) {
        guard side.roleRequested != nil else {
            throw Rejection(
                .notFound, "There is no such pending request; look at the contact again.", field: "contact")
        }
    }

    private static func roleRequestEnded(
        _ view: RelationView, _ direction: Direction, _ reason: EndReason, _ asker: Asker
    ) -> [ContactsEvent] {
        let theirs: Direction = direction == .outgoing ? .incoming : .outgoing
        return [(view, direction), (view.mirrored, theirs)].map { view, direction in
            .roleChangeEnded(
                .init(
                    account: view.account, contact: view.contact, direction: direction, reason: reason,
                    at: asker.time))
        }
    }

    /// Writes what the asker changed of a relation, and what follows from it.
    private static func change(
        _ rows: inout ContactsRows, from before: RelationView, to changed: RelationView, _ asker: Asker
    ) -> [ContactsEvent] {
        var view = changed
        var cancelled: [ContactsEvent] = []
        if let sent = view.mine.pinged, !view.mine.iAmResponder {
            view.mine.pinged = nil
            cancelled += Self.cancelled(sent, from: view.account, to: view.contact, at: asker.time)
        }
        if let sent = view.theirs.pinged, !view.theirs.iAmResponder {
            view.theirs.pinged = nil
            cancelled += Self.cancelled(sent, from: view.contact, to: view.account, at: asker.time)
        }
        let rolesChanged =
            view.mine.iAmResponder != before.mine.iAmResponder || view.theirs.iAmResponder != before.theirs.iAmResponder
        let isAcceptance = view.theirs.iAmResponder && before.theirs.roleRequested != nil
        if isAcceptance { view.theirs.roleRequested = nil }
        view.mine.version += 1
        view.mine.updated = asker.time
        if rolesChanged {
            view.theirs.version += 1
            view.theirs.updated = asker.time
        }
        rows[view.pair] = view.row
        let told: [ContactsEvent] = (rolesChanged ? [view, view.mirrored] : [view]).map { view in
            .contactUpdated(
                .init(
                    account: view.account, contact: view.seen, by: asker.account, rolesChanged: rolesChanged,
                    isAcceptance: isAcceptance))
        }
        return told + cancelled + catchUp(&rows, view, at: asker.time)
    }

    /// Who becomes a responder wants to hear of everything unless they say otherwise; who stops hears nothing.
    private static func startResponding(_ side: inout RelationRow.Side, was before: RelationRow.Side) {
        guard side.iAmResponder != before.iAmResponder else { return }
        side.notifyOnCheckIn = side.iAmResponder
        side.notifyOnMissedCheckIn = side.iAmResponder
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: RoleCommand, of account: AccountID) {
        switch command {
        case .acceptRoleChange(let command):
            meet(account, command.contact)
            hear(account, command.contact)
        case .requestRoleChange(let command): meet(account, command.contact)
        case .declineRoleChange(let command): meet(account, command.contact)
        case .withdrawRoleChange(let command): meet(account, command.contact)
        }
    }
}
