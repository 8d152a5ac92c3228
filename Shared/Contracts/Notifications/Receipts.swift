public import Vocabulary

/// Says that an app showed notifications to its person. What was shown on the device before, and what isn't in the history
/// any more, changes nothing.
///
/// Rejected: `invalidField`. Result: ``NotificationsShown``; nothing if none is new.
public struct ShowNotifications: CommandBody {
    /// Which ones; 1 to 500, each once.
    public let ids: [NotificationID]
    /// Where they were shown.
    public let device: PushDeviceID
    /// When, by the device's clock; never later than it is handled. Nil: when it is handled.
    public let shown: Instant?

    /// Its parameters are the properties of the same names.
    public init(ids: [NotificationID], device: PushDeviceID, shown: Instant? = nil) {
        self.ids = ids
        self.device = device
        self.shown = shown
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard (1...500).contains(ids.count), Set(ids).count == ids.count else {
            throw Rejection(.invalidField, "Give 1 to 500 ids, each once.", field: "ids")
        }
    }
}

/// An app showed notifications to its person.
public struct NotificationsShown: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which ones are new on this device.
    public let ids: [NotificationID]
    /// Where they were shown.
    public let device: PushDeviceID
    /// When they were.
    public let shown: Instant
    /// When that was heard.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, ids: [NotificationID], device: PushDeviceID, shown: Instant, at: Instant) {
        self.account = account
        self.ids = ids
        self.device = device
        self.shown = shown
        self.at = at
    }
}
