public import Vocabulary

/// An account can be told things now.
public struct NotificationsOpened: EventBody {
    /// Whose notifications.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// An account's notifications are gone; nothing follows in its stream.
public struct NotificationsClosed: EventBody {
    /// Whose notifications.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// The account was told something.
public struct NotificationDelivered: EventBody {
    /// Who was told.
    public let account: AccountID
    /// What.
    public let notification: Notification
    /// The oldest one, which had to go because the history was full.
    public let forgotten: NotificationID?
    /// How many are unread after it.
    public let unread: Int

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, notification: Notification, forgotten: NotificationID? = nil, unread: Int) {
        self.account = account
        self.notification = notification
        self.forgotten = forgotten
        self.unread = unread
    }
}

/// A notification will be delivered later.
public struct NotificationScheduled: EventBody {
    /// Who will be told.
    public let account: AccountID
    /// What, and when.
    public let scheduled: ScheduledNotification

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, scheduled: ScheduledNotification) {
        self.account = account
        self.scheduled = scheduled
    }
}

/// What was scheduled will not be delivered.
public struct ScheduledNotificationCancelled: EventBody {
    /// Who would have been told.
    public let account: AccountID
    /// The name under which it was scheduled.
    public let id: NotificationID
    /// When it was cancelled.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, id: NotificationID, at: Instant) {
        self.account = account
        self.id = id
        self.at = at
    }
}

/// A notification was read, on whichever device.
public struct NotificationRead: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let id: NotificationID
    /// When.
    public let at: Instant
    /// How many are unread after it.
    public let unread: Int

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, id: NotificationID, at: Instant, unread: Int) {
        self.account = account
        self.id = id
        self.at = at
        self.unread = unread
    }
}

/// Every notification was read.
public struct AllNotificationsRead: EventBody {
    /// Whose.
    public let account: AccountID
    /// When.
    public let at: Instant
    /// How many are unread after it: none.
    public let unread: Int

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant, unread: Int) {
        self.account = account
        self.at = at
        self.unread = unread
    }
}

/// Notifications were cleared; the history keeps them.
public struct NotificationsCleared: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which ones: those that match it and weren't cleared before.
    public let selection: NotificationSelection
    /// How many they were.
    public let count: Int
    /// When.
    public let at: Instant
    /// How many are unread after it.
    public let unread: Int

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, selection: NotificationSelection, count: Int, at: Instant, unread: Int) {
        self.account = account
        self.selection = selection
        self.count = count
        self.at = at
        self.unread = unread
    }
}

/// What was older than the history goes back is deleted.
public struct NotificationsForgotten: EventBody {
    /// Whose.
    public let account: AccountID
    /// Everything delivered before this is gone.
    public let before: Instant
    /// How many they were.
    public let count: Int
    /// How many are unread after it.
    public let unread: Int

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, before: Instant, count: Int, unread: Int) {
        self.account = account
        self.before = before
        self.count = count
        self.unread = unread
    }
}
