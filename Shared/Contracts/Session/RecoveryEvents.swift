public import Vocabulary

/// The account has new recovery codes; those of before are void.
public struct RecoveryCodesMade: EventBody {
    /// Whose.
    public let account: AccountID
    /// How many.
    public let count: Int
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, count: Int, at: Instant) {
        self.account = account
        self.count = count
        self.at = at
    }
}

/// A recovery code was used; it is good no more.
public struct RecoveryCodeUsed: EventBody {
    /// Whose.
    public let account: AccountID
    /// The device that signed in or confirmed by it.
    public let device: DeviceID
    /// How many codes are left.
    public let left: Int
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: DeviceID, left: Int, at: Instant) {
        self.account = account
        self.device = device
        self.left = left
        self.at = at
    }
}
