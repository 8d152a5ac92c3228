public import QuartetVocabulary

/// Notifications are pushed to a device from now on, or under a new token.
public struct PushRegistered: EventBody {
    public let account: AccountID
    public let device: PushDeviceID
    public let platform: PushPlatform
    public let at: Instant

    public init(account: AccountID, device: PushDeviceID, platform: PushPlatform, at: Instant) {
        self.account = account
        self.device = device
        self.platform = platform
        self.at = at
    }
}

/// Nothing more is pushed to a device.
public struct PushUnregistered: EventBody {
    public let account: AccountID
    public let device: PushDeviceID
    public let reason: PushUnregistrationReason
    public let at: Instant

    public init(account: AccountID, device: PushDeviceID, reason: PushUnregistrationReason, at: Instant) {
        self.account = account
        self.device = device
        self.reason = reason
        self.at = at
    }
}

/// Why nothing more is pushed to a device.
public enum PushUnregistrationReason: String, Codable, Hashable, Sendable, CaseIterable {
    case asked
    /// The push service no longer knows the device, or the app there belongs to another account now.
    case gone
    /// The same app registered again as another device.
    case replaced
}

/// A push service took a push to one of the account's devices, so the account can hear of an alarm. At most one a day. It is for
/// other services: streams of apps don't carry it.
public struct PushTaken: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}
