import ContactsContract
import Grammar
import Vocabulary
import WorkingSet

extension ContactsReducer {
    static func remove(
        _ rows: inout ContactsRows, _ command: RemoveContact, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let view = try relation(rows, asker, with: command.contact)
        rows[view.pair] = nil
        return removed(view, mine: .removed, asker)
    }

    private static func removed(
        _ view: RelationView, mine: EndReason, _ asker: Asker
    ) -> [Emission<ContactsEvent>] {
        [(view.account, view.contact, mine), (view.contact, view.account, EndReason.removed)].map {
            emit(
                .contactRemoved(
                    .init(account: $0.0, contact: $0.1, by: asker.account, reason: $0.2, at: asker.time)))
        }
    }

    static func block(
        _ rows: inout ContactsRows, _ command: BlockContact, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        guard command.contact != asker.account else {
            throw Rejection(.yourself, "Choose somebody else; you can't block yourself.", field: "contact")
        }
        try requireOpen(rows, command.contact, field: "contact")
        let ends = Ends(from: asker.account, to: command.contact)
        guard rows.blocks[ends] == nil else { return [] }
        guard rows.blocks.keys.count(where: { $0.from == asker.account }) < rows.limits.blocks else {
            throw Rejection(
                .limitReached, "You block \(rows.limits.blocks) accounts, as many as there may be; unblock one first.")
        }
        rows.blocks[ends] = BlockRow(at: asker.time)
        var told = [
            emit(.contactBlocked(.init(account: asker.account, contact: command.contact, at: asker.time)))
        ]
        let pair = Pair(asker.account, command.contact)
        if let row = rows[pair] {
            rows[pair] = nil
            told += removed(RelationView(row, of: asker.account, with: command.contact), mine: .blocked, asker)
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
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let ends = Ends(from: asker.account, to: command.contact)
        guard rows.blocks[ends] != nil else {
            throw Rejection(.notFound, "You don't block this account; there is nothing to take back.", field: "contact")
        }
        rows.blocks[ends] = nil
        return [emit(.contactUnblocked(.init(account: asker.account, contact: command.contact, at: asker.time)))]
    }
}
