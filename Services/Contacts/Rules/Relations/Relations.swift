import ContactsContract
import ContractSupport
import Vocabulary

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

    static func remove(
        _ rows: inout ContactsRows, _ command: RemoveContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let view = try relation(rows, asker, with: command.contact)
        rows[view.pair] = nil
        return removed(&rows, view, mine: .removed, asker)
    }

    private static func removed(
        _ rows: inout ContactsRows, _ view: RelationView, mine: EndReason, _ asker: Asker
    ) -> [ContactsEvent] {
        let told: [ContactsEvent] = [
            (view.account, view.contact, mine), (view.contact, view.account, EndReason.removed),
        ].map {
            .contactRemoved(.init(account: $0.0, contact: $0.1, by: asker.account, reason: $0.2, at: asker.time))
        }
        return told + endAlarms(&rows, between: view.account, and: view.contact, at: asker.time)
    }

    static func block(
        _ rows: inout ContactsRows, _ command: BlockContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        guard command.contact != asker.account else {
            throw Rejection(.yourself, "You can't block yourself.", field: "contact")
        }
        try requireOpen(rows, command.contact, field: "contact")
        let ends = Ends(from: asker.account, to: command.contact)
        guard rows.blocks[ends] == nil else { return [] }
        guard rows.blocks.keys.count(where: { $0.from == asker.account }) < rows.limits.blocks else {
            throw Rejection(
                .limitReached, "You can block at most \(rows.limits.blocks) accounts; unblock one first.")
        }
        rows.blocks[ends] = BlockRow(at: asker.time)
        var told: [ContactsEvent] = [
            .contactBlocked(.init(account: asker.account, contact: command.contact, at: asker.time))
        ]
        let pair = Pair(asker.account, command.contact)
        if let row = rows[pair] {
            rows[pair] = nil
            told += removed(&rows, RelationView(row, of: asker.account, with: command.contact), mine: .blocked, asker)
        }
        // For the blocked one it looks like any other end.
        for (request, reason) in [(ends, EndReason.withdrawn), (Ends(from: ends.to, to: ends.from), .declined)]
        where rows.requests[request] != nil {
            told += end(&rows, request, reason, at: asker.time, first: asker.account)
        }
        return told
    }

    static func unblock(
        _ rows: inout ContactsRows, _ command: UnblockContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let ends = Ends(from: asker.account, to: command.contact)
        guard rows.blocks[ends] != nil else {
            throw Rejection(.notFound, "You haven't blocked this account.", field: "contact")
        }
        rows.blocks[ends] = nil
        return [.contactUnblocked(.init(account: asker.account, contact: command.contact, at: asker.time))]
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
            alarming.formUnion([account, command.contact])
        case .blockContact(let command):
            join(account, command.contact)
            blocking.insert(account)
        case .unblockContact(let command): join(account, command.contact)
        }
    }
}
