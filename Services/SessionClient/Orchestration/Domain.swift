import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
package import QuartetVocabulary

/// A service that owns a domain and that session-client can ask.
package enum Domain: String, CaseIterable, Sendable {
    case session, contacts, notifications

    /// What it can be asked.
    package var commandTypes: [any MessageBody.Type] {
        switch self {
        case .session: SessionCommand.types
        case .contacts: ContactsCommand.types
        case .notifications: NotificationsCommand.types
        }
    }

    /// Where commands for it are put.
    package var commands: LogName { LogName(schema: "session_client", table: "\(rawValue)_commands") }
    /// What it publishes.
    package var log: LogName { LogName(schema: rawValue, table: "log") }

    /// Whom each of `appCommands` asks.
    package static let ofAppCommands: [String: Domain] = {
        let pairs = allCases.flatMap { domain in domain.commandTypes.map { ($0.type, domain) } }
        return Dictionary(uniqueKeysWithValues: pairs.filter { appCommands[$0.0] != nil })
    }()
}
