public import Vocabulary

/// Everything that `notifications` says. Each event is in the stream of the account that it names first.
public enum NotificationsEvent: MessageSet {
    /// ``NotificationsOpened``
    case notificationsOpened(NotificationsOpened)
    /// ``NotificationsClosed``
    case notificationsClosed(NotificationsClosed)
    /// ``NotificationDelivered``
    case notificationDelivered(NotificationDelivered)
    /// ``NotificationScheduled``
    case notificationScheduled(NotificationScheduled)
    /// ``ScheduledNotificationCancelled``
    case scheduledNotificationCancelled(ScheduledNotificationCancelled)
    /// ``NotificationRead``
    case notificationRead(NotificationRead)
    /// ``AllNotificationsRead``
    case allNotificationsRead(AllNotificationsRead)
    /// ``NotificationsCleared``
    case notificationsCleared(NotificationsCleared)
    /// ``NotificationsForgotten``
    case notificationsForgotten(NotificationsForgotten)
    /// ``NotificationsShown``
    case notificationsShown(NotificationsShown)
    /// ``PushRegistered``
    case pushRegistered(PushRegistered)
    /// ``PushUnregistered``
    case pushUnregistered(PushUnregistered)

    /// Their bodies' types.
    public static var types: [any MessageBody.Type] {
        [
            NotificationsOpened.self, NotificationsClosed.self, NotificationDelivered.self, NotificationScheduled.self,
            ScheduledNotificationCancelled.self, NotificationRead.self, AllNotificationsRead.self,
            NotificationsCleared.self, NotificationsForgotten.self, PushRegistered.self, PushUnregistered.self,
            NotificationsShown.self,
        ]
    }

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch type {
        case NotificationsOpened.type:
            self = .notificationsOpened(try .decoded(from: body, version: version))
        case NotificationsClosed.type:
            self = .notificationsClosed(try .decoded(from: body, version: version))
        case NotificationDelivered.type:
            self = .notificationDelivered(try .decoded(from: body, version: version))
        case NotificationScheduled.type:
            self = .notificationScheduled(try .decoded(from: body, version: version))
        case ScheduledNotificationCancelled.type:
            self = .scheduledNotificationCancelled(try .decoded(from: body, version: version))
        case NotificationRead.type: self = .notificationRead(try .decoded(from: body, version: version))
        case AllNotificationsRead.type:
            self = .allNotificationsRead(try .decoded(from: body, version: version))
        case NotificationsCleared.type:
            self = .notificationsCleared(try .decoded(from: body, version: version))
        case NotificationsForgotten.type:
            self = .notificationsForgotten(try .decoded(from: body, version: version))
        case NotificationsShown.type: self = .notificationsShown(try .decoded(from: body, version: version))
        case PushRegistered.type: self = .pushRegistered(try .decoded(from: body, version: version))
        case PushUnregistered.type: self = .pushUnregistered(try .decoded(from: body, version: version))
        default: throw .unknownType(type, version: version)
        }
    }

    /// The body inside.
    public var body: any MessageBody {
        switch self {
        case .notificationsOpened(let body): body
        case .notificationsClosed(let body): body
        case .notificationDelivered(let body): body
        case .notificationScheduled(let body): body
        case .scheduledNotificationCancelled(let body): body
        case .notificationRead(let body): body
        case .allNotificationsRead(let body): body
        case .notificationsCleared(let body): body
        case .notificationsForgotten(let body): body
        case .notificationsShown(let body): body
        case .pushRegistered(let body): body
        case .pushUnregistered(let body): body
        }
    }
}

extension NotificationsEvent {
    /// In whose stream the event is.
    public var account: AccountID {
        switch self {
        case .notificationsOpened(let event): event.account
        case .notificationsClosed(let event): event.account
        case .notificationDelivered(let event): event.account
        case .notificationScheduled(let event): event.account
        case .scheduledNotificationCancelled(let event): event.account
        case .notificationRead(let event): event.account
        case .allNotificationsRead(let event): event.account
        case .notificationsCleared(let event): event.account
        case .notificationsForgotten(let event): event.account
        case .notificationsShown(let event): event.account
        case .pushRegistered(let event): event.account
        case .pushUnregistered(let event): event.account
        }
    }

    /// How many are unread after the event, where it can have changed that.
    public var unread: Int? {
        switch self {
        case .notificationDelivered(let event): event.unread
        case .notificationRead(let event): event.unread
        case .allNotificationsRead(let event): event.unread
        case .notificationsCleared(let event): event.unread
        case .notificationsForgotten(let event): event.unread
        case .notificationsOpened, .notificationsClosed: 0
        case .notificationScheduled, .scheduledNotificationCancelled, .notificationsShown, .pushRegistered,
            .pushUnregistered:
            nil
        }
    }
}
