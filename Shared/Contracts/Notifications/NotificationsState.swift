public import ContractSupport
public import Vocabulary

/// What an account was told: the state of the stream `notifications/<account>`.
///
/// Folding a stream's events from its beginning gives the same as what the owner publishes. It has the newest
/// notifications alone (``notificationLimit``); the unread count is the owner's, not counted here.
public struct NotificationsState: Codable, Hashable, Sendable {
    /// How many notifications it has at most; the history has them all.
    public static let notificationLimit = 200

    /// Whose.
    public var account: AccountID
    /// How many are unread.
    public var unread: Int
    /// The newest of the history, newest first; what was cleared is still in it.
    public var notifications: [Notification]
    /// What is to be delivered later, by id.
    public var scheduled: Ordered<ScheduledNotification>
    /// The devices that it is pushed to, in the order of their ids.
    public var pushDevices: [PushDeviceID]
    /// Whether the account is closed, for ever.
    public var isClosed: Bool

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, unread: Int = 0, notifications: [Notification] = [],
        scheduled: Ordered<ScheduledNotification> = [], pushDevices: [PushDeviceID] = [], isClosed: Bool = false
    ) {
        self.account = account
        self.unread = unread
        self.notifications = notifications
        self.scheduled = scheduled
        self.pushDevices = pushDevices
        self.isClosed = isClosed
    }

    private enum CodingKeys: String, CodingKey {
        case account
        case unread
        case notifications
        case scheduled
        case pushDevices
        case isClosed
    }

    /// Reads one that was kept by anybody at any time: those from before there were pushes have no devices.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        account = try fields.decode(AccountID.self, forKey: .account)
        unread = try fields.decode(Int.self, forKey: .unread)
        notifications = try fields.decode([Notification].self, forKey: .notifications)
        scheduled = try fields.decode(Ordered<ScheduledNotification>.self, forKey: .scheduled)
        pushDevices = try fields.decodeIfPresent([PushDeviceID].self, forKey: .pushDevices) ?? []
        isClosed = try fields.decode(Bool.self, forKey: .isClosed)
    }
}

extension NotificationsState {
    /// Takes in the next event of the stream. Events of other accounts' streams change nothing.
    public mutating func apply(_ event: NotificationsEvent) {
        guard event.account == account, !isClosed else { return }
        switch event {
        case .notificationsOpened: unread = 0
        case .notificationsClosed: self = NotificationsState(account: account, isClosed: true)
        case .notificationDelivered(let event):
            scheduled[event.notification.id] = nil
            if let forgotten = event.forgotten { notifications.removeAll { $0.id == forgotten } }
            insert(event.notification)
            unread = event.unread
        case .notificationScheduled(let event): scheduled[event.scheduled.id] = event.scheduled
        case .scheduledNotificationCancelled(let event): scheduled[event.id] = nil
        case .notificationRead(let event):
            let isMeant = { (notification: Notification) in notification.id == event.id && notification.isUnread }
            change(where: isMeant) { $0.read = event.at }
            unread = event.unread
        case .allNotificationsRead(let event):
            change(where: \.isUnread) { $0.read = event.at }
            unread = event.unread
        case .notificationsCleared(let event):
            change(where: event.selection.matches) { $0.cleared = event.at }
            unread = event.unread
        case .notificationsShown: break
        case .notificationsForgotten(let event):
            notifications.removeAll { $0.created < event.before }
            unread = event.unread
        case .pushRegistered(let event):
            guard !pushDevices.contains(event.device) else { return }
            let place = pushDevices.firstIndex { $0 > event.device } ?? pushDevices.count
            pushDevices.insert(event.device, at: place)
        case .pushUnregistered(let event): pushDevices.removeAll { $0 == event.device }
        }
    }

    private mutating func insert(_ notification: Notification) {
        guard !notifications.contains(where: { $0.id == notification.id }) else { return }
        let place = notifications.firstIndex { notification.precedes($0) } ?? notifications.count
        notifications.insert(notification, at: place)
        if notifications.count > Self.notificationLimit { notifications.removeLast() }
    }

    private mutating func change(
        where isMeant: (Notification) -> Bool, _ change: (inout Notification) -> Void
    ) {
        for index in notifications.indices where isMeant(notifications[index]) {
            change(&notifications[index])
        }
    }
}
