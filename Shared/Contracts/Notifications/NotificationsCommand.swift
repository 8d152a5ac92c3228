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
    /// ``MarkRead``
    case markRead(MarkRead)
    /// ``MarkAllRead``
    case markAllRead(MarkAllRead)
    /// ``ClearNotifications``
    case clearNotifications(ClearNotifications)
    /// ``ForgetOldNotifications``
    case forgetOldNotifications(ForgetOldNotifications)

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (OpenAccount.type, OpenAccount.version): self = .openAccount(try .decoded(from: body))
        case (CloseAccount.type, CloseAccount.version): self = .closeAccount(try .decoded(from: body))
        case (DeliverNotification.type, DeliverNotification.version):
            self = .deliverNotification(try .decoded(from: body))
        case (ScheduleNotification.type, ScheduleNotification.version):
            self = .scheduleNotification(try .decoded(from: body))
        case (CancelNotification.type, CancelNotification.version): self = .cancelNotification(try .decoded(from: body))
        case (DeliverScheduledNotification.type, DeliverScheduledNotification.version):
            self = .deliverScheduledNotification(try .decoded(from: body))
        case (MarkRead.type, MarkRead.version): self = .markRead(try .decoded(from: body))
        case (MarkAllRead.type, MarkAllRead.version): self = .markAllRead(try .decoded(from: body))
        case (ClearNotifications.type, ClearNotifications.version): self = .clearNotifications(try .decoded(from: body))
        case (ForgetOldNotifications.type, ForgetOldNotifications.version):
            self = .forgetOldNotifications(try .decoded(from: body))
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
        case .markRead(let body): body
        case .markAllRead(let body): body
        case .clearNotifications(let body): body
        case .forgetOldNotifications(let body): body
        }
    }
}
