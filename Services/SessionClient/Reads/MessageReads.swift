import Foundation
import Postgres
import QuartetAPI
import QuartetSessionContract
import QuartetVocabulary

/// The kept messages of a group session, as far as they are for the caller.
extension GroupReads {
    /// A page of messages, the oldest first.
    /// - Throws: As ``state(of:by:)``; `notParticipant` for those who aren't in the session now.
    func messages(_ query: MessagesQuery, of group: GroupID, by caller: Caller) async throws -> MessagesPage {
        let account = caller.account
        let found: (firstKept: Int64?, messages: [GroupMessage])? = try await pool.withConnection { database in
            let rows = try database.query(
                """
                SELECT r.first_kept, m.number, m.sender, m.recipients, m.type, m.data, m.sent_at
                  FROM session.group_participant AS p
                  LEFT JOIN session.message_range AS r ON r.group_id = p.group_id
                  LEFT JOIN LATERAL (
                       SELECT k.number, k.sender, k.recipients, k.type, k.data, k.sent_at
                         FROM session.kept_message AS k
                        WHERE k.group_id = r.group_id AND k.number > \(query.after) AND k.number >= r.first_kept
                          AND (k.recipients IS NULL OR k.sender = \(account)
                               OR k.recipients::jsonb ? \(account.description))
                        ORDER BY k.number
                        LIMIT \(Int64(query.limit + 1))) AS m ON true
                 WHERE p.group_id = \(group) AND p.account = \(account) AND p.status = 'joined'
                 ORDER BY m.number
                """)
            guard rows.count > 0 else { return nil }
            return (
                try rows[0].decode(0, as: Int64?.self), try rows.compactMap { try GroupMessage($0, from: 1) }
            )
        }
        guard let found else { throw try await refusal(to: caller, in: group) }
        let messages = Array(found.messages.prefix(query.limit))
        return MessagesPage(
            messages: messages, truncated: query.after + 1 < found.firstKept ?? 1,
            next: found.messages.count > query.limit ? messages.last?.number : nil)
    }

    /// Why somebody who isn't in a session may do nothing there.
    func refusal(to caller: Caller, in group: GroupID) async throws -> APIError {
        try await standing(of: caller.account, in: group).refusal ?? APIError(.notParticipant, field: "group")
    }
}

extension GroupMessage {
    /// From a row's columns; nil if they are NULL.
    fileprivate init?(_ row: Row, from column: Int) throws {
        guard let number = try row.decode(column, as: Int64?.self) else { return nil }
        let recipients = try row.decode(column + 2, as: JSON?.self)
        let data = try row.decode(column + 4, as: JSON?.self)
        self.init(
            number: number, account: try row.decode(column + 1, as: AccountID.self),
            to: try recipients.map { try JSONDecoder().decode([AccountID].self, from: Data($0.bytes)) },
            type: try row.decode(column + 3, as: String.self),
            data: try data.map { try JSONDecoder().decode(JSONValue.self, from: Data($0.bytes)) },
            at: try row.decode(column + 5, as: Instant.self))
    }
}
