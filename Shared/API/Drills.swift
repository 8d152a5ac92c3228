public import NotificationsContract
public import SessionContract
public import Vocabulary

/// `GET /v1/drill`: whom the caller's newest drill reached, as far as is known now.
public struct DrillReport: Codable, Hashable, Sendable {
    public let drill: DrillState
    /// The caller's responders, sorted by account.
    public let responders: [DrillReceipt]

    public init(drill: DrillState, responders: [DrillReceipt]) {
        self.drill = drill
        self.responders = responders
    }
}

/// How a drill reached a responder.
public struct DrillReceipt: Codable, Hashable, Sendable, Identifiable {
    /// The responder.
    public let account: AccountID
    /// When they were notified, which their open apps show at once. Nil if they weren't: they became a responder later, or an alarm came first.
    public let notified: Instant?
    /// The pushes that a push service took, the first first.
    public let pushes: [DrillPush]
    /// When a device first showed it.
    public let shown: Instant?
    /// When it was opened, or marked as read.
    public let read: Instant?

    public init(account: AccountID, notified: Instant?, pushes: [DrillPush], shown: Instant?, read: Instant?) {
        self.account = account
        self.notified = notified
        self.pushes = pushes
        self.shown = shown
        self.read = read
    }

    public var id: AccountID { account }

    /// Whether nothing says that the responder has seen it.
    public var isWithoutSign: Bool { shown == nil && read == nil }
}

/// A push to one of a responder's devices.
public struct DrillPush: Codable, Hashable, Sendable {
    /// The device's kind.
    public let platform: PushPlatform
    /// When the push service took it.
    public let taken: Instant

    public init(platform: PushPlatform, taken: Instant) {
        self.platform = platform
        self.taken = taken
    }
}
