public import QuartetContractSupport
public import QuartetVocabulary

/// One account's notifications: the state of the stream `notifications/<account>`.
///
/// Folding the stream's events from the beginning gives the state that the service publishes. It has only the newest
/// notifications (``notificationLimit``), so the unread count comes from the events rather than from counting them.
public struct NotificationsState: Codable, Hashable, Sendable {
    /// The history may have more.
    public static let notificationLimit = 200

    public var account: AccountID
    public var unread: Int
    /// The newest of the history, newest first, including cleared ones.
    public var notifications: [QuartetNotification]
    /// Sorted by id.
    public var scheduled: Ordered<ScheduledNotification>
    /// The devices that notifications are pushed to, sorted by id.
    public var pushDevices: [PushDeviceID]
    public var isClosed: Bool

    public init(
        account: AccountID, unread: Int = 0, notifications: [QuartetNotification] = [],
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

    /// Also reads states stored before there were pushes; they have no devices.
    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        account = try fields.decode(AccountID.self, forKey: .account)
        unread = try fields.decode(Int.self, forKey: .unread)
        notifications = try fields.decode([QuartetNotification].self, forKey: .notifications)
        scheduled = try fields.decode(Ordered<ScheduledNotification>.self, forKey: .scheduled)
        pushDevices = try fields.decodeIfPresent([PushDeviceID].self, forKey: .pushDevices) ?? []
        isClosed = try fields.decode(Bool.self, forKey: .isClosed)
    }
}

extension NotificationsState {
    /// Applies the next event of the stream. Events of other accounts change nothing.
    public mutating func apply(_ event: NotificationsEvent) {
        guard event.account == account, !isClosed else { return }
        switch event {
        case .notificationsOpened: unread = 0
        case .notificationsClosed: self = NotificationsState(account: account, isClosed: true)
        case .notificationDelivered(let event):
            let waited = scheduled[event.notification.id]
            scheduled[event.notification.id] = nil
            if let forgotten = event.forgotten { notifications.removeAll { $0.id == forgotten } }
            var notification = event.notification
            if notification.details.reminder == "", let reminder = waited?.details.reminder {
                notification.details.reminder = reminder
            }
            insert(notification)
            unread = event.unread
        case .notificationScheduled(let event): scheduled[event.scheduled.id] = event.scheduled
        case .scheduledNotificationCancelled(let event): scheduled[event.id] = nil
        case .notificationRead(let event):
            let isMeant = { (notification: QuartetNotification) in notification.id == event.id && notification.isUnread
            }
            change(where: isMeant) { $0.read = event.at }
            unread = event.unread
        case .drillAnswered(let event):
            let isMeant = { (notification: QuartetNotification) in notification.id == event.id }
            change(where: isMeant) { ($0.read, $0.answered) = ($0.read ?? event.at, event.at) }
            unread = event.unread
        case .allNotificationsRead(let event):
            let isRead = { (one: QuartetNotification) in one.isUnread && one.created <= event.upTo ?? one.created }
            change(where: isRead) { $0.read = event.at }
            unread = event.unread
        case .notificationsCleared(let event):
            change(where: event.selection.matches) { $0.cleared = event.at }
            unread = event.unread
        case .notificationsShown, .pushTaken: break
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

    private mutating func insert(_ notification: QuartetNotification) {
        guard !notifications.contains(where: { $0.id == notification.id }) else { return }
        let place = notifications.firstIndex { notification.precedes($0) } ?? notifications.count
        notifications.insert(notification, at: place)
        if notifications.count > Self.notificationLimit { notifications.removeLast() }
    }

    private mutating func change(
        where isMeant: (QuartetNotification) -> Bool, _ change: (inout QuartetNotification) -> Void
    ) {
        for index in notifications.indices where isMeant(notifications[index]) {
            change(&notifications[index])
        }
    }
}
