import API
import ContactsContract
import ContractSupport
import Foundation
import Postgres
import SessionClientOrchestration
import SessionContract
import Vocabulary

/// What a caller may see, joined from what the owners publish.
struct Reads: Sendable {
    let pool: Pool
    let groups: GroupReads
    /// How many people an account may look for.
    let lookUps: RateLimit<AccountID>

    func account(of caller: Caller) async throws -> Encoded<AccountState> {
        let state = try States.session(caller.account)
        let json = try await pool.withConnection { database in
            try database.query("SELECT \(state)").only?.decode(0, as: JSON.self).bytes
        }
        return Encoded(json: json ?? Array("null".utf8))
    }

    // MARK: Contacts

    func contacts(_ query: ContactsQuery, of caller: Caller) async throws -> ContactsPage {
        let limit = query.limit
        let (state, page, people) = try await contactsState(of: caller.account, limit: limit + 1) { query.wants($0) }
        let cards = page.prefix(limit).map { ContactCard($0, people[$0.account]) }
        return ContactsPage(
            code: state.code, isApprovalRequired: state.isApprovalRequired, contacts: cards,
            requests: try await requestCards(state.requests), blocked: state.blocked,
            next: page.count > limit ? cards.last?.contact.account : nil)
    }

    /// Requests with their senders: a person who asks shows who they are, one who is asked shows nothing.
    private func requestCards(_ requests: Ordered<ContactRequest>) async throws -> [RequestCard] {
        let askers = requests.filter { $0.direction == .incoming }.map(\.account)
        let profiles: [AccountID: ProfileSummary] =
            askers.isEmpty
            ? [:]
            : try await pool.withConnection { database in
                let rows = try database.query(
                    "SELECT p.handle, p.name, p.account FROM session.profile AS p WHERE p.account = ANY (\(askers))")
                return Dictionary(
                    uniqueKeysWithValues: try rows.map {
                        (try $0.decode(2, as: AccountID.self), try ProfileSummary($0))
                    })
            }
        return requests.map { RequestCard($0, from: profiles[$0.account]) }
    }

    func contact(_ other: AccountID, of caller: Caller) async throws -> ContactCard {
        let (_, found, people) = try await contactsState(of: caller.account, limit: 1) { $0.account == other }
        guard let contact = found.first else { throw APIError(.notContact, field: "account") }
        return ContactCard(contact, people[other])
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

    /// Whose code it is.
    func owner(of code: ContactCode, for caller: Caller) async throws -> ProfileSummary {
        try lookUps.require(caller.account, orElse: .tooManyLookUps)
        let owner = try await pool.withConnection { database in
            try database.query(
                """
                SELECT p.handle, p.name FROM contacts.contact_code AS c
                  JOIN session.profile AS p ON p.account = c.account
                 WHERE c.code = \(code)
                   AND NOT EXISTS (SELECT FROM contacts.blocking AS b
                                    WHERE b.account = c.account AND b.contact = \(caller.account))
                """
            ).only.map { try ProfileSummary($0) }
        }
        // The same for callers who are blocked.
        guard let owner else { throw APIError(.notFound, "No account has this code.", field: "code") }
        return owner
    }

    // MARK: What was changed meanwhile

    /// The present state of what a command wanted to change, as its own read gives it; nil for what has no version.
    func current(for command: any CommandBody, _ caller: Caller) async throws -> [UInt8]? {
        switch command {
        case is UpdateProfile: try await account(of: caller).json
        case let command as UpdateContact: try Encoded(try await contact(command.contact, of: caller)).json
        case let command as UpdateGame: try Encoded(try await groups.game(of: command.group, by: caller)).json
        case let command as FinishGame: try Encoded(try await groups.game(of: command.group, by: caller)).json
        case let command as SetPlayback: try await groups.playback(of: command.group, by: caller)?.json
        default: nil
        }
    }
}

extension ContactsQuery {
    fileprivate func wants(_ contact: Contact) -> Bool {
        let hasRole =
            switch role {
            case .responder: contact.isMyResponder
            case .dependent: contact.iAmResponder
            case nil: true
            }
        let hasPing =
            switch ping {
            case .incoming: contact.incomingPing != nil
            case .outgoing: contact.outgoingPing != nil
            case nil: true
            }
        return hasRole && hasPing && after.map { contact.account > $0 } ?? true
    }
}

extension ProfileSummary {
    /// From a row of handle and name.
    fileprivate init(_ row: Row) throws {
        self.init(handle: try row.decode(0, as: String.self), name: try row.decode(1, as: String?.self))
    }
}
