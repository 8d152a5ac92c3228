public import QuartetVocabulary

/// An account was opened.
public struct AccountOpened: EventBody {
    /// No alarm of the account reaches anybody before this.
    public static let isUrgent = true

    public let account: AccountID
    public let handle: String
    /// Without a name the account still needs a profile.
    public let name: String?
    public let checkInInterval: Interval
    /// When the first check-in is due.
    public let due: Instant
    public let at: Instant

    public init(
        account: AccountID, handle: String, name: String? = nil, checkInInterval: Interval, due: Instant, at: Instant
    ) {
        self.account = account
        self.handle = handle
        self.name = name
        self.checkInInterval = checkInInterval
        self.due = due
        self.at = at
    }
}

/// An account was closed. No event follows in its stream.
public struct AccountClosed: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// A device signed in.
public struct DeviceSignedIn: EventBody {
    public let account: AccountID
    public let device: Device
    /// Whether it signed the account up.
    public let isFirst: Bool
    /// True, as in ``DeviceRefreshed``; nil from a process of 0.1.0, beside which nobody may know what follows from it.
    public let isFirstOfDay: Bool?
    public let at: Instant

    public init(account: AccountID, device: Device, isFirst: Bool, isFirstOfDay: Bool? = nil, at: Instant) {
        self.account = account
        self.device = device
        self.isFirst = isFirst
        self.isFirstOfDay = isFirstOfDay
        self.at = at
    }
}

/// A device has a new refresh token. It gets one every few minutes while its app is open.
public struct DeviceRefreshed: EventBody {
    public let account: AccountID
    public let device: DeviceID
    /// True if it is the first of the device's day, which begins at a time of its own; otherwise nil.
    public let isFirstOfDay: Bool?
    public let at: Instant

    public init(account: AccountID, device: DeviceID, isFirstOfDay: Bool? = nil, at: Instant) {
        self.account = account
        self.device = device
        self.isFirstOfDay = isFirstOfDay
        self.at = at
    }
}

/// A device is no longer signed in.
public struct DeviceSignedOut: EventBody {
    public let account: AccountID
    public let device: DeviceID
    public let reason: SignOutReason
    public let at: Instant

    public init(account: AccountID, device: DeviceID, reason: SignOutReason, at: Instant) {
        self.account = account
        self.device = device
        self.reason = reason
        self.at = at
    }
}

/// Someone gave a wrong password, or a wrong recovery code on a device.
public struct SignInFailed: EventBody {
    public let account: AccountID
    /// Until when no password is checked.
    public let blockedUntil: Instant?
    public let at: Instant

    public init(account: AccountID, blockedUntil: Instant? = nil, at: Instant) {
        self.account = account
        self.blockedUntil = blockedUntil
        self.at = at
    }

    /// The answer, which is the same for an unknown handle.
    public static let rejection = Rejection(
        .invalidCredentials, "The handle or the password is wrong.", field: "password")
}

/// The password changed.
public struct PasswordChanged: EventBody {
    public let account: AccountID
    public let at: Instant

    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// The security settings changed.
public struct SecurityUpdated: EventBody {
    public let account: AccountID
    /// Whether signing in signs all other devices out.
    public let isSingleDevice: Bool
    /// Whether signing other devices out needs a confirmation.
    public let isConfirmationRequired: Bool
    public let at: Instant

    public init(account: AccountID, isSingleDevice: Bool, isConfirmationRequired: Bool, at: Instant) {
        self.account = account
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
        self.at = at
    }
}

/// The profile changed.
public struct ProfileUpdated: EventBody {
    public let account: AccountID
    public let name: String?
    /// Shown to responders.
    public let emergencyNote: String
    /// The profile's new version.
    public let version: Int64
    public let at: Instant

    public init(account: AccountID, name: String? = nil, emergencyNote: String, version: Int64, at: Instant) {
        self.account = account
        self.name = name
        self.emergencyNote = emergencyNote
        self.version = version
        self.at = at
    }
}
