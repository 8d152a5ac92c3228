import ContactsContract
import ContractSupport
import Foundation
import HTTPTypes
import Hummingbird
import NotificationsContract
import Postgres
import SessionContract
import Vocabulary

/// `GET`: what the caller may see, composed from what the owners publish.
struct Reads: Sendable {
    let pool: Pool
    let lookUps: RateLimit<AccountID>

    // MARK: /v1/account

    func account(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let state = try States.session(caller.account)
        return .json(try await scalar("SELECT \(state)"))
    }

    // MARK: /v1/contacts, /v1/contacts/{account}

    private struct Contacts: Encodable {
        let code: ContactCode?
        let isApprovalRequired: Bool
        let contacts: [ContactCard]
        let requests: [RequestCard]
        let blocked: [AccountID]
        /// What to ask for the next page with, as `after`; none on the last one.
        let next: AccountID?
    }

    func contacts(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let role = try request.choice("role", of: Role.self)
        let ping = try request.choice("ping", of: PingDirection.self)
        let limit = try request.number("limit", in: 1...1000) ?? 1000
        let after = try request.id("after", as: AccountSubject.self)
        // In the order of their ids: a page stays what it is while others come and go.
        let (state, page, people) = try await contactsState(of: caller.account, limit: limit + 1) { contact in
            (role?.isMeant(contact) ?? true) && (ping?.isMeant(contact) ?? true)
                && (after.map { contact.account > $0 } ?? true)
        }
        let cards = page.prefix(limit).map { ContactCard($0, people[$0.account]) }
        return try .json(
            Contacts(
                code: state.code, isApprovalRequired: state.isApprovalRequired, contacts: cards,
                requests: try await requestCards(state.requests), blocked: state.blocked,
                next: page.count > limit ? cards.last?.contact.account : nil))
    }

    /// Requests with who asks: somebody who asks shows who they are, somebody who is asked shows nothing.
    private func requestCards(_ requests: Ordered<ContactRequest>) async throws -> [RequestCard] {
        let askers = requests.filter { $0.direction == .incoming }.map(\.account)
        let profiles: [AccountID: ProfileSummary] =
            askers.isEmpty
            ? [:]
            : try await pool.withConnection { database in
                let rows = try database.query(
                    "SELECT p.account, p.handle, p.name FROM session.profile AS p WHERE p.account = ANY (\(askers))")
                return Dictionary(
                    uniqueKeysWithValues: try rows.map {
                        (
                            try $0.decode(0, as: AccountID.self),
                            ProfileSummary(
                                handle: try $0.decode(1, as: String.self), name: try $0.decode(2, as: String?.self))
                        )
                    })
            }
        return requests.map { RequestCard($0, from: profiles[$0.account]) }
    }

    func contact(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        let other = try context.id("account", as: AccountSubject.self)
        guard let card = try await card(of: other, seenBy: caller.account) else {
            throw Problem(.notFound, "notContact", "this is no contact of yours", field: "account")
        }
        return try .json(card)
    }

    private func card(of other: AccountID, seenBy account: AccountID) async throws -> ContactCard? {
        let (_, found, people) = try await contactsState(of: account, limit: 1) { $0.account == other }
        return found.first.map { ContactCard($0, people[other]) }
    }

    // MARK: What was changed meanwhile

    /// The present state of what a command wanted to change, as its own `GET` gives it; nil for what has no version.
    func state(for command: any CommandBody, _ caller: Caller) async throws -> [UInt8]? {
        switch command {
        case is UpdateProfile: Array(try await scalar("SELECT \(States.session(caller.account))").utf8)
        case let command as UpdateContact:
            try await card(of: command.contact, seenBy: caller.account).map { Array(try jsonText($0).utf8) }
        default: nil
        }
    }

    private enum Role: String, CaseIterable {
        case responder, dependent

        func isMeant(_ contact: Contact) -> Bool {
            switch self {
            case .responder: contact.isMyResponder
            case .dependent: contact.iAmResponder
            }
        }
    }

    private enum PingDirection: String, CaseIterable {
        case incoming, outgoing

        func isMeant(_ contact: Contact) -> Bool {
            switch self {
            case .incoming: contact.incomingPing != nil
            case .outgoing: contact.outgoingPing != nil
            }
        }
    }

    /// An account's contacts, those of them that are wanted, and the people they are, as they were at one moment.
    private func contactsState(
        of account: AccountID, limit: Int, where isWanted: @escaping @Sendable (Contact) -> Bool
    ) async throws -> (ContactsState, [Contact], [AccountID: AccountState]) {
        let query = try States.contacts(account)
        return try await pool.withConnection { database in
            try database.transaction(isolation: .repeatableRead, readOnly: true) { database in
                let state = try database.query("SELECT \(query)").only.map {
                    try JSONDecoder().decode(ContactsState.self, from: Data($0.decode(0, as: JSON.self).bytes))
                }
                guard let state else { return (ContactsState(account: account), [], [:]) }
                let wanted = Array(state.contacts.lazy.filter(isWanted).prefix(limit))
                let people = try database.query(
                    """
                    SELECT s.account, s.state FROM unnest(\(wanted.map(\.account))) AS w(account)
                      JOIN session.account_state AS s ON s.account = w.account
                    """
                ).map {
                    (
                        try $0.decode(0, as: AccountID.self),
                        try JSONDecoder().decode(AccountState.self, from: Data($0.decode(1, as: JSON.self).bytes))
                    )
                }
                return (state, wanted, Dictionary(people) { first, _ in first })
            }
        }
    }

    // MARK: /v1/contact-codes/{code}

    func contactCode(_ request: Request, _ context: EdgeContext) async throws -> Response {
        let caller = try context.requireCaller()
        guard lookUps.admit(caller.account) else {
            throw Problem(
                .tooManyRequests, "tooManyLookUps", "too many codes were looked up; wait a minute", retryAfter: 60)
        }
        let code = try context.id("code", as: ContactCodeSubject.self)
        let owner = try await pool.withConnection { database in
            try database.query(
                """
                SELECT p.handle, p.name FROM contacts.contact_code AS c
                  JOIN session.profile AS p ON p.account = c.account
                 WHERE c.code = \(code)
                   AND NOT EXISTS (SELECT FROM contacts.blocking AS b
                                    WHERE b.account = c.account AND b.contact = \(caller.account))
                """
            ).only.map {
                ProfileSummary(handle: try $0.decode(0, as: String.self), name: try $0.decode(1, as: String?.self))
            }
        }
        // The same for whoever is blocked.
        guard let owner else { throw Problem(.notFound, "notFound", "nobody has this code", field: "code") }
        return try .json(owner)
    }

    private func scalar(_ query: Query) async throws -> String {
        try await pool.withConnection { database in
            try database.query(query).only.map {
                String(decoding: try $0.decode(0, as: JSON.self).bytes, as: UTF8.self)
            }
        } ?? "null"
    }
}
