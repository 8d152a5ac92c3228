public import QuartetVocabulary

/// An account's notifications are open.
public struct NotificationsOpened: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// An account's notifications are closed. No event follows in its stream.
public struct NotificationsClosed: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// A notification was delivered to the account. What it reminds of in the account's own words stands in the scheduled notification of the same id
/// alone, so that only one event has it.
public struct NotificationDelivered: EventBody {
    public let account: AccountID
    public let notification: QuartetNotification
    /// The notification that made room, if the history was full.
    public let forgotten: NotificationID?
    /// How many are unread, including this one.
    public let unread: Int

    public init(account: AccountID, notification: QuartetNotification, forgotten: NotificationID? = nil, unread: Int) {
        self.account = account
        self.notification = notification
        self.forgotten = forgotten
        self.unread = unread
    }
}

/// A notification will be delivered later.
public struct NotificationScheduled: EventBody {
    public let account: AccountID
    public let scheduled: ScheduledNotification

    public init(account: AccountID, scheduled: ScheduledNotification) {
        self.account = account
        self.scheduled = scheduled
    }
}

/// A scheduled notification will not be delivered.
public struct ScheduledNotificationCancelled: EventBody {
    public let account: AccountID
    public let id: NotificationID
    public let at: Instant

    public init(account: AccountID, id: NotificationID, at: Instant) {
        self.account = account
        self.id = id
        self.at = at
    }
}

/// A notification was read on some device.
public struct NotificationRead: EventBody {
    public let account: AccountID
    public let id: NotificationID
    public let at: Instant
    /// How many are still unread.
    public let unread: Int

    public init(account: AccountID, id: NotificationID, at: Instant, unread: Int) {
        self.account = account
        self.id = id
        self.at = at
        self.unread = unread
    }
}

/// The account said that it got a drill, and so has read of it.
public struct DrillAnswered: EventBody {
    public let account: AccountID
    /// The notification of the drill.
    public let id: NotificationID
    public let at: Instant
    /// How many are still unread.
    public let unread: Int

    public init(account: AccountID, id: NotificationID, at: Instant, unread: Int) {
        self.account = account
        self.id = id
        self.at = at
        self.unread = unread
    }
}

/// Every notification was read, or every one up to a time.
public struct AllNotificationsRead: EventBody {
    public let account: AccountID
    /// Those that were delivered later stay unread; nil if there are none.
    public let upTo: Instant?
    public let at: Instant
    /// How many were delivered later and are unread.
    public let unread: Int

    public init(account: AccountID, upTo: Instant? = nil, at: Instant, unread: Int) {
        self.account = account
        self.upTo = upTo
        self.at = at
        self.unread = unread
    }
}

/// Notifications were cleared. The history keeps them.
public struct NotificationsCleared: EventBody {
    public let account: AccountID
    /// Matches those that were cleared, as well as some cleared before.
    public let selection: NotificationSelection
    /// How many were cleared.
    public let count: Int
    public let at: Instant
    /// How many are still unread.
    public let unread: Int

    public init(account: AccountID, selection: NotificationSelection, count: Int, at: Instant, unread: Int) {
        self.account = account
        self.selection = selection
        self.count = count
        self.at = at
        self.unread = unread
    }
}

/// Notifications that were too old were deleted.
public struct NotificationsForgotten: EventBody {
    public let account: AccountID
    /// Everything delivered before this time is gone.
    public let before: Instant
    /// How many were deleted.
    public let count: Int
    /// How many are still unread.
    public let unread: Int

    public init(account: AccountID, before: Instant, count: Int, unread: Int) {
        self.account = account
        self.before = before
        self.count = count
        self.unread = unread
    }
}
