import QuartetContractSupport
public import QuartetVocabulary

/// Recovery codes and the undoing of security changes, against thieves.
package enum RecoveryCommand: MessageSet {
    case makeRecoveryCodes(MakeRecoveryCodes)
    case confirmByRecoveryCode(ConfirmByRecoveryCode)
    case undoSecurityChanges(UndoSecurityChanges)
    case forgetSecurityChanges(ForgetSecurityChanges)

    package static let cases: Cases<Self> = [
        Case(Self.makeRecoveryCodes), Case(Self.confirmByRecoveryCode), Case(Self.undoSecurityChanges),
        Case(Self.forgetSecurityChanges),
    ]

    package var body: any CommandBody {
        switch self {
        case .makeRecoveryCodes(let body): body
        case .confirmByRecoveryCode(let body): body
        case .undoSecurityChanges(let body): body
        case .forgetSecurityChanges(let body): body
        }
    }
}

/// The limits that a sender can know beforehand.
public enum RecoveryRules {
    /// Made at a time.
    public static let codes = 10
}

/// Replaces the account's recovery codes. Each can be used once, to sign in or to confirm.
///
/// Rejected: `confirmationRequired`, `tooManyAttempts`. Result: ``RecoveryCodesMade``.
public struct MakeRecoveryCodes: CommandBody {
    /// What proves each code.
    public let proofs: [Secret]
    /// The asking device.
    public let by: DeviceID

    public init(proofs: [Secret], by: DeviceID) {
        self.proofs = proofs
        self.by = by
    }

    public func validate() throws(Rejection) {
        guard proofs.count == RecoveryRules.codes, Set(proofs).count == proofs.count else {
            throw Rejection(.invalidField, "Give \(RecoveryRules.codes) different proofs.", field: "proofs")
        }
    }
}

/// Signs in a device by a recovery code.
///
/// No account asks for this; the handle's key orders it. Wrong codes aren't counted: codes have too many digits to be
/// guessed, and a stranger's guesses must not lock out someone who has no other way in. Rejected: `invalidCredentials`.
/// Result: ``DeviceSignedIn``.
public struct SignInByRecoveryCode: CommandBody {
    public let handle: String
    /// Derived from the entered code by the edge.
    public let proof: Secret
    public let device: NewDevice

    public init(handle: String, proof: Secret, device: NewDevice) {
        self.handle = handle
        self.proof = proof
        self.device = device
    }

    public func validate() throws(Rejection) {
        // An invalid handle is treated like an unknown one.
        try device.check()
    }

    /// The answer to a wrong code, which is the same for an unknown handle.
    public static let rejection = Rejection(
        .invalidCredentials, "The handle or the recovery code is wrong, or the code was used.",
        field: "recoveryCode")
}

/// Confirms by a recovery code who is using a device. For a few minutes it may then do what needs a confirmation.
///
/// A wrong code is accepted with an event, because it is counted like a wrong password: ``SignInFailed``. Rejected:
/// `tooManyAttempts`, `deviceSignedOut`. Result: ``IdentityConfirmed``.
public struct ConfirmByRecoveryCode: CommandBody {
    /// Derived from the entered code by the edge.
    public let proof: Secret
    public let device: DeviceID

    public init(proof: Secret, device: DeviceID) {
        self.proof = proof
        self.device = device
    }
}
