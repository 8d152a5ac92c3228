import ContractSupport
public import Vocabulary

/// How somebody signs up or in; no account asks.
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

/// The password, and what has to be confirmed.
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
    /// Its id, chosen by the edge.
    public var id: DeviceID
    /// What its person sees in the list of devices; 1 to 50 characters.
    public var name: String
    /// The hash of its first refresh token.
    public var token: Secret

    /// Its parameters are the properties of the same names.
    public init(id: DeviceID, name: String, token: Secret) {
        self.id = id
        self.name = name
        self.token = token
    }

    /// - Throws: `invalidField` when the name is no good.
    func check() throws(Rejection) { try Self.check(name: name) }

    /// - Throws: `invalidField` when the name is no good.
    public static func check(name: String) throws(Rejection) {
        try TextRule(1...50).check(name, field: "device.name")
    }
}

/// Opens an account and signs its first device in.
///
/// Nobody asks this: the account begins here. Its key is the handle's.
/// Rejected: `handleTaken`, `accountExists`, `accountClosed`. Result: ``AccountOpened``.
public struct SignUp: CommandBody {
    /// The account's id, chosen by the edge.
    public let account: AccountID
    /// What others find it by; see ``Handle``.
    public let handle: String
    /// What the edge's key derivation made of the password.
    public let verifier: Proof
    /// The person's name, see ``PersonName``; without it the account still needs a profile.
    public let name: String?
    /// The device that signs up.
    public let device: NewDevice

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, handle: String, verifier: Proof, name: String? = nil, device: NewDevice) {
        self.account = account
        self.handle = handle
        self.verifier = verifier
        self.name = name
        self.device = device
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        _ = try Handle(handle)
        if let name { _ = try PersonName(name) }
        try device.check()
    }
}

/// Signs a device in by handle and password.
///
/// Nobody asks this: who it is turns out here. Its key is the handle's. A wrong password is accepted as an event, because
/// it is counted: ``SignInFailed``. An unknown handle is accepted without one and counted alike, so that the edge has one
/// answer for both. Rejected: `invalidCredentials` for a handle that can't be, `tooManyAttempts`. Result:
/// ``DeviceSignedIn``.
public struct SignIn: CommandBody {
    /// Whose account.
    public let handle: String
    /// What the edge's key derivation made of the password, under each key.
    public let verifier: [Proof]
    /// The device.
    public let device: NewDevice
    /// Where it comes from.
    public let source: SourceID
    /// What it was before, where it shows that.
    public let known: KnownDevice?

    /// Its parameters are the properties of the same names.
    public init(handle: String, verifier: [Proof], device: NewDevice, source: SourceID, known: KnownDevice? = nil) {
        self.handle = handle
        self.verifier = verifier
        self.device = device
        self.source = source
        self.known = known
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        // A handle that can't be is one that isn't known.
        try device.check()
    }
}

/// Exchanges a device's refresh token for the next one. A token that was exchanged before is a copy: the device is signed
/// out.
///
/// Rejected: `deviceSignedOut`, `invalidToken`. Result: ``DeviceRefreshed``, or ``DeviceSignedOut`` for a copy.
public struct RefreshDevice: CommandBody {
    /// The device.
    public let device: DeviceID
    /// The hash of the token that it has.
    public let token: Secret
    /// The hash of the token that it gets.
    public let next: Secret

    /// Its parameters are the properties of the same names.
    public init(device: DeviceID, token: Secret, next: Secret) {
        self.device = device
        self.token = token
        self.next = next
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        guard token != next else {
            throw Rejection(.invalidField, "The next token must differ from the current one.", field: "next")
        }
    }
}

/// Signs out one device or all of them.
///
/// Rejected: `notFound`, `confirmationRequired` unless it is the device that asks. Result: ``DeviceSignedOut`` for each, the first being the given one; nothing if it is out already.
public struct SignOut: CommandBody {
    /// The one to sign out; nil for all.
    public let device: DeviceID?
    /// The device that asks, so that the others are told it wasn't they.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(device: DeviceID? = nil, by: DeviceID? = nil) {
        self.device = device
        self.by = by
    }
}

/// Changes the password and signs every other device out.
///
/// A wrong password is accepted as an event, because it is counted: ``SignInFailed``.
/// Rejected: `tooManyAttempts`, `samePassword`, `deviceSignedOut`. Result: ``PasswordChanged``.
public struct ChangePassword: CommandBody {
    /// Made of the present password, under each key.
    public let verifier: [Proof]
    /// Made of the new password.
    public let next: Proof
    /// The device that asks and stays signed in.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(verifier: [Proof], next: Proof, by: DeviceID? = nil) {
        self.verifier = verifier
        self.next = next
        self.by = by
    }
}

/// Sets a password without the present one, which may be forgotten, and signs every other device out. What proves the
/// person is the device's confirmation: a sign-in by a code, say.
///
/// Rejected: `confirmationRequired`. Result: ``PasswordChanged``.
public struct ResetPassword: CommandBody {
    /// Made of the new password.
    public let next: Proof
    /// The device that asks and stays signed in.
    public let by: DeviceID

    /// Its parameters are the properties of the same names.
    public init(next: Proof, by: DeviceID) {
        self.next = next
        self.by = by
    }
}

/// Chooses how the account is kept safe; what isn't given stays.
///
/// Rejected: `confirmationRequired`. Result: ``SecurityUpdated``; nothing if it was so.
public struct UpdateSecurity: CommandBody {
    /// Whether a sign-in signs the other devices out.
    public let isSingleDevice: Bool?
    /// Whether sensitive acts need the password again.
    public let isConfirmationRequired: Bool?
    /// The device that asks.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(isSingleDevice: Bool? = nil, isConfirmationRequired: Bool? = nil, by: DeviceID? = nil) {
        self.isSingleDevice = isSingleDevice
        self.isConfirmationRequired = isConfirmationRequired
        self.by = by
    }
}

/// Ends the account for ever. Its id is remembered; its handle is free for others after a month. Sent again it changes
/// nothing.
///
/// Rejected: `confirmationRequired`. Result: ``AccountClosed``.
public struct CloseAccount: CommandBody {
    /// The device that asks.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(by: DeviceID? = nil) {
        self.by = by
    }
}

/// Frees the handle of an account that was closed a month ago. Sent by a timer; an account that is closed says nothing, so
/// there is no event.
///
/// Rejected: `notDue`.
public struct FreeHandle: OwnCommandBody {
    /// Whose.
    public let account: AccountID

    /// Its parameters are the properties of the same names.
    public init(account: AccountID) {
        self.account = account
    }
}
