import Foundation
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// Group sessions, as far as a caller may see them. An id alone opens nothing.
///
/// Participants and invited people may read a session and, where it is open to contacts, contacts of its host, except those
/// whom a host removed.
struct GroupReads: Sendable {
    let pool: Pool

    /// The sessions that an account is in or may join.
    /// - Parameter isOpen: Leaves out those that it is in.
    func offers(to account: AccountID, isOpen: Bool) async throws -> GroupsPage {
        try await offers(to: [account], isOpen: isOpen)[account] ?? GroupsPage(groups: [])
    }

    /// The same for many accounts, by one statement. Accounts without any are left out.
    func offers(to accounts: [AccountID], isOpen: Bool = false) async throws -> [AccountID: GroupsPage] {
        let offers = try await pool.withConnection { database in
            try database.query(
                """
                SELECT l.*, a.account
                  FROM unnest(\(accounts)) AS a(account)
                 CROSS JOIN LATERAL (
                SELECT o.group_id, w.standing, o.host, (o.activity::jsonb - 'payload')::json, o.participants, o.capacity,
                       o.is_open_to_contacts, o.created_at
                  FROM (SELECT p.group_id, CASE p.status WHEN 'joined' THEN 'joined' ELSE 'invited' END AS standing
                          FROM session.group_participant AS p
                         WHERE p.account = a.account AND p.status <> 'invalidated'
                         UNION ALL
                        SELECT g.group_id, 'open'
                          FROM contacts.contact AS c
                          JOIN session.open_group AS g ON g.host = c.contact AND g.is_open_to_contacts
                         WHERE c.account = a.account
                           AND NOT EXISTS (SELECT FROM session.group_participant AS p
                                            WHERE p.group_id = g.group_id AND p.account = a.account
                                              AND (p.status <> 'invalidated' OR p.reason = 'removed'))) AS w
                  JOIN session.open_group AS o ON o.group_id = w.group_id
                 WHERE w.standing <> 'joined' OR NOT \(isOpen)
                 ORDER BY o.created_at DESC, o.group_id DESC
                 LIMIT \(Int64(GroupsPage.limit))) AS l
                 ORDER BY l.created_at DESC, l.group_id DESC
                """
            ).map { (account: try $0.decode(8, as: AccountID.self), offer: try GroupOffer($0)) }
        }
        return Dictionary(grouping: offers, by: \.account).mapValues { GroupsPage(groups: $0.map(\.offer)) }
    }

    /// The session's state, as JSON.
    /// - Throws: As ``read(_:by:_:)``.
    func state(of group: GroupID, by caller: Caller) async throws -> Encoded<GroupState> {
        let state = try await read(group, by: caller, States.group(group))
        guard let state else { throw APIError(.groupNotFound, field: "group") }
        return Encoded(json: state)
    }

    /// The game that is played in the session, or was played last.
    /// - Throws: As ``read(_:by:_:)``; `gameNotRunning` when no game was ever started.
    func game(of group: GroupID, by caller: Caller) async throws -> Game {
        let game = try await read(group, by: caller, "(\(States.group(group)) -> 'game')")
        guard let game else {
            throw APIError(.gameNotRunning, "No game was started in this session yet.", field: "group")
        }
        return try JSONDecoder().decode(Game.self, from: Data(game))
    }

    /// What the session plays; nil before anything was played.
    /// - Throws: As ``read(_:by:_:)``.
    func playback(of group: GroupID, by caller: Caller) async throws -> Encoded<Playback>? {
        try await read(group, by: caller, "(\(States.group(group)) -> 'playback')").map { Encoded(json: $0) }
    }

    /// Reads something of a session for someone who may see it.
    /// - Parameter value: An SQL expression of type json.
    /// - Throws: `groupNotFound` for strangers; `groupEnded`, `removedFromGroup` or `notParticipant` for those who were in it.
    private func read(_ group: GroupID, by caller: Caller, _ value: Query) async throws -> [UInt8]? {
        let (standing, value) = try await standing(of: caller.account, in: group, reading: value)
        if let refusal = standing.refusal { throw refusal }
        return value
    }

    /// How an account stands to a session.
    func standing(of account: AccountID, in group: GroupID) async throws -> GroupStanding {
        try await standing(of: account, in: group, reading: "NULL::json").0
    }

    private func standing(
        of account: AccountID, in group: GroupID, reading value: Query
    ) async throws -> (GroupStanding, [UInt8]?) {
        try await pool.withConnection { database in
            let row = try database.query(
                """
                SELECT p.status, p.reason,
                       EXISTS (SELECT FROM session.open_group AS o
                                 JOIN contacts.contact AS c ON c.account = \(account) AND c.contact = o.host
                                WHERE o.group_id = w.group_id AND o.is_open_to_contacts),
                       NOT EXISTS (SELECT FROM session.open_group AS o WHERE o.group_id = w.group_id), \(value)
                  FROM (SELECT \(group)) AS w(group_id)
                  LEFT JOIN session.group_participant AS p ON p.group_id = w.group_id AND p.account = \(account)
                """
            ).only
            guard let row else { return (GroupStanding(), nil) }
            return (try GroupStanding(row), try row.decode(4, as: JSON?.self)?.bytes)
        }
    }
}

/// How an account stands to a session, as far as that decides what it may see.
struct GroupStanding: Sendable {
    /// Nil where it has nothing to do with it.
    let status: String?
    let reason: LeaveReason?
    /// Whether it is open to the account, as a contact of the host.
    let isOpen: Bool
    let hasEnded: Bool

    /// Of someone who has nothing to do with a session.
    fileprivate init() { (status, reason, isOpen, hasEnded) = (nil, nil, false, false) }

    fileprivate init(_ row: Row) throws {
        status = try row.decode(0, as: String?.self)
        reason = try row.decode(1, as: String?.self).flatMap(LeaveReason.init(rawValue:))
        isOpen = try row.decode(2, as: Bool.self) && reason != .removed
        hasEnded = try row.decode(3, as: Bool.self)
    }

    /// Why it may see nothing; nil if it may.
    var refusal: APIError? {
        switch status {
        case nil: isOpen ? nil : APIError(.groupNotFound, field: "group")
        case _ where hasEnded: APIError(.groupEnded, field: "group")
        case "invalidated" where isOpen: nil
        case "invalidated": APIError(reason == .removed ? .removedFromGroup : .notParticipant, field: "group")
        default: nil
        }
    }
}

extension GroupOffer {
    fileprivate init(_ row: Row) throws {
        let standing = try row.decode(1, as: String.self)
        guard let standing = Standing(rawValue: standing) else {
            throw PostgresError.decoding(column: "standing", reason: "the standing \(standing) is unknown")
        }
        self.init(
            group: try row.decode(0, as: GroupID.self), standing: standing,
            host: try row.decode(2, as: AccountID?.self),
            activity: try JSONDecoder().decode(
                GroupSessionActivity.self, from: Data(try row.decode(3, as: JSON.self).bytes)),
            participants: Int(try row.decode(4, as: Int64.self)), capacity: Int(try row.decode(5, as: Int32.self)),
            isOpenToContacts: try row.decode(6, as: Bool.self), created: try row.decode(7, as: Instant.self))
    }
}
