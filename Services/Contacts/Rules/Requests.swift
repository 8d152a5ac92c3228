import QuartetContactsContract
import QuartetContractSupport
package import QuartetVocabulary

/// An unanswered request to become contacts. The roles are as its sender proposed them.
package struct RequestRow: Equatable, Sendable {
    package var isMyResponder: Bool
    package var iAmResponder: Bool
    package var nickname: String
    /// The two had no contact in common.
    package var isStranger: Bool
    package var requested: Instant
}

extension RequestRow {
    package static let blank = Self(
        isMyResponder: false, iAmResponder: false, nickname: "", isStranger: false, requested: .blank)
}

extension ContactsReducer {
    static func reduce(
        _ rows: inout ContactsRows, _ command: RequestCommand, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        switch command {
        case .addContact(let command): try add(&rows, command, asker)
        case .approveContactRequest(let command): try approve(&rows, command, asker)
        case .declineContactRequest(let command):
            try endRequest(&rows, from: command.contact, to: asker.account, .declined, asker)
        case .withdrawContactRequest(let command):
            try endRequest(&rows, from: asker.account, to: command.contact, .withdrawn, asker)
        }
    }

    static func add(
        _ rows: inout ContactsRows, _ command: AddContact, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let field = command.code == nil ? "contact" : "code"
        // The same answer whether the account doesn't exist or has blocked the asking one.
        let unknown = Rejection(
            .notFound, "No account can be added by this; ask the person for their current code.", field: field)
        guard let contact = command.contact ?? command.code.flatMap({ rows.owner(of: $0) }) else { throw unknown }
        guard contact != asker.account else {
            throw Rejection(.yourself, "You can't be your own contact.", field: field)
        }
        // First, since ids without an account can be blocked, too.
        guard rows.blocks[Ends(from: asker.account, to: contact)] == nil else {
            throw Rejection(.blocked, "You blocked this person; unblock them first.", field: field)
        }
        guard !contact.isCanary, let other = rows.accounts[contact], other.closed == nil else { throw unknown }
        guard rows.blocks[Ends(from: contact, to: asker.account)] == nil else { throw unknown }
        guard rows[Pair(asker.account, contact)] == nil else {
            throw Rejection(.alreadyContact, "You are already contacts; update the contact instead.", field: field)
        }
        var roles = Roles(
            isMyResponder: command.isMyResponder, iAmResponder: command.iAmResponder, theyOffered: false,
            iOffer: command.iAmResponder, theyAgreed: false)
        let nickname = command.nickname ?? ""
        let isAgreed = command.code != nil && !other.isApprovalRequired
        if let theirs = rows.requests[Ends(from: contact, to: asker.account)] {
            guard isAgreed || theirs.isMyResponder || !roles.iAmResponder else {
                throw Rejection(
                    .alreadyRequested,
                    "They have already asked you, but not to be your dependent; answer their request first.",
                    field: field)
            }
            // Their request says whether the asking account becomes their responder; the command says whether they
            // become the asking account's.
            roles.theyOffered = theirs.iAmResponder
            roles.theyAgreed = theirs.isMyResponder
            roles.iAmResponder = roles.iAmResponder || theirs.isMyResponder
            return try join(
                &rows, roles, asker, with: contact, nickname: nickname, theirNickname: theirs.nickname,
                isAcceptance: true)
        }
        if isAgreed {
            return try join(
                &rows, roles, asker, with: contact, nickname: nickname, theirNickname: "", isAcceptance: false)
        }
        return try ask(&rows, roles, asker, contact, nickname: nickname, field: field)
    }

    /// The roles seen from the asking account.
    private struct Roles {
        var isMyResponder: Bool
        var iAmResponder: Bool
        /// Whether the other offered to be a responder.
        var theyOffered: Bool
        /// Whether the asking account says so itself, and not only the other's request.
        var iOffer: Bool
        /// Whether the other wants the asking account as a responder: a code alone doesn't say so.
        var theyAgreed: Bool
    }

    private static func ask(
        _ rows: inout ContactsRows, _ roles: Roles, _ asker: Asker, _ contact: AccountID, nickname: String,
        field: String
    ) throws(Rejection) -> [ContactsEvent] {
        let ends = Ends(from: asker.account, to: contact)
        guard rows.requests[ends] == nil else {
            throw Rejection(
                .alreadyRequested, "You have already asked; wait for the answer or withdraw the request.", field: field)
        }
        guard rows.requests.keys.count(where: { $0.from == asker.account }) < rows.limits.requests else {
            throw Rejection(
                .limitReached, "You have too many unanswered requests; withdraw one first.", field: field)
        }
        let expired = try makeRoom(&rows, for: contact, asker, field: field)
        rows.requests[ends] = RequestRow(
            isMyResponder: roles.isMyResponder, iAmResponder: roles.iAmResponder, nickname: nickname,
            isStranger: rows.areStrangers(asker.account, contact), requested: asker.time)
        let sent = ContactRequest(
            account: contact, direction: .outgoing, isMyResponder: roles.isMyResponder,
            iAmResponder: roles.iAmResponder,
            requested: asker.time)
        let received = ContactRequest(
            account: asker.account, direction: .incoming, isMyResponder: roles.iAmResponder,
            iAmResponder: roles.isMyResponder,
            requested: asker.time)
        return [.contactRequestSent(.init(account: asker.account, request: sent))] + expired + [
            .contactRequestReceived(.init(account: contact, request: received))
        ]
    }

    /// Strangers can't block the way: when too many requests wait, the oldest one from a stranger ends.
    private static func makeRoom(
        _ rows: inout ContactsRows, for contact: AccountID, _ asker: Asker, field: String
    ) throws(Rejection) -> [ContactsEvent] {
        let waiting = rows.requests.keys.filter { $0.to == contact }
        guard waiting.count >= rows.limits.requests else { return [] }
        let oldest = waiting.compactMap { ends -> (since: Instant, ends: Ends)? in
            rows.requests[ends].flatMap { $0.isStranger ? ($0.requested, ends) : nil }
        }.min { ($0.since, $0.ends) < ($1.since, $1.ends) }
        guard let oldest else {
            throw Rejection(
                .limitReached,
                "This person has too many unanswered requests; try again later, or ask for their code.",
                field: field)
        }
        return end(&rows, oldest.ends, .expired, at: asker.time, first: contact)
    }

    static func approve(
        _ rows: inout ContactsRows, _ command: ApproveContactRequest, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let request = try waiting(rows, Ends(from: command.contact, to: asker.account))
        guard command.isMyResponder == request.iAmResponder, command.iAmResponder == request.isMyResponder else {
            throw Rejection(
                .requestChanged, "The request now asks for other roles; look at it again.", field: "contact")
        }
        return try join(
            &rows,
            Roles(
                isMyResponder: command.isMyResponder, iAmResponder: command.iAmResponder,
                theyOffered: request.iAmResponder, iOffer: command.iAmResponder, theyAgreed: request.isMyResponder),
            asker, with: command.contact,
            nickname: "", theirNickname: request.nickname, isAcceptance: true)
    }

    static func endRequest(
        _ rows: inout ContactsRows, from: AccountID, to: AccountID, _ reason: RelationEndReason, _ asker: Asker
    ) throws(Rejection) -> [ContactsEvent] {
        let ends = Ends(from: from, to: to)
        _ = try waiting(rows, ends)
        return end(&rows, ends, reason, at: asker.time, first: asker.account)
    }

    /// Ends a request, with an event for each side.
    static func end(
        _ rows: inout ContactsRows, _ ends: Ends, _ reason: RelationEndReason, at time: Instant, first: AccountID
    ) -> [ContactsEvent] {
        rows.requests[ends] = nil
        let toAsker = ContactRequestEnded(
            account: ends.from, contact: ends.to, direction: .outgoing, reason: reason, at: time)
        let toAsked = ContactRequestEnded(
            account: ends.to, contact: ends.from, direction: .incoming, reason: reason, at: time)
        return (first == ends.from ? [toAsker, toAsked] : [toAsked, toAsker]).map { .contactRequestEnded($0) }
    }

    private static func waiting(_ rows: ContactsRows, _ ends: Ends) throws(Rejection) -> RequestRow {
        guard let request = rows.requests[ends] else {
            throw Rejection(
                .notFound, "There is no such pending request; look at your requests again.", field: "contact")
        }
        return request
    }

    private static func join(
        _ rows: inout ContactsRows, _ roles: Roles, _ asker: Asker, with contact: AccountID, nickname: String,
        theirNickname: String, isAcceptance: Bool
    ) throws(Rejection) -> [ContactsEvent] {
        let limit = rows.limits.contacts
        guard rows.contactCount(of: asker.account) < limit else {
            throw Rejection(.limitReached, "You can have at most \(limit) contacts; remove one first.")
        }
        guard rows.contactCount(of: contact) < limit else {
            throw Rejection(
                .limitReached, "The other person can't have more contacts; they must remove one first.")
        }
        let mine = RelationRow.Side(
            new: asker.time, iAmResponder: roles.iAmResponder, showsReach: roles.iOffer, nickname: nickname)
        var theirs = RelationRow.Side(
            new: asker.time, iAmResponder: roles.isMyResponder, showsReach: roles.theyOffered, nickname: theirNickname)
        // Otherwise whoever removed and added them again would undo what they chose, and what counts the alerts of a day.
        if roles.iAmResponder, !roles.theyAgreed { theirs.pingEscalation = .seconds(0) }
        var view = RelationView(
            RelationRow(low: mine, high: theirs, added: asker.time), of: asker.account, with: contact)
        view.mine = mine
        view.theirs = theirs
        rows.requests[Ends(from: asker.account, to: contact)] = nil
        rows.requests[Ends(from: contact, to: asker.account)] = nil
        save(&rows, view, asker)
        return [view, view.mirrored].map { view in
            .contactAdded(
                .init(account: view.account, contact: view.seen, by: asker.account, isAcceptance: isAcceptance))
        } + catchUp(&rows, view, at: asker.time)
    }
}

extension ContactsRows.Selection {
    mutating func add(_ command: RequestCommand, of account: AccountID) {
        switch command {
        case .addContact(let command):
            changed.insert(account)
            asking.insert(account)
            growing.insert(account)
            if let contact = command.contact { join(account, contact) }
            if let code = command.code { join(account, code) }
        case .approveContactRequest(let command): join(account, command.contact)
        case .declineContactRequest(let command): join(account, command.contact)
        case .withdrawContactRequest(let command): join(account, command.contact)
        }
    }
}
