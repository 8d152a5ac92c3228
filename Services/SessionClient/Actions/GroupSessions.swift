import Bus
import Postgres
import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetSessionContract
import QuartetVocabulary

/// What the edge adds to commands about group sessions: ids, and who is whose contact, which session doesn't know.
struct GroupSessions: Sendable {
    let services: ServiceConnections
    let pool: Pool
    /// How often a join is tried again because the host changed meanwhile.
    private static let joinLimit = 4

    /// The session's id follows from the command's: a request sent again creates the same session.
    func create(_ request: CreateGroupSessionRequest, _ id: CommandID) -> CreateGroupSession {
        CreateGroupSession(
            group: .derived(at: id.time ?? .now, from: Array("group".utf8), id.bytes), activity: request.activity,
            capacity: request.capacity, seats: request.seats, isOpenToContacts: request.isOpenToContacts)
    }

    /// - Throws: `notContact`, with the accounts that aren't contacts of the caller.
    func activate(
        _ request: ActivateGroupSessionRequest, _ id: CommandID, by caller: Caller
    ) async throws -> ActivateGroupSession {
        let command = ActivateGroupSession(group: request.group, contacts: request.contacts)
        try command.validate()
        let strangers = try await pool.withConnection { database in
            try database.query(
                """
                SELECT w.account FROM unnest(\(request.contacts)) AS w(account)
                 WHERE NOT EXISTS (SELECT FROM contacts.contact AS c
                                    WHERE c.account = \(caller.account) AND c.contact = w.account)
                 ORDER BY w.account
                """
            ).map { try $0.decode(0, as: AccountID.self) }
        }
        guard strangers.isEmpty else {
            // They may have been when the same request was decided, and its answer stays.
            if try await decided(id) != nil { return command }
            var error = APIError(.notContact, "Invite your contacts only.", field: "contacts")
            error.details = ["accounts": .array(strangers.map { .string($0.description) })]
            throw error
        }
        return command
    }

    /// Joins, as a contact of the host where the session is open to contacts. If the host changes meanwhile, it is another
    /// command, with the next host.
    /// - Returns: The event that the join caused.
    func join(
        _ request: JoinGroupSessionRequest, _ id: CommandID, by caller: Caller, _ call: Call
    ) async throws -> CausedEvent? {
        var attempt = 1
        while true {
            do {
                let id = attempt == 1 ? id : call.key.derive("command/session/\(attempt)", caller.account.bytes)
                return try await join(request.group, id, by: caller, call)
            } catch let rejection as Rejection where rejection.code == .hostChanged && attempt < Self.joinLimit {
                attempt += 1
            }
        }
    }

    private func join(
        _ group: GroupID, _ id: CommandID, by caller: Caller, _ call: Call
    ) async throws -> CausedEvent? {
        func ask(_ command: JoinGroupSession) async throws -> CausedEvent? {
            try await services.ask(
                .session, command, id: id, key: .group(group), account: caller.account, call)
        }
        let command = JoinGroupSession(group: group, contactOf: try await hostAmongContacts(of: caller, group))
        do {
            return try await ask(command)
        } catch let rejection as Rejection where rejection.code == .idReused {
            // The same request may have been decided when there was another host. Its answer stays.
            guard let hash = try await decided(id) else { throw rejection }
            for host in [nil] + (try await everyone(in: group)) {
                let earlier = JoinGroupSession(group: group, contactOf: host)
                let message = try Message(earlier, id: id, key: .group(group), account: caller.account)
                if message.bodyHash == hash { return try await ask(earlier) }
            }
            throw rejection
        }
    }

    /// The host of a session that is open to contacts, if the caller is one.
    private func hostAmongContacts(of caller: Caller, _ group: GroupID) async throws -> AccountID? {
        try await pool.withConnection { database in
            try database.query(
                """
                SELECT o.host FROM session.open_group AS o
                  JOIN contacts.contact AS c ON c.account = \(caller.account) AND c.contact = o.host
                 WHERE o.group_id = \(group) AND o.is_open_to_contacts
                """
            ).only?.decode(0, as: AccountID.self)
        }
    }

    /// All who are or were in a session, and so may have been its host.
    private func everyone(in group: GroupID) async throws -> [AccountID?] {
        try await pool.withConnection { database in
            try database.query(
                "SELECT p.account FROM session.group_participant AS p WHERE p.group_id = \(group)"
            ).map { try $0.decode(0, as: AccountID.self) }
        }
    }

    /// The hash of a command that has its outcome; nil for one that hasn't.
    private func decided(_ id: CommandID) async throws -> BodyHash? {
        try await pool.withConnection { database in
            try database.query("SELECT o.command_hash FROM session.outcome AS o WHERE o.command_id = \(id)").only
                .map { BodyHash(id: try $0.decode(0, as: ID<BodyHash>.self)) }
        }
    }
}
