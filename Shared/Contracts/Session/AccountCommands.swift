import ContractSupport
public import Vocabulary

/// Signing up and in. No account asks for these.
public enum SignInCommand: MessageSet {
    case signUp(SignUp)
    case signIn(SignIn)
    case requestSignInCode(RequestSignInCode)
    case signInByPhone(SignInByPhone)
    case signInByRecoveryCode(SignInByRecoveryCode)

    public static let cases: Cases<Self> = [
        Case(Self.signUp), Case(Self.signIn), Case(Self.requestSignInCode), Case(Self.signInByPhone),
        Case(Self.signInByRecoveryCode),
    ]

    public var body: any CommandBody {
        switch self {
        case .signUp(let body): body
        case .signIn(let body): body
        case .requestSignInCode(let body): body
        case .signInByPhone(let body): body
        case .signInByRecoveryCode(let body): body
        }
    }
}

/// An account's profile and its end.
public enum AccountCommand: MessageSet {
    case updateProfile(UpdateProfile)
    case closeAccount(CloseAccount)
    case freeHandle(FreeHandle)

    public static let cases: Cases<Self> = [Case(Self.updateProfile), Case(Self.closeAccount), Case(Self.freeHandle)]

    public var body: any CommandBody {
        switch self {
        case .updateProfile(let body): body
        case .closeAccount(let body): body
        case .freeHandle(let body): body
        }
    }
}

/// The devices that are signed in.
public enum DeviceCommand: MessageSet {
    case refreshDevice(RefreshDevice)
    case signOut(SignOut)

    public static let cases: Cases<Self> = [Case(Self.refreshDevice), Case(Self.signOut)]

    public var body: any CommandBody {
        switch self {
        case .refreshDevice(let body): body
        case .signOut(let body): body
        }
    }
}

/// Passwords, confirmations and security settings.
public enum SecurityCommand: MessageSet {
    case changePassword(ChangePassword)
    case resetPassword(ResetPassword)
    case confirmIdentity(ConfirmIdentity)
    case updateSecurity(UpdateSecurity)

    public static let cases: Cases<Self> = [
        Case(Self.changePassword), Case(Self.resetPassword), Case(Self.confirmIdentity), Case(Self.updateSecurity),
    ]

    public var body: any CommandBody {
        switch self {
        case .changePassword(let body): body
        case .resetPassword(let body): body
        case .confirmIdentity(let body): body
        case .updateSecurity(let body): body
        }
    }
}

/// A device that signs in.
public struct NewDevice: Codable, Hashable, Sendable {
    /// Chosen by the edge.
    public var id: DeviceID
    /// Shown in the list of devices: 1 to 50 characters.
    public var name: String
    /// The hash of its first refresh token.
    public var token: Secret

    public init(id: DeviceID, name: String, token: Secret) {
        self.id = id
        self.name = name
        self.token = token
    }

    /// - Throws: `invalidField` if the name is invalid.
    func check() throws(Rejection) { try Self.check(name: name) }

    /// - Throws: `invalidField` if the name is invalid.
    public static func check(name: String) throws(Rejection) {
        try TextRule(1...50).check(name, field: "device.name")
    }
}

/// Opens an account and signs in its first device.
///
/// No account asks for this; the handle's key orders it. Rejected: `handleTaken`, `accountExists`, `accountClosed`.
/// Result: ``AccountOpened``.
public struct SignUp: CommandBody {
    /// Chosen by the edge.
    public let account: AccountID
    /// See ``Handle``.
    public let handle: String
    /// Derived from the password by the edge.
    public let verifier: Proof
    /// See ``PersonName``. Without it the account still needs a profile.
    public let name: String?
    public let device: NewDevice

    public init(account: AccountID, handle: String, verifier: Proof, name: String? = nil, device: NewDevice) {
        self.account = account
        self.handle = handle
        self.verifier = verifier
        self.name = name
        self.device = device
    }

    public func validate() throws(Rejection) {
        _ = try Handle(handle)
        if let name { _ = try PersonName(name) }
        try device.check()
    }
}

/// Signs in a device by handle and password.
///
/// No account asks for this; the handle's key orders it. A wrong password is accepted with an event, because it is
/// counted: ``SignInFailed``. An unknown handle is accepted without one and counted alike, so that the edge can answer
/// both alike. Rejected: `invalidCredentials` for an invalid handle, `tooManyAttempts`. Result: ``DeviceSignedIn``.
public struct SignIn: CommandBody {
    public let handle: String
    /// Derived from the password by the edge, under each server key.
    public let verifier: [Proof]
    public let device: NewDevice
    public let source: SourceID
    /// The device that it claims to be.
    public let known: KnownDevice?

    public init(handle: String, verifier: [Proof], device: NewDevice, source: SourceID, known: KnownDevice? = nil) {
        self.handle = handle
        self.verifier = verifier
        self.device = device
        self.source = source
        self.known = known
    }

    public func validate() throws(Rejection) {
        // An invalid handle is treated like an unknown one.
        try device.check()
    }
}

/// Exchanges a device's refresh token for the next one. A token that was exchanged before is a copy, so the device is
/// signed out.
///
/// Rejected: `deviceSignedOut`, `invalidToken`. Result: ``DeviceRefreshed``, or ``DeviceSignedOut`` for a copy.
public struct RefreshDevice: CommandBody {
    public let device: DeviceID
    /// The hash of its present token.
    public let token: Secret
    /// The hash of its next token.
    public let next: Secret

    public init(device: DeviceID, token: Secret, next: Secret) {
        self.device = device
        self.token = token
        self.next = next
    }

    public func validate() throws(Rejection) {
        guard token != next else {
            throw Rejection(.invalidField, "The next token must differ from the current one.", field: "next")
        }
    }
}

/// Signs out one device or all of them.
///
/// Rejected: `notFound`, `confirmationRequired` unless it is the asking device. Result: ``DeviceSignedOut`` for each,
/// the asking device first; nothing if it is already signed out.
public struct SignOut: CommandBody {
    /// Nil for all.
    public let device: DeviceID?
    /// The asking device. The others are told that they were signed out from elsewhere.
    public let by: DeviceID?

    public init(device: DeviceID? = nil, by: DeviceID? = nil) {
        self.device = device
        self.by = by
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

/// Closes the account. Its id is never used again; others may have its handle a month later. Sending it again changes
/// nothing.
///
/// Rejected: `confirmationRequired`. Result: ``AccountClosed``.
public struct CloseAccount: CommandBody {
    /// The asking device.
    public let by: DeviceID?

    public init(by: DeviceID? = nil) {
        self.by = by
    }
}

/// Frees the handle of an account that was closed a month ago. A timer sends this. A closed account emits no events, so
/// neither does this.
///
/// Rejected: `notDue`.
public struct FreeHandle: OwnCommandBody {
    public let account: AccountID

    public init(account: AccountID) {
        self.account = account
    }
}
