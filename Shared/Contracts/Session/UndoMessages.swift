public import QuartetVocabulary

/// What a security change changed.
public enum SecurityChangeKind: String, Codable, Hashable, Sendable, CaseIterable {
    case password
    case phone
    case settings
    case recoveryCodes
}

/// Undoes security changes that another device made: restores the password, the phone, the settings and the recovery
/// codes. The device proves itself by its last refresh token alone.
///
/// The device must have been signed out in the last days by a change of the password or a newer sign-in, not by a
/// person. It may undo its own changes and those of devices that signed in after it; so someone who signed in with a
/// stolen password can't undo what the owner does against it. Everything that changed after the first undone change is
/// undone, too, and the devices that made these changes or have signed in since are signed out.
///
/// Rejected: `deviceSignedOut`, `invalidToken`, `nothingToUndo`. Result: ``SecurityChangesUndone``, and
/// ``DeviceSignedOut`` for each device that this signs out.
public struct UndoSecurityChanges: CommandBody {
    public let device: DeviceID
    /// The hash of the refresh token that it had when it was signed out.
    public let token: Secret
    /// Undoes changes from this time on. If nil, from the first change of the device whose change signed this one out.
    public let since: Instant?

    public init(device: DeviceID, token: Secret, since: Instant? = nil) {
        self.device = device
        self.token = token
        self.since = since
    }
}

/// Forgets changes that can no longer be undone. A timer sends this. It emits nothing, since no one sees them.
///
/// Rejected: `notDue`.
package struct ForgetSecurityChanges: OwnCommandBody {
    package let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Security changes were undone.
public struct SecurityChangesUndone: EventBody {
    public let account: AccountID
    /// The device that undid them.
    public let device: DeviceID
    /// What was undone, the first change first.
    public let changes: [SecurityChangeKind]
    /// When the first of these changes was made.
    public let since: Instant
    /// The restored phone. Nil if there was none or another account has it by now.
    public let phone: Phone?
    /// Whether signing in signs all other devices out.
    public let isSingleDevice: Bool
    /// Whether signing other devices out needs a confirmation.
    public let isConfirmationRequired: Bool
    /// How many are unused now.
    public let recoveryCodes: Int
    public let at: Instant

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
