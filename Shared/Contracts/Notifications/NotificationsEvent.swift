public import QuartetVocabulary

/// All events of `notifications`. Each is in the stream of its account.
public enum NotificationsEvent: MessageSet {
    case notificationsOpened(NotificationsOpened)
    case notificationsClosed(NotificationsClosed)
    case notificationDelivered(NotificationDelivered)
    case notificationScheduled(NotificationScheduled)
    case scheduledNotificationCancelled(ScheduledNotificationCancelled)
    case notificationRead(NotificationRead)
    case allNotificationsRead(AllNotificationsRead)
    case notificationsCleared(NotificationsCleared)
    case notificationsForgotten(NotificationsForgotten)
    case notificationsShown(NotificationsShown)
    case drillAnswered(DrillAnswered)
    case pushRegistered(PushRegistered)
    case pushUnregistered(PushUnregistered)
    case pushTaken(PushTaken)

    package static let cases: Cases<Self> = [
        Case(Self.notificationsOpened), Case(Self.notificationsClosed), Case(Self.notificationDelivered),
        Case(Self.notificationScheduled), Case(Self.scheduledNotificationCancelled), Case(Self.notificationRead),
        Case(Self.allNotificationsRead), Case(Self.notificationsCleared), Case(Self.notificationsForgotten),
        Case(Self.notificationsShown), Case(Self.drillAnswered), Case(Self.pushRegistered), Case(Self.pushUnregistered),
        Case(Self.pushTaken),
    ]

    public var body: any EventBody {
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
        case .drillAnswered(let body): body
        case .pushRegistered(let body): body
        case .pushUnregistered(let body): body
        case .pushTaken(let body): body
        }
    }
}
