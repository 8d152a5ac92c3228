public import QuartetVocabulary

/// Reports that an app showed notifications to its user. Those shown on the device before, or no longer in the history,
/// are ignored.
///
/// Rejected: `invalidField`. Result: ``NotificationsShown``; nothing if none is new.
public struct ShowNotifications: CommandBody {
    /// 1 to 500 ids without duplicates.
    public let ids: [NotificationID]
    public let device: PushDeviceID
    /// By the device's clock. Replaced by the time of handling if nil or later than that.
    public let shown: Instant?

    public init(ids: [NotificationID], device: PushDeviceID, shown: Instant? = nil) {
        self.ids = ids
        self.device = device
        self.shown = shown
    }

    public func validate() throws(Rejection) {
        guard (1...500).contains(ids.count), Set(ids).count == ids.count else {
            throw Rejection(.invalidField, "Give 1 to 500 ids, each once.", field: "ids")
        }
    }
}

/// An app showed notifications to its user.
public struct NotificationsShown: EventBody {
    public let account: AccountID
    /// Those that are new on this device.
    public let ids: [NotificationID]
    public let device: PushDeviceID
    public let shown: Instant
    /// When the device reported it.
    public let at: Instant

    public init(account: AccountID, ids: [NotificationID], device: PushDeviceID, shown: Instant, at: Instant) {
        self.account = account
        self.ids = ids
        self.device = device
        self.shown = shown
        self.at = at
    }
}
