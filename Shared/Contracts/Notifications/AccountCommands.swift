package import QuartetVocabulary

/// Commands that open and close an account's notifications.
package enum AccountCommand: MessageSet {
    case openAccount(OpenAccount)
    case closeAccount(CloseAccount)

    package static let cases: Cases<Self> = [Case(Self.openAccount), Case(Self.closeAccount)]

    package var body: any CommandBody {
        switch self {
        case .openAccount(let body): body
        case .closeAccount(let body): body
        }
    }
}

/// Opens an account's notifications. A policy sends this when session has opened the account.
///
/// Rejected: `accountExists`, `accountClosed`. Result: ``NotificationsOpened``.
package struct OpenAccount: CommandBody {
    /// No alarm of the account reaches anybody before this.
    package static let isUrgent = true

    package init() {}
}

/// Closes an account's notifications and deletes all of them. Sending it again changes nothing.
///
/// Result: ``NotificationsClosed``.
package struct CloseAccount: CommandBody {
    package init() {}
}
