import QuartetContractSupport
public import QuartetVocabulary

/// Signing up and in. No account asks for these.
package enum SignInCommand: MessageSet {
    case signUp(SignUp)
    case signIn(SignIn)
    case requestSignInCode(RequestSignInCode)
    case signInByPhone(SignInByPhone)
    case signInByRecoveryCode(SignInByRecoveryCode)

    package static let cases: Cases<Self> = [
        Case(Self.signUp), Case(Self.signIn), Case(Self.requestSignInCode), Case(Self.signInByPhone),
        Case(Self.signInByRecoveryCode),
    ]

    package var body: any CommandBody {
        switch self {
        case .signUp(let body): body
        case .signIn(let body): body
        case .requestSignInCode(let body): body
        case .signInByPhone(let body): body
        case .signInByRecoveryCode(let body): body
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
