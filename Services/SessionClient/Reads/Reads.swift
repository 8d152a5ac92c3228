import Foundation
import Postgres
import QuartetAPI
import QuartetContactsContract
import QuartetContractSupport
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

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
        let (account, limit) = (caller.account, query.limit)
        let rows = Self.contacts(of: account, where: query.condition, limit: limit + 1)
        let (summary, found) = try await pool.withConnection { database in
            try database.transaction(isolation: .repeatableRead, readOnly: true) { database in
                let summary = try database.query(Self.summary(of: account)).only?.decode(0, as: JSON.self).bytes
                return (summary, try database.query(rows).map { try FoundContact($0) })
            }
        }
        let state = try Self.state(summary, of: account)
        let cards = try found.prefix(limit).map { try $0.card() }
        return ContactsPage(
            code: state.code, isApprovalRequired: state.isApprovalRequired, contacts: cards,
            requests: try await requestCards(state.requests), blocked: state.blocked,
            next: found.count > limit ? cards.last?.contact.account : nil)
    }

    /// An account's contacts, without those that it has.
    private func summary(of caller: Caller) async throws -> ContactsState {
        let summary = try await pool.withConnection { database in
            try database.query(Self.summary(of: caller.account)).only?.decode(0, as: JSON.self).bytes
        }
        return try Self.state(summary, of: caller.account)
    }

    private static func summary(of account: AccountID) -> Query {
        "SELECT s.state FROM contacts.contacts_summary AS s WHERE s.account = \(account)"
    }

    private static func state(_ summary: [UInt8]?, of account: AccountID) throws -> ContactsState {
        try summary.map { try JSONDecoder().decode(ContactsState.self, from: Data($0)) }
            ?? ContactsState(account: account)
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
        let rows = Self.contacts(of: caller.account, where: "c.contact = \(other)", limit: 1)
        // Decoded when the connection is given back.
        let found = try await pool.withConnection { database in try database.query(rows).map { try FoundContact($0) } }
        guard let contact = found.first else { throw APIError(.notContact, field: "account") }
        return try contact.card()
    }

    /// Some of an account's contacts in the order of their ids, each with the state of the person that it is: no more is read
    /// than these, however many others there are.
    static func contacts(of account: AccountID, where condition: Query, limit: Int) -> Query {
        """
        SELECT f.*, (SELECT s.state FROM session.account_state AS s WHERE s.account = f.contact)
          FROM (SELECT c.contact, c.nickname, c.notes, c.is_my_responder, c.i_am_responder, c.send_pings, c.receive_pings,
                       c.notify_on_check_in, c.notify_on_missed_check_in, c.outgoing_ping_at, c.incoming_ping_at,
                       c.outgoing_role_request_at, c.incoming_role_request_at, c.added_at, c.updated_at, c.version,
                       c.outgoing_ping_due, c.is_outgoing_ping_later, c.incoming_ping_due, c.ping_escalation,
                       c.is_outgoing_ping_over
                  FROM contacts.contact AS c
                 WHERE c.account = \(account) AND \(condition)
                 ORDER BY c.contact
                 LIMIT \(Int64(limit))) AS f
         ORDER BY f.contact
        """
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
        case is UpdateProfile, is SetDailyCheckIns, is SetCheckInInterval: try await account(of: caller).json
        case is SetResponderTiers: try Encoded(CurrentResponderTiers(try await summary(of: caller))).json
        case let command as UpdateContact: try Encoded(try await contact(command.contact, of: caller)).json
        case let command as UpdateGame: try Encoded(try await groups.game(of: command.group, by: caller)).json
        case let command as FinishGame: try Encoded(try await groups.game(of: command.group, by: caller)).json
        case let command as SetPlayback: try await groups.playback(of: command.group, by: caller)?.json
        default: nil
        }
    }
}

/// A contact and the state of the person that it is, as JSON.
private struct FoundContact: Sendable {
    private let contact: Contact
    /// Nil for an account that session doesn't know.
    private let person: [UInt8]?

    /// From a row of ``Reads/contacts(of:where:limit:)``.
    init(_ row: Row) throws {
        contact = Contact(
            account: try row.decode(0, as: AccountID.self), nickname: try row.decode(1, as: String.self),
            notes: try row.decode(2, as: String.self), isMyResponder: try row.decode(3, as: Bool.self),
            iAmResponder: try row.decode(4, as: Bool.self), sendPings: try row.decode(5, as: Bool.self),
            receivePings: try row.decode(6, as: Bool.self), notifyOnCheckIn: try row.decode(7, as: Bool.self),
            notifyOnMissedCheckIn: try row.decode(8, as: Bool.self),
            outgoingPing: try row.decode(9, as: Instant?.self), incomingPing: try row.decode(10, as: Instant?.self),
            outgoingPingDue: try row.decode(16, as: Int64?.self).map(Instant.init(microseconds:)),
            isOutgoingPingLater: try row.decode(17, as: Bool?.self),
            isOutgoingPingOver: try row.decode(20, as: Bool?.self),
            incomingPingDue: try row.decode(18, as: Int64?.self).map(Instant.init(microseconds:)),
            pingEscalation: try row.decode(19, as: Int64?.self).map(Interval.init(microseconds:)),
            outgoingRoleRequest: try row.decode(11, as: Instant?.self),
            incomingRoleRequest: try row.decode(12, as: Instant?.self), added: try row.decode(13, as: Instant.self),
            updated: try row.decode(14, as: Instant.self), version: try row.decode(15, as: Int64.self))
        person = try row.decode(21, as: JSON?.self)?.bytes
    }

    func card() throws -> ContactCard {
        ContactCard(
            contact, try person.map { try JSONDecoder().decode(AccountState.self, from: Data($0)) })
    }
}

extension ContactsQuery {
    /// What it wants of the rows `c` of `contacts.contact`.
    fileprivate var condition: Query {
        let hasRole: Query =
            switch role {
            case .responder: "c.is_my_responder"
            case .dependent: "c.i_am_responder"
            case nil: "true"
            }
        let hasPing: Query =
            switch ping {
            case .incoming: "c.incoming_ping_at IS NOT NULL"
            case .outgoing: "c.outgoing_ping_at IS NOT NULL"
            case nil: "true"
            }
        let isNext: Query = after.map { "c.contact > \($0)" } ?? "true"
        return "\(hasRole) AND \(hasPing) AND \(isNext)"
    }
}

extension ProfileSummary {
    /// From a row of handle and name.
    fileprivate init(_ row: Row) throws {
        self.init(handle: try row.decode(0, as: String.self), name: try row.decode(1, as: String?.self))
    }
}
