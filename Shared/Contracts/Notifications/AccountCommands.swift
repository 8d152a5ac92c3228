public import Vocabulary

/// Commands that open and close an account's notifications.
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

/// Opens an account's notifications. A policy sends this when session has opened the account.
///
/// Rejected: `accountExists`, `accountClosed`. Result: ``NotificationsOpened``.
public struct OpenAccount: CommandBody {
    /// No alarm of the account reaches anybody before this.
    public static let isUrgent = true

    public init() {}
}

/// Closes an account's notifications and deletes all of them. Sending it again changes nothing.
///
/// Result: ``NotificationsClosed``.
public struct CloseAccount: CommandBody {
    public init() {}
}
