public import QuartetVocabulary

/// Passwords, confirmations and security settings.
package enum SecurityCommand: MessageSet {
    case changePassword(ChangePassword)
    case resetPassword(ResetPassword)
    case confirmIdentity(ConfirmIdentity)
    case updateSecurity(UpdateSecurity)

    package static let cases: Cases<Self> = [
        Case(Self.changePassword), Case(Self.resetPassword), Case(Self.confirmIdentity), Case(Self.updateSecurity),
    ]

    package var body: any CommandBody {
        switch self {
        case .changePassword(let body): body
        case .resetPassword(let body): body
        case .confirmIdentity(let body): body
        case .updateSecurity(let body): body
        }
    }
}

/// Changes the password and signs out every other device.
///
/// A wrong password is accepted with an event, because it is counted: ``SignInFailed``. Rejected: `tooManyAttempts`,
/// `samePassword`, `deviceSignedOut`. Result: ``PasswordChanged``.
public struct ChangePassword: CommandBody {
    /// Derived from the present password, under each server key.
    public let verifier: [Proof]
    /// Derived from the new password.
    public let next: Proof
    /// The asking device, which stays signed in.
    public let by: DeviceID?

    public init(verifier: [Proof], next: Proof, by: DeviceID? = nil) {
        self.verifier = verifier
        self.next = next
        self.by = by
    }
}

/// Sets a password without knowing the present one, and signs out every other device. The device must be confirmed, for
/// example by signing in with a code.
///
/// Rejected: `confirmationRequired`. Result: ``PasswordChanged``.
public struct ResetPassword: CommandBody {
    /// Derived from the new password.
    public let next: Proof
    /// The asking device, which stays signed in.
    public let by: DeviceID

    public init(next: Proof, by: DeviceID) {
        self.next = next
        self.by = by
    }
}

/// Confirms who is using a device. For a few minutes it may then do what needs a confirmation.
///
/// A wrong password is accepted with an event, because it is counted: ``SignInFailed``. Rejected: `tooManyAttempts`,
/// `deviceSignedOut`. Result: ``IdentityConfirmed``.
public struct ConfirmIdentity: CommandBody {
    /// Derived from the password, under each server key.
    public let verifier: [Proof]
    public let device: DeviceID

    public init(verifier: [Proof], device: DeviceID) {
        self.verifier = verifier
        self.device = device
    }
}

/// Changes the given security settings.
///
/// Rejected: `confirmationRequired`. Result: ``SecurityUpdated``; nothing if nothing changes.
public struct UpdateSecurity: CommandBody {
    /// Whether signing in signs all other devices out.
    public let isSingleDevice: Bool?
    /// Whether signing other devices out needs a confirmation.
    public let isConfirmationRequired: Bool?
    /// The asking device.
    public let by: DeviceID?

    public init(isSingleDevice: Bool? = nil, isConfirmationRequired: Bool? = nil, by: DeviceID? = nil) {
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
        self.by = by
    }
}
