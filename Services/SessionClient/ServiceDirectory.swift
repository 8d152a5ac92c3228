import Bus
import Vocabulary

/// The services that can be asked, by the log in which commands for them are put.
struct ServiceDirectory: Sendable {
    static let session = LogName(schema: "session_client", table: "session_commands")
    static let contacts = LogName(schema: "session_client", table: "contacts_commands")
    static let notifications = LogName(schema: "session_client", table: "notifications_commands")

    private let senders: [LogName: CommandSender]

    init(_ senders: [LogName: CommandSender]) {
        self.senders = senders
    }

    /// - Throws: ``UnknownService`` for a log that no service reads.
    func sender(for log: LogName) throws(UnknownService) -> CommandSender {
        guard let sender = senders[log] else { throw UnknownService(log: log) }
        return sender
    }
}

/// No service reads this log.
struct UnknownService: Error, CustomStringConvertible {
    let log: LogName
    var description: String { "no service reads \(log)" }
}
