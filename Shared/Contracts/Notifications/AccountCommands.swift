public import Vocabulary

/// What begins and ends an account's notifications.
public enum AccountCommand: MessageSet {
    case openAccount(OpenAccount)
    case closeAccount(CloseAccount)

    public static let cases: Cases<Self> = [Case(Self.openAccount), Case(Self.closeAccount)]

    public var body: any CommandBody {
        switch self {
        case .openAccount(let body): body
        case .closeAccount(let body): body
        }
    }
}

/// Begins an account's notifications. Sent by a policy when session says that the account was opened.
///
/// Rejected: `accountExists`, `accountClosed`. Result: ``NotificationsOpened``.
public struct OpenAccount: CommandBody {
    /// It has no parameters.
    public init() {}
}

/// Ends an account's notifications for ever; all of them are deleted. Sent again it changes nothing.
///
/// Result: ``NotificationsClosed``.
public struct CloseAccount: CommandBody {
    /// It has no parameters.
    public init() {}
}
