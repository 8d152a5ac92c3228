public import Vocabulary

/// Everything that `notifications` can be asked.
public enum NotificationsCommand: MessageSet {
    /// ``OpenAccount``
    case openAccount(OpenAccount)
    /// ``CloseAccount``
    case closeAccount(CloseAccount)
    /// ``DeliverNotification``
    case deliverNotification(DeliverNotification)
    /// ``ScheduleNotification``
    case scheduleNotification(ScheduleNotification)
    /// ``CancelNotification``
    case cancelNotification(CancelNotification)
    /// ``DeliverScheduledNotification``
    case deliverScheduledNotification(DeliverScheduledNotification)
    /// ``DeliverHeldNotification``
    case deliverHeldNotification(DeliverHeldNotification)
    /// ``MarkRead``
    case markRead(MarkRead)
    /// ``MarkAllRead``
    case markAllRead(MarkAllRead)
    /// ``ClearNotifications``
    case clearNotifications(ClearNotifications)
    /// ``ForgetOldNotifications``
    case forgetOldNotifications(ForgetOldNotifications)
    /// ``ShowNotifications``
    case showNotifications(ShowNotifications)
    /// ``RegisterPush``
    case registerPush(RegisterPush)
    /// ``UnregisterPush``
    case unregisterPush(UnregisterPush)
    /// ``ForgetPush``
    case forgetPush(ForgetPush)

    /// Their bodies' types.
    public static var types: [any MessageBody.Type] {
        [
            OpenAccount.self, CloseAccount.self, DeliverNotification.self, ScheduleNotification.self,
            CancelNotification.self, DeliverScheduledNotification.self, DeliverHeldNotification.self, MarkRead.self,
            MarkAllRead.self,
            ClearNotifications.self, ForgetOldNotifications.self, RegisterPush.self, UnregisterPush.self,
            ForgetPush.self, ShowNotifications.self,
        ]
    }

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch type {
        case OpenAccount.type: self = .openAccount(try .decoded(from: body, version: version))
        case CloseAccount.type: self = .closeAccount(try .decoded(from: body, version: version))
        case DeliverNotification.type:
            self = .deliverNotification(try .decoded(from: body, version: version))
        case ScheduleNotification.type:
            self = .scheduleNotification(try .decoded(from: body, version: version))
        case CancelNotification.type: self = .cancelNotification(try .decoded(from: body, version: version))
        case DeliverScheduledNotification.type:
            self = .deliverScheduledNotification(try .decoded(from: body, version: version))
        case DeliverHeldNotification.type:
            self = .deliverHeldNotification(try .decoded(from: body, version: version))
        case MarkRead.type: self = .markRead(try .decoded(from: body, version: version))
        case MarkAllRead.type: self = .markAllRead(try .decoded(from: body, version: version))
        case ClearNotifications.type: self = .clearNotifications(try .decoded(from: body, version: version))
        case ForgetOldNotifications.type:
            self = .forgetOldNotifications(try .decoded(from: body, version: version))
        case ShowNotifications.type: self = .showNotifications(try .decoded(from: body, version: version))
        case RegisterPush.type: self = .registerPush(try .decoded(from: body, version: version))
        case UnregisterPush.type: self = .unregisterPush(try .decoded(from: body, version: version))
        case ForgetPush.type: self = .forgetPush(try .decoded(from: body, version: version))
        default: throw .unknownType(type, version: version)
        }
    }

    /// The body inside.
    public var body: any MessageBody { command }

    /// The command inside, with its rules.
    public var command: any CommandBody {
        switch self {
        case .openAccount(let body): body
        case .closeAccount(let body): body
        case .deliverNotification(let body): body
        case .scheduleNotification(let body): body
        case .cancelNotification(let body): body
        case .deliverScheduledNotification(let body): body
        case .deliverHeldNotification(let body): body
        case .markRead(let body): body
        case .markAllRead(let body): body
        case .clearNotifications(let body): body
        case .forgetOldNotifications(let body): body
        case .showNotifications(let body): body
        case .registerPush(let body): body
        case .unregisterPush(let body): body
        case .forgetPush(let body): body
        }
    }
}
