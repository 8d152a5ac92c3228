import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

/// One account blocks another.
package struct BlockRow: Equatable, Sendable {
    package var at: Instant
}

extension BlockRow {
    package static let blank = Self(at: .blank)
}

extension ContactsReducer {
    static func block(
        _ rows: inout ContactsRows, _ command: BlockContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        guard command.contact != asker.account else {
            throw Rejection(.yourself, "You can't block yourself.", field: "contact")
        }
        // Any id may be blocked, even one that there is no account of: otherwise people could tell from the answer that somebody
        // who can't be found has blocked them.
        let ends = Ends(from: asker.account, to: command.contact)
        guard rows.blocks[ends] == nil else { return [] }
        guard rows.blocks.keys.count(where: { $0.from == asker.account }) < rows.limits.blocks else {
            throw Rejection(
                .limitReached, "You can block at most \(rows.limits.blocks) accounts; unblock one first.")
        }
        rows.blocks[ends] = BlockRow(at: asker.time)
        var events: [ContactsEvent] = [
            .contactBlocked(.init(account: asker.account, contact: command.contact, at: asker.time))
        ]
        let pair = Pair(asker.account, command.contact)
        if let row = rows[pair] {
            rows[pair] = nil
            events += removed(&rows, RelationView(row, of: asker.account, with: command.contact), mine: .blocked, asker)
        }
        // The blocked account can't tell this from any other end.
        for (request, reason) in [(ends, RelationEndReason.withdrawn), (Ends(from: ends.to, to: ends.from), .declined)]
        where rows.requests[request] != nil {
            events += end(&rows, request, reason, at: asker.time, first: asker.account)
        }
        return events
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
