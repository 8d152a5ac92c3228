public import NotificationsContract
public import Vocabulary

/// What ``PushID`` identifies.
public enum PushSubject {}

/// One notification on its way to one device: the same each time it is sent, so that who hands it on can tell.
public typealias PushID = ID<PushSubject>

/// What is sent to one device about one notification. Its JSON is what a webhook gets.
public struct Push: Codable, Hashable, Sendable {
    /// The same each time it is sent.
    public let id: PushID
    /// Who is told.
    public let account: AccountID
    /// Which of their devices.
    public let device: PushDeviceID
    /// What the push service knows the device by. Never to be logged.
    public let token: String
    /// By which kind of push service it is reached.
    public let platform: PushPlatform
    /// What they are told.
    public let notification: PushedNotification
    /// How many notifications were unread after it.
    public let unread: Int

    /// - Parameters:
    ///   - body: What is pushed.
    ///   - account: Who is told.
    ///   - device: Which of their devices.
    ///   - token: What the push service knows it by.
    ///   - platform: Which kind of push service that is.
    init(_ body: PushBody, to account: AccountID, device: PushDeviceID, token: String, platform: PushPlatform) {
        id = body.id
        self.account = account
        self.device = device
        self.token = token
        self.platform = platform
        notification = body.notification
        unread = body.unread
    }
}

/// What a push says of a notification: what it says itself, and what follows from its kind, for who doesn't know the
/// kinds.
public struct PushedNotification: Codable, Hashable, Sendable {
    /// The notification's name.
    public let id: NotificationID
    /// What it says.
    public let kind: NotificationKind
    /// How urgent it is.
    public let priority: NotificationPriority
    /// Where it belongs.
    public let category: NotificationCategory
    /// The other account that it is about.
    public let subject: AccountID?
    /// What else it says.
    public let details: NotificationDetails
    /// When it was delivered.
    public let created: Instant

    init(_ notification: Notification) {
        id = notification.id
        kind = notification.kind
        priority = notification.kind.priority
        category = notification.kind.category
        subject = notification.subject
        details = notification.details
        created = notification.created
    }
}

/// What is known of a push when its notification is delivered, and kept until it is sent: all but where to.
public struct PushBody: Codable, Hashable, Sendable {
    /// The same each time it is sent.
    public let id: PushID
    /// What is told.
    public let notification: PushedNotification
    /// How many notifications are unread after it.
    public let unread: Int

    init(_ notification: Notification, to device: PushDeviceID, unread: Int) {
        id = .derived(
            at: notification.created, from: Array("push".utf8), notification.id.bytes, device.bytes)
        self.notification = PushedNotification(notification)
        self.unread = unread
    }
}

/// Hands pushes on to devices, by whichever way.
public protocol PushSender: Sendable {
    /// Sends one push, or finds out why that can't be done. The same one may be sent several times.
    /// - Returns: What the receiver answered, for the record.
    /// - Throws: ``PushFailure``, which says whether to try again.
    func send(_ push: Push) async throws(PushFailure) -> String
}

/// Why a push was not sent.
public enum PushFailure: Error, Hashable, Sendable {
    /// The device isn't there any more, so nothing need ever be sent to it again.
    case gone
    /// It will never be taken; why.
    case refused(String)
    /// It may be taken later; why it wasn't now.
    case unavailable(String)
}
