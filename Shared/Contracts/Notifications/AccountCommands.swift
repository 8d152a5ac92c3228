public import Vocabulary

/// Begins an account's notifications. Sent by a policy when session says that the account was opened.
///
/// Rejected: `accountExists`, `accountClosed`. Result: ``NotificationsOpened``.
public struct OpenAccount: CommandBody {
    /// It has no parameters.
    public init() {}

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}

/// Ends an account's notifications for ever; all of them are deleted. Sent again it changes nothing.
///
/// Result: ``NotificationsClosed``.
public struct CloseAccount: CommandBody {
    /// It has no parameters.
    public init() {}

    /// There is nothing to check without state.
    public func validate() throws(Rejection) {}
}
