import ContractSupport
public import Vocabulary

/// How an account is taken back from a thief.
public enum RecoveryCommand: MessageSet {
    case makeRecoveryCodes(MakeRecoveryCodes)
    case confirmByRecoveryCode(ConfirmByRecoveryCode)
    case undoSecurityChanges(UndoSecurityChanges)
    case forgetSecurityChanges(ForgetSecurityChanges)

    public static let cases: Cases<Self> = [
        Case(Self.makeRecoveryCodes), Case(Self.confirmByRecoveryCode), Case(Self.undoSecurityChanges),
        Case(Self.forgetSecurityChanges),
    ]

    public var body: any CommandBody {
        switch self {
        case .makeRecoveryCodes(let body): body
        case .confirmByRecoveryCode(let body): body
        case .undoSecurityChanges(let body): body
        case .forgetSecurityChanges(let body): body
        }
    }
}

/// Numbers in the rules of recovery codes.
public enum RecoveryRules {
    /// How many codes an account gets at a time.
    public static let codes = 10
}

/// Makes the account's recovery codes; those of before are void. Each signs in, or confirms, once.
///
/// Rejected: `confirmationRequired`, `tooManyAttempts`. Result: ``RecoveryCodesMade``.
public struct MakeRecoveryCodes: CommandBody {
    /// What the holder of each code can show.
    public let proofs: [Secret]
    /// The device that asks.
    public let by: DeviceID

    /// Its parameters are the properties of the same names.
    public init(proofs: [Secret], by: DeviceID) {
        self.proofs = proofs
        self.by = by
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard proofs.count == RecoveryRules.codes, Set(proofs).count == proofs.count else {
            throw Rejection(.invalidField, "Give \(RecoveryRules.codes) different proofs.", field: "proofs")
        }
    }
}

/// Signs a device in by a recovery code.
///
/// Nobody asks this: who it is turns out here. Its key is the handle's. A wrong code counts nowhere: codes have too many
/// digits to be guessed, and a stranger's guesses must not lock out a person who has no other way in.
/// Rejected: `invalidCredentials`. Result: ``DeviceSignedIn``.
public struct SignInByRecoveryCode: CommandBody {
    /// Whose account.
    public let handle: String
    /// What the edge made of the code that was typed.
    public let proof: Secret
    /// The device.
    public let device: NewDevice

    /// Its parameters are the properties of the same names.
    public init(handle: String, proof: Secret, device: NewDevice) {
        self.handle = handle
        self.proof = proof
        self.device = device
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        // A handle that can't be is one that isn't known.
        try device.check()
    }

    /// What to answer to a wrong code: the same as for a handle that nobody has.
    public static let rejection = Rejection(
        .invalidCredentials, "The handle or the recovery code is wrong, or the code was used.",
        field: "recoveryCode")
}

/// Proves by a recovery code who uses a device: for a few minutes it may do what needs a confirmation.
///
/// A wrong code is accepted as an event, because it is counted as a wrong password is: ``SignInFailed``.
/// Rejected: `tooManyAttempts`, `deviceSignedOut`. Result: ``IdentityConfirmed``.
public struct ConfirmByRecoveryCode: CommandBody {
    /// What the edge made of the code that was typed.
    public let proof: Secret
    /// The device.
    public let device: DeviceID

    /// Its parameters are the properties of the same names.
    public init(proof: Secret, device: DeviceID) {
        self.proof = proof
        self.device = device
    }
}
