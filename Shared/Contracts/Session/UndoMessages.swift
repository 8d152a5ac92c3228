public import Vocabulary

/// What a change of an account's security changed.
public enum SecurityChangeKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// The password.
    case password
    /// The phone.
    case phone
    /// How the account is kept safe.
    case settings
    /// The recovery codes.
    case recoveryCodes
}

/// Takes back changes of the account's security that another device made: the password, the phone, the settings and the
/// recovery codes become what they were before. The device proves itself by the refresh token that it had, and by nothing
/// else.
///
/// A change of the password, or a newer sign-in, must have signed the device out in the last days; one that a person signed
/// out may not. It may undo changes that were made on it, or by a device that signed in after it: so somebody who signed in
/// with a stolen password can't undo what the owner does against it. Everything that changed after the first change that is
/// undone is taken back, too, and the devices that made these changes or signed in since are signed out.
///
/// Rejected: `deviceSignedOut`, `invalidToken`, `nothingToUndo`. Result: ``SecurityChangesUndone``, and
/// ``DeviceSignedOut`` for each device that is signed out by it.
public struct UndoSecurityChanges: CommandBody {
    /// The device.
    public let device: DeviceID
    /// The hash of the refresh token that it had when it was signed out.
    public let token: Secret
    /// The time from which on changes are undone. Without it: the first change of the device whose change signed this
    /// one out.
    public let since: Instant?

    /// Its parameters are the properties of the same names.
    public init(device: DeviceID, token: Secret, since: Instant? = nil) {
        self.device = device
        self.token = token
        self.since = since
    }
}

/// Forgets what can't be undone any more. Sent by a timer; it says nothing, since nobody sees it.
///
/// Rejected: `notDue`.
public struct ForgetSecurityChanges: OwnCommandBody {
    /// Whose.
    public let account: AccountID

    /// Its parameters are the properties of the same names.
    public init(account: AccountID) {
        self.account = account
    }
}

/// Changes of the account's security were taken back.
public struct SecurityChangesUndone: EventBody {
    /// Whose.
    public let account: AccountID
    /// The device that did it.
    public let device: DeviceID
    /// What was taken back, the first change first.
    public let changes: [SecurityChangeKind]
    /// When the first of these changes was made.
    public let since: Instant
    /// The phone now; none where there was none, or where another account has it meanwhile.
    public let phone: Phone?
    /// Whether a sign-in signs the other devices out.
    public let isSingleDevice: Bool
    /// Whether sensitive acts need the password again.
    public let isConfirmationRequired: Bool
    /// How many recovery codes are good now.
    public let recoveryCodes: Int
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(
        account: AccountID, device: DeviceID, changes: [SecurityChangeKind], since: Instant, phone: Phone? = nil,
        isSingleDevice: Bool, isConfirmationRequired: Bool, recoveryCodes: Int, at: Instant
    ) {
        self.account = account
        self.device = device
        self.changes = changes
        self.since = since
        self.phone = phone
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
        self.recoveryCodes = recoveryCodes
        self.at = at
    }
}
