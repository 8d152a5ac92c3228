public import QuartetVocabulary

/// The account has new recovery codes. The old ones are void.
public struct RecoveryCodesMade: EventBody {
    public let account: AccountID
    public let count: Int
    public let at: Instant

    public init(account: AccountID, count: Int, at: Instant) {
        self.account = account
        self.count = count
        self.at = at
    }
}

/// A recovery code was used and is void.
public struct RecoveryCodeUsed: EventBody {
    public let account: AccountID
    /// The device that signed in or was confirmed.
    public let device: DeviceID
    /// How many codes are left.
    public let left: Int
    public let at: Instant

    public init(account: AccountID, device: DeviceID, left: Int, at: Instant) {
        self.account = account
        self.device = device
        self.left = left
        self.at = at
    }
}
