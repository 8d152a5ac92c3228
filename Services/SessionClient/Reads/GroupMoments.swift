import Foundation
import Postgres
import QuartetAPI
import QuartetContractSupport
import QuartetSessionContract
import QuartetVocabulary

/// Group sessions as they were: session keeps checkpoints and the positions of events, and the contract's fold leads from one to
/// the other, so a state is the one that everyone had then.
extension GroupReads {
    /// The session's state as it was at a position of its stream. Only for those who are in it; they see all of its history,
    /// also from before they joined.
    /// - Throws: As ``state(of:by:)``; `notParticipant` for people who only may join; `truncated` where history is gone.
    func state(of group: GroupID, at position: Int64, by caller: Caller) async throws -> GroupMoment {
        let standing = try await standing(of: caller.account, in: group)
        if let refusal = standing.refusal { throw refusal }
        guard standing.status == "joined" else { throw APIError(.notParticipant, field: "group") }
        return try await moment(of: group, at: position)
    }

    /// The same, whoever asks.
    /// - Throws: `truncated` where history is gone; `invalidParameter` where there is none.
    func moment(of group: GroupID, at position: Int64) async throws -> GroupMoment {
        let rows = try await pool.withConnection { database in
            try database.query(
                """
                SELECT p.newest, h.position, h.state, h.type, h.version, h.body
                  FROM (SELECT p.base_position, greatest(p.base_position, (
                                   SELECT l.position FROM session.log AS l
                                    WHERE l.partition = p.partition ORDER BY l.position DESC LIMIT 1)) AS newest
                          FROM session.log_partition AS p
                         WHERE p.partition = session.log_partition_of(\(Key.group(group).description))) AS p
                  LEFT JOIN LATERAL session.group_at(\(group), \(position)) AS h ON true
                 ORDER BY h.position
                """
            ).map { (head: try $0.decode(0, as: Int64.self), piece: try Piece($0)) }
        }
        guard let head = rows.first?.head, position <= head else {
            throw APIError(.invalidParameter, "The stream hasn't reached this position yet.", field: "at")
        }
        let pieces = rows.compactMap(\.piece)
        guard let begin = pieces.first else { throw APIError(.truncated, field: "at") }
        var (last, state) = (begin.position, begin.state ?? GroupState(group: group))
        for piece in pieces.dropFirst() {
            guard let event = piece.event else { throw APIError(.truncated, field: "at") }
            state.apply(event)
            last = piece.position
        }
        guard state.created != nil else {
            throw APIError(.invalidParameter, "The session began after this position.", field: "at")
        }
        return GroupMoment(position: last, state: state, hash: HashedGroupState(state).hash.description)
    }
}

/// A row of `session.group_at`: a state to begin with, or an event to fold.
private struct Piece {
    let position: Int64
    let state: GroupState?
    let event: SessionEvent?

    /// Nil where there is no history.
    init?(_ row: Row) throws {
        guard let position = try row.decode(1, as: Int64?.self) else { return nil }
        self.position = position
        state = try row.decode(2, as: JSON?.self).map {
            try JSONDecoder().decode(GroupState.self, from: Data($0.bytes))
        }
        guard let type = try row.decode(3, as: String?.self), let version = try row.decode(4, as: Int16?.self),
            let body = try row.decode(5, as: JSON?.self)
        else {
            event = nil
            return
        }
        event = try SessionEvent(type: type, version: version, body: body.bytes)
    }
}
