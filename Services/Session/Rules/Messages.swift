import QuartetContractSupport
import QuartetSessionContract
package import QuartetVocabulary

// Reliable messages of group sessions. A session keeps the newest ones: so many, and so many bytes.

/// A message's key.
package struct MessageKey: Hashable, Comparable, Sendable {
    package let group: GroupID
    package let number: Int64

    package init(_ group: GroupID, _ number: Int64) {
        self.group = group
        self.number = number
    }

    package static func < (left: Self, right: Self) -> Bool { (left.group, left.number) < (right.group, right.number) }
}

/// A kept message.
package struct MessageRow: Equatable, Sendable {
    package var sender: AccountID
    /// Nil if everyone is one.
    package var recipients: [AccountID]?
    /// Nil if the message was emptied because its sender's account was closed.
    package var type: String?
    package var data: JSONValue?
    package var sent: Instant
    /// How many bytes the session's earlier messages had.
    package var offset: Int64

    /// To read a row into.
    package static let blank = Self(sender: .blank, sent: .blank, offset: 0)
}

/// What was sent in a session so far, and what is kept of it.
package struct MessageHistoryRow: Equatable, Sendable {
    /// The number of messages; also the number of the last one.
    package var sent: Int64 = 0
    /// Their bytes.
    package var bytes: Int64 = 0
    /// The number of the oldest message that is kept. If none is, that of the next one.
    package var firstKept: Int64 = 1
    /// Whether the session ended, so that none is kept any more.
    package var isOver = false

    package init() {}
}

extension SessionReducer {
    static func reduce(
        _ rows: inout SessionRows, _ command: MessageCommand, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        switch command {
        case .sendGroupMessage(let command): try send(&rows, command, context)
        }
    }

    private static func send(
        _ rows: inout SessionRows, _ command: SendGroupMessage, _ context: CommandContext
    ) throws(Rejection) -> [SessionEvent] {
        let (account, _, _) = try participant(of: command.group, rows, context)
        for recipient in command.to ?? [] where rows.groups[command.group, recipient]?.status != .joined {
            throw .participantNotFound("to")
        }
        var history = rows.groups.messageHistories[command.group] ?? MessageHistoryRow()
        let row = MessageRow(
            sender: account, recipients: command.to, type: command.type, data: command.data, sent: context.time,
            offset: history.bytes)
        history.sent += 1
        history.bytes += Int64(command.size)
        rows.groups.messages[MessageKey(command.group, history.sent)] = row
        forgetOldest(&rows, command.group, &history)
        rows.groups.messageHistories[command.group] = history
        return [
            .message(
                .groupMessageSent(
                    .init(
                        group: command.group, account: account, number: history.sent, to: command.to,
                        type: command.type, data: command.data, at: context.time)))
        ]
    }

    /// Deletes the oldest messages while there are too many or too large ones. Those that could be are loaded.
    private static func forgetOldest(
        _ rows: inout SessionRows, _ group: GroupID, _ history: inout MessageHistoryRow
    ) {
        while let oldest = rows.groups.messages[MessageKey(group, history.firstKept)],
            history.sent - history.firstKept >= rows.limits.messages
                || history.bytes - oldest.offset > rows.limits.messageBytes
        {
            rows.groups.messages[MessageKey(group, history.firstKept)] = nil
            history.firstKept += 1
        }
    }
}

extension SessionRows.Selection {
    mutating func add(_ command: MessageCommand) {
        switch command {
        case .sendGroupMessage(let command):
            groups.insert(command.group)
            messages[command.group, default: 0] += 1
        }
    }
}
