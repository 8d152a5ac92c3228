import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary

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
        _ view: RelationView, _ direction: Direction, _ reason: RelationEndReason, _ asker: Asker
    ) -> [ContactsEvent] {
        let theirs: Direction = direction == .outgoing ? .incoming : .outgoing
        return [(view, direction), (view.mirrored, theirs)].map { view, direction in
            .roleChangeEnded(
                .init(
                    account: view.account, contact: view.contact, direction: direction, reason: reason,
                    at: asker.time))
        }
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
