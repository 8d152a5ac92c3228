import Postgres
import QuartetSessionContract
package import QuartetSessionRules
package import QuartetVocabulary
package import Storage

// The statements on session.message_history and session.group_message.

extension Tables {
    package static let messageHistory = Table<GroupID, MessageHistoryRow>(
        "session.message_history", as: "h", key: TableKey("group_id"), blank: MessageHistoryRow(),
        columns: [
            Column("sent", \.sent),
            Column("bytes", \.bytes),
            Column("first_kept", \.firstKept),
            Column("is_over", \.isOver),
        ])

    package static let groupMessage = Table<MessageKey, MessageRow>(
        "session.group_message", as: "m",
        key: TableKey(KeyColumn("group_id", \.group), KeyColumn("number", \.number), make: MessageKey.init),
        blank: .blank,
        columns: [
            Column("sender", \.sender),
            Column(json: "recipients", \.recipients),
            Column("type", \.type),
            Column(json: "data", \.data),
            Column("sent_at", \.sent),
            Column("byte_offset", \.offset),
        ])

    /// What the rules need to know of a message that may have to go.
    static let messageOffset = groupMessage.only(["byte_offset"])
}

extension Pipeline {
    /// What was sent in sessions so far.
    func messageHistories(of groups: Set<GroupID>) -> Pending? {
        guard !groups.isEmpty else { return nil }
        return query(
            """
            SELECT \(unescaped: Tables.messageHistory.selection)
              FROM session.message_history AS h
             WHERE h.group_id = ANY (\(groups.sorted()))
            """)
    }

    /// The oldest messages of sessions, as many as may have to go when so many new ones come.
    func oldestMessages(of groups: [GroupID: Int], _ limits: SessionLimits) -> Pending? {
        guard !groups.isEmpty else { return nil }
        let new = groups.sorted { $0.key < $1.key }
        return query(
            """
            SELECT \(unescaped: Tables.messageOffset.selection)
              FROM unnest(\(new.map(\.key)), \(new.map { Int64($0.value) })) AS n(group_id, messages)
              JOIN session.message_history AS h ON h.group_id = n.group_id
              LEFT JOIN LATERAL (
                   SELECT o.number
                     FROM session.group_message AS o
                    WHERE o.group_id = n.group_id
                      AND o.byte_offset < h.bytes + n.messages * \(MessageRules.largest) - \(limits.messageBytes)
                    ORDER BY o.byte_offset DESC
                    LIMIT 1) AS l ON true
              JOIN session.group_message AS m
                ON m.group_id = n.group_id AND m.number >= h.first_kept
               AND m.number <= greatest(h.sent + n.messages - \(limits.messages), l.number)
            """)
    }
}

extension MessageRules {
    /// The most that a message counts for.
    fileprivate static let largest = Int64(typeLimit + dataLimit)
}
