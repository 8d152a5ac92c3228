import API
import Foundation
import Postgres
import SessionContract
import Vocabulary

/// The kept messages of a group session, as far as they are for the caller.
extension GroupReads {
    /// A page of messages, the oldest first.
    /// - Throws: As ``state(of:by:)``; `notParticipant` for those who aren't in the session now.
    func messages(_ query: MessagesQuery, of group: GroupID, by caller: Caller) async throws -> MessagesPage {
        let account = caller.account
        let (standing, firstKept, found) = try await pool.withConnection { database in
            let rows = try database.query(
                """
                SELECT \(GroupStanding.columns(of: account)), r.first_kept,
                       m.number, m.sender, m.recipients, m.type, m.data, m.sent_at
                  FROM (SELECT \(group)) AS w(group_id)
                  LEFT JOIN session.group_participant AS p ON p.group_id = w.group_id AND p.account = \(account)
                  LEFT JOIN session.message_range AS r ON r.group_id = w.group_id AND p.status = 'joined'
                  LEFT JOIN LATERAL (
                       SELECT k.number, k.sender, k.recipients, k.type, k.data, k.sent_at
                         FROM session.kept_message AS k
                        WHERE k.group_id = r.group_id AND k.number > \(query.after) AND k.number >= r.first_kept
                          AND (k.recipients IS NULL OR k.sender = \(account)
                               OR k.recipients::jsonb ? \(account.description))
                        ORDER BY k.number
                        LIMIT \(Int64(query.limit + 1))) AS m ON true
                 ORDER BY m.number
                """)
            let first = rows.count > 0 ? rows[0] : nil
            let column = GroupStanding.columnCount
            return (
                try first.map { try GroupStanding($0) }, try first?.decode(column, as: Int64?.self),
                try rows.compactMap { try GroupMessage($0, from: column + 1) }
            )
        }
        if let refusal = standing?.refusal { throw refusal }
        guard standing?.status == "joined" else { throw APIError(.notParticipant, field: "group") }
        let messages = Array(found.prefix(query.limit))
        return MessagesPage(
            messages: messages, truncated: query.after + 1 < firstKept ?? 1,
            next: found.count > query.limit ? messages.last?.number : nil)
    }

    /// - Throws: Why the caller isn't in the session.
    func requireParticipant(_ caller: Caller, in group: GroupID) async throws {
        _ = try await messages(MessagesQuery(after: .max - 1, limit: 1), of: group, by: caller)
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
