public import NotificationsContract
public import Vocabulary

/// A device's place: whose it is, and its id.
public struct PushPlace: Hashable, Comparable, Sendable {
    /// Whose.
    public let account: AccountID
    /// Its id.
    public let device: PushDeviceID

    /// - Parameters:
    ///   - account: Whose.
    ///   - device: Its id.
    public init(_ account: AccountID, _ device: PushDeviceID) {
        self.account = account
        self.device = device
    }

    /// By account, then by id.
    public static func < (left: Self, right: Self) -> Bool {
        (left.account, left.device) < (right.account, right.device)
    }
}

/// A device that is pushed to.
public struct PushDeviceRow: Equatable, Sendable {
    /// What the push service knows it by.
    public var token: String
    /// By which kind of push service it is reached.
    public var platform: PushPlatform
    /// Since when it is registered with this token.
    public var registered: Instant
    /// Whether it was signed out and only gets what waits for it already: why it was.
    public var isLeaving = false
}

/// A push that waits to be sent.
public struct WaitingPush: Equatable, Sendable {
    /// To which device.
    public let place: PushPlace
    /// What is pushed.
    public let body: PushBody
}
