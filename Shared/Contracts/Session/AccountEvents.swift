public import Vocabulary

/// An account is open.
public struct AccountOpened: EventBody {
    /// Its id.
    public let account: AccountID
    /// What others find it by.
    public let handle: String
    /// The person's name; without it the account still needs a profile.
    public let name: String?
    /// How often to check in.
    public let checkInInterval: Interval
    /// By when the first check-in is due.
    public let due: Instant
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
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

/// An account is closed for ever; nothing follows in its stream.
public struct AccountClosed: EventBody {
    /// Its id.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// A device signed in.
public struct DeviceSignedIn: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let device: Device
    /// Whether it signed the account up.
    public let isFirst: Bool
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: Device, isFirst: Bool, at: Instant) {
        self.account = account
        self.device = device
        self.isFirst = isFirst
        self.at = at
    }
}

/// A device has a new refresh token.
public struct DeviceRefreshed: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let device: DeviceID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: DeviceID, at: Instant) {
        self.account = account
        self.device = device
        self.at = at
    }
}

/// A device isn't signed in any more.
public struct DeviceSignedOut: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let device: DeviceID
    /// Why.
    public let reason: SignOutReason
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: DeviceID, reason: SignOutReason, at: Instant) {
        self.account = account
        self.device = device
        self.reason = reason
        self.at = at
    }
}

/// Somebody gave a wrong password, or a wrong recovery code on a device.
public struct SignInFailed: EventBody {
    /// Whose account they tried.
    public let account: AccountID
    /// Until when no password is looked at.
    public let blockedUntil: Instant?
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, blockedUntil: Instant? = nil, at: Instant) {
        self.account = account
        self.blockedUntil = blockedUntil
        self.at = at
    }

    /// What to answer: the same as for a handle that nobody has.
    public static let rejection = Rejection(
        .invalidCredentials, "The handle or the password is wrong.", field: "password")
}

/// The password is another one.
public struct PasswordChanged: EventBody {
    /// Whose.
    public let account: AccountID
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, at: Instant) {
        self.account = account
        self.at = at
    }
}

/// How the account is kept safe was chosen.
public struct SecurityUpdated: EventBody {
    /// Whose.
    public let account: AccountID
    /// Whether a sign-in signs the other devices out.
    public let isSingleDevice: Bool
    /// Whether sensitive acts need the password again.
    public let isConfirmationRequired: Bool
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, isSingleDevice: Bool, isConfirmationRequired: Bool, at: Instant) {
        self.account = account
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
        self.at = at
    }
}

/// The profile is another one.
public struct ProfileUpdated: EventBody {
    /// Whose.
    public let account: AccountID
    /// The person's name.
    public let name: String?
    /// What responders should know.
    public let emergencyNote: String
    /// The profile's version.
    public let version: Int64
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, name: String? = nil, emergencyNote: String, version: Int64, at: Instant) {
        self.account = account
        self.name = name
        self.emergencyNote = emergencyNote
        self.version = version
        self.at = at
    }
}
