public import Vocabulary

/// What an account is told is also pushed to a device from now on, or under another token than before.
public struct PushRegistered: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which device.
    public let device: PushDeviceID
    /// By which kind of push service it is reached.
    public let platform: PushPlatform
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: PushDeviceID, platform: PushPlatform, at: Instant) {
        self.account = account
        self.device = device
        self.platform = platform
        self.at = at
    }
}

/// Nothing is pushed to a device any more.
public struct PushUnregistered: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which device.
    public let device: PushDeviceID
    /// Why.
    public let reason: PushUnregistrationReason
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: PushDeviceID, reason: PushUnregistrationReason, at: Instant) {
        self.account = account
        self.device = device
        self.reason = reason
        self.at = at
    }
}

/// Why nothing is pushed to a device any more.
public enum PushUnregistrationReason: String, Codable, Hashable, Sendable, CaseIterable {
    /// Somebody asked for it.
    case asked
    /// The push service doesn't know the device any more, or the app there is somebody else's now.
    case gone
    /// The same app registered anew, as another device.
    case replaced
}
