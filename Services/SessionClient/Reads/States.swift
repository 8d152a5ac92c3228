import Postgres
import QuartetAPI
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary

/// The SQL of each stream's state: what its owner publishes, or the state of an account of which it hasn't heard.
enum States {
    static func session(_ account: AccountID) throws -> Query {
        """
        coalesce((SELECT s.state FROM session.account_state AS s WHERE s.account = \(account)), \
        \(try json(AccountState(account: account))))
        """
    }

    /// For ``StreamReader/subscribe(to:state:)``; null for an unknown account.
    static let people: Query = "SELECT s.state FROM session.account_state AS s WHERE s.account = stream.account"

    /// Null for a session that doesn't exist.
    static func group(_ group: GroupID) -> Query {
        "(SELECT s.state FROM session.group_state AS s WHERE s.group_id = \(group))"
    }

    static func contacts(_ account: AccountID) throws -> Query {
        """
        coalesce((SELECT s.state FROM contacts.contacts_state AS s WHERE s.account = \(account)), \
        \(try json(ContactsState(account: account))))
        """
    }

    static func notifications(_ account: AccountID) throws -> Query {
        """
        coalesce((SELECT s.state FROM notifications.notifications_state AS s WHERE s.account = \(account)), \
        \(try json(NotificationsState(account: account))))
        """
    }

    static func operations(_ account: AccountID) -> Query {
        "(SELECT session_client.operations_state(\(account)))"
    }

    private static func json(_ state: some Encodable) throws -> JSON { JSON(try Encoded(state).json) }
}
