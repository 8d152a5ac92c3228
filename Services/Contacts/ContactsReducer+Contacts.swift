import ContactsContract
import Grammar
import Vocabulary
import WorkingSet

extension ContactsReducer {
    static func add(
        _ rows: inout ContactsRows, _ command: AddContact, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let field = command.code == nil ? "contact" : "code"
        let unknown = Rejection(
            .notFound, "Nobody can be added by this; ask them for their present code.", field: field)
        guard let contact = command.contact ?? command.code.flatMap({ rows.owner(of: $0) }) else { throw unknown }
        guard contact != asker.account else {
            throw Rejection(.yourself, "Choose somebody else; you can't be your own contact.", field: field)
        }
        guard let other = rows.accounts[contact] else { throw unknown }
        guard other.closed == nil else { throw .accountClosed(field) }
        guard rows.blocks[Ends(from: asker.account, to: contact)] == nil else {
            throw Rejection(.blocked, "You blocked this person; unblock them first.", field: field)
        }
        // Whoever is blocked isn't told.
        guard rows.blocks[Ends(from: contact, to: asker.account)] == nil else { throw unknown }
        guard rows[Pair(asker.account, contact)] == nil else {
            throw Rejection(.alreadyContact, "You are contacts already; change the contact instead.", field: field)
        }
        let request = RequestRow(
            responder: command.responder, dependent: command.dependent, nickname: command.nickname ?? "",
            requested: asker.time)
        if let theirs = rows.requests[Ends(from: contact, to: asker.account)] {
            return try join(&rows, request, asker, with: contact, theirNickname: theirs.nickname)
        }
        guard other.isApprovalRequired else {
            return try join(&rows, request, asker, with: contact, theirNickname: "")
        }
        return try ask(&rows, request, asker, contact, field: field)
    }

    private static func ask(
        _ rows: inout ContactsRows, _ request: RequestRow, _ asker: Asker, _ contact: AccountID, field: String
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let ends = Ends(from: asker.account, to: contact)
        guard rows.requests[ends] == nil else {
            throw Rejection(
                .alreadyRequested, "You asked already; wait for the answer or withdraw the request.", field: field)
        }
        guard rows.requests.keys.count(where: { $0.from == asker.account }) < rows.limits.requests,
            rows.requests.keys.count(where: { $0.to == contact }) < rows.limits.requests
        else {
            throw Rejection(
                .limitReached, "Too many requests wait for an answer; withdraw one of yours or try again later.",
                field: field)
        }
        rows.requests[ends] = request
        let sent = ContactRequest(
            contact: contact, direction: .outgoing, responder: request.responder, dependent: request.dependent,
            requested: asker.time)
        let received = ContactRequest(
            contact: asker.account, direction: .incoming, responder: request.dependent, dependent: request.responder,
            requested: asker.time)
        return [
            emit(.contactRequestSent(.init(account: asker.account, request: sent))),
            emit(.contactRequestReceived(.init(account: contact, request: received))),
        ]
    }

    static func approve(
        _ rows: inout ContactsRows, _ command: ApproveContactRequest, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let request = try waiting(rows, Ends(from: command.contact, to: asker.account))
        let mirrored = RequestRow(
            responder: request.dependent, dependent: request.responder, nickname: "", requested: request.requested)
        return try join(&rows, mirrored, asker, with: command.contact, theirNickname: request.nickname)
    }

    static func endRequest(
        _ rows: inout ContactsRows, from: AccountID, to: AccountID, _ reason: EndReason, _ asker: Asker,
        other: AccountID
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let ends = Ends(from: from, to: to)
        _ = try waiting(rows, ends)
        rows.requests[ends] = nil
        return [asker.account, other].map { account in
            emit(
                .contactRequestEnded(
                    .init(
                        account: account, contact: account == other ? asker.account : other, reason: reason,
                        at: asker.time)))
        }
    }

    private static func waiting(_ rows: ContactsRows, _ ends: Ends) throws(Rejection) -> RequestRow {
        guard let request = rows.requests[ends] else {
            throw Rejection(
                .notFound, "No such request waits for an answer; look at your requests again.", field: "contact")
        }
        return request
    }

    /// Makes two accounts contacts. Roles are as the asker sees them.
    private static func join(
        _ rows: inout ContactsRows, _ roles: RequestRow, _ asker: Asker, with contact: AccountID, theirNickname: String
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let limit = rows.limits.contacts
        guard rows.contactCount(of: asker.account) < limit else {
            throw Rejection(.limitReached, "You have \(limit) contacts, as many as there may be; remove one first.")
        }
        guard rows.contactCount(of: contact) < limit else {
            throw Rejection(
                .limitReached, "The other person has as many contacts as there may be; they must remove one.")
        }
        func side(isResponder: Bool, nickname: String) -> RelationRow.Side {
            RelationRow.Side(
                isResponder: isResponder, nickname: nickname, notes: "", sendPings: true, receivePings: true,
                notifyOnCheckIn: isResponder, notifyOnExpiry: isResponder, pinged: nil, lastPing: nil, version: 1,
                updated: asker.time)
        }
        let mine = side(isResponder: roles.dependent, nickname: roles.nickname)
        let theirs = side(isResponder: roles.responder, nickname: theirNickname)
        var view = RelationView(
            RelationRow(low: mine, high: theirs, added: asker.time), of: asker.account, with: contact)
        view.mine = mine
        view.theirs = theirs
        rows.requests[Ends(from: asker.account, to: contact)] = nil
        rows.requests[Ends(from: contact, to: asker.account)] = nil
        rows[view.pair] = view.row
        return [
            emit(.contactAdded(.init(account: asker.account, contact: view.seen, by: asker.account))),
            emit(.contactAdded(.init(account: contact, contact: view.mirrored.seen, by: asker.account))),
        ] + catchUp(&rows, view, at: asker.time)
    }

    static func update(
        _ rows: inout ContactsRows, _ command: UpdateContact, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        var view = try relation(rows, asker, with: command.contact)
        guard view.mine.version == command.expectedVersion else {
            throw .staleVersion(expected: command.expectedVersion, current: view.mine.version)
        }
        let before = view
        view.theirs.isResponder = command.responder ?? view.theirs.isResponder
        view.mine.isResponder = command.dependent ?? view.mine.isResponder
        try ContactRules.requireRole(responder: view.theirs.isResponder, dependent: view.mine.isResponder)
        startResponding(&view.mine, was: before.mine)
        startResponding(&view.theirs, was: before.theirs)
        view.mine.nickname = command.nickname ?? view.mine.nickname
        view.mine.notes = command.notes ?? view.mine.notes
        view.mine.sendPings = command.sendPings ?? view.mine.sendPings
        view.mine.receivePings = command.receivePings ?? view.mine.receivePings
        view.mine.notifyOnCheckIn = command.notifyOnCheckIn ?? view.mine.notifyOnCheckIn
        view.mine.notifyOnExpiry = command.notifyOnExpiry ?? view.mine.notifyOnExpiry
        guard view.row != before.row else { return [] }

        var cancelled: [Emission<ContactsEvent>] = []
        if let sent = view.mine.pinged, !view.mine.isResponder {
            view.mine.pinged = nil
            cancelled += Self.cancelled(sent, from: view.account, to: view.contact, at: asker.time)
        }
        if let sent = view.theirs.pinged, !view.theirs.isResponder {
            view.theirs.pinged = nil
            cancelled += Self.cancelled(sent, from: view.contact, to: view.account, at: asker.time)
        }
        let rolesChanged =
            view.mine.isResponder != before.mine.isResponder || view.theirs.isResponder != before.theirs.isResponder
        view.mine.version += 1
        view.mine.updated = asker.time
        if rolesChanged {
            view.theirs.version += 1
            view.theirs.updated = asker.time
        }
        rows[view.pair] = view.row
        var told = [
            emit(
                .contactUpdated(
                    .init(
                        account: view.account, contact: view.seen, by: asker.account, rolesChanged: rolesChanged)))
        ]
        if rolesChanged {
            told.append(
                emit(
                    .contactUpdated(
                        .init(
                            account: view.contact, contact: view.mirrored.seen, by: asker.account, rolesChanged: true)))
            )
        }
        return told + cancelled + catchUp(&rows, view, at: asker.time)
    }

    /// Who becomes a responder wants to hear of everything unless they say otherwise; who stops hears nothing.
    private static func startResponding(_ side: inout RelationRow.Side, was before: RelationRow.Side) {
        guard side.isResponder != before.isResponder else { return }
        side.notifyOnCheckIn = side.isResponder
        side.notifyOnExpiry = side.isResponder
    }

    static func remove(
        _ rows: inout ContactsRows, _ command: RemoveContact, _ asker: Asker
    ) throws(Rejection) -> [Emission<ContactsEvent>] {
        let view = try relation(rows, asker, with: command.contact)
        rows[view.pair] = nil
        return removed(&rows, view, mine: .removed, asker)
    }

    private static func removed(
        _ rows: inout ContactsRows, _ view: RelationView, mine: EndReason, _ asker: Asker
    ) -> [Emission<ContactsEvent>] {
        let told = [(view.account, view.contact, mine), (view.contact, view.account, EndReason.removed)].map {
            emit(
                .contactRemoved(
                    .init(account: $0.0, contact: $0.1, by: asker.account, reason: $0.2, at: asker.time)))
        }
        return told + endAlarms(&rows, between: view.account, and: view.contact, at: asker.time)
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
            told += removed(&rows, RelationView(row, of: asker.account, with: command.contact), mine: .blocked, asker)
        }
        for (from, to) in [(asker.account, command.contact), (command.contact, asker.account)]
        where rows.requests[Ends(from: from, to: to)] != nil {
            rows.requests[Ends(from: from, to: to)] = nil
            for (account, contact) in [(asker.account, command.contact), (command.contact, asker.account)] {
                // Who is blocked reads an end that looks like any other.
                let reason: EndReason =
                    account == asker.account ? .blocked : from == asker.account ? .withdrawn : .declined
                told.append(
                    emit(
                        .contactRequestEnded(
                            .init(account: account, contact: contact, reason: reason, at: asker.time))))
            }
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
