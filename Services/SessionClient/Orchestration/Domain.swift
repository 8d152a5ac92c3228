import ContactsContract
import NotificationsContract
import SessionContract
import Vocabulary

/// A service that owns a domain and that session-client can ask.
enum Domain: String, CaseIterable, Sendable {
    case session, contacts, notifications

    /// What it can be asked.
    var commandTypes: [any MessageBody.Type] {
        switch self {
        case .session: SessionCommand.types
        case .contacts: ContactsCommand.types
        case .notifications: NotificationsCommand.types
        }
    }

    /// Where commands for it are put.
    var commands: LogName { LogName(schema: "session_client", table: "\(rawValue)_commands") }
    /// What it says.
    var log: LogName { LogName(schema: rawValue, table: "log") }

    /// Where sagas say how they stand: session-client's own.
    static let operations = LogName(schema: "session_client", table: "operations")
}
