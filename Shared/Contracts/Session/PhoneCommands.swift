public import Vocabulary

/// The phone that an account signs in by.
public enum PhoneCommand: MessageSet {
    case requestPhoneChange(RequestPhoneChange)
    case changePhone(ChangePhone)
    case removePhone(RemovePhone)
    case renamePhone(RenamePhone)

    public static let cases: Cases<Self> = [
        Case(Self.requestPhoneChange), Case(Self.changePhone), Case(Self.removePhone), Case(Self.renamePhone),
    ]

    public var body: any CommandBody {
        switch self {
        case .requestPhoneChange(let body): body
        case .changePhone(let body): body
        case .removePhone(let body): body
        case .renamePhone(let body): body
        }
    }
}

/// Begins a sign-in by phone: the code that the edge is about to send will be good for it.
///
/// Nobody asks this: who it is turns out here. Its key is the phone's. A phone with which nobody signs in is accepted
/// without an event and counted like any other, so that nobody learns which numbers sign in.
/// Rejected: `tooSoon`, `tooManyAttempts`. Result: ``PhoneCodeIssued``.
public struct RequestSignInCode: CommandBody {
    /// The phone whose account is to be signed in to.
    public let phone: PhoneID
    /// What earlier keys made of its number.
    public let earlier: [PhoneID]?
    /// The code's id, chosen by the edge.
    public let code: PhoneCodeID
    /// What whoever has the code can show.
    public let proof: Proof
    /// Where the request comes from.
    public let source: SourceID
    /// The device that asks, where it shows that it was signed in before.
    public let known: KnownDevice?

    /// Its parameters are the properties of the same names.
    public init(
        phone: PhoneID, earlier: [PhoneID]? = nil, code: PhoneCodeID, proof: Proof, source: SourceID,
        known: KnownDevice? = nil
    ) {
        self.phone = phone
        self.earlier = earlier
        self.code = code
        self.proof = proof
        self.source = source
        self.known = known
    }
}

/// Signs a device in by a code that was sent to the account's phone.
///
/// Nobody asks this; its key is the phone's. A wrong code is accepted as an event, because it is counted:
/// ``PhoneCodeFailed``. A code that expired, was used, was tried too often or never was is accepted without one and
/// counted alike. Rejected: `tooManyAttempts`. Result: ``DeviceSignedIn``.
public struct SignInByPhone: CommandBody {
    /// The phone.
    public let phone: PhoneID
    /// What earlier keys made of its number.
    public let earlier: [PhoneID]?
    /// Which code.
    public let code: PhoneCodeID
    /// What the edge made of the digits that were typed, under each key.
    public let proof: [Proof]
    /// The device.
    public let device: NewDevice
    /// Where it comes from.
    public let source: SourceID
    /// What it was before, where it shows that.
    public let known: KnownDevice?

    /// Its parameters are the properties of the same names.
    public init(
        phone: PhoneID, earlier: [PhoneID]? = nil, code: PhoneCodeID, proof: [Proof], device: NewDevice,
        source: SourceID, known: KnownDevice? = nil
    ) {
        self.phone = phone
        self.earlier = earlier
        self.code = code
        self.proof = proof
        self.device = device
        self.source = source
        self.known = known
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        try device.check()
    }
}

/// Begins to give the account a phone: the code that the edge is about to send proves that it is the person's.
///
/// Rejected: `confirmationRequired`, `phoneTaken`, `tooSoon`, `tooManyAttempts`. Result: ``PhoneCodeIssued``.
public struct RequestPhoneChange: CommandBody {
    /// The phone.
    public let phone: Phone
    /// The name that the edge made of its number, under the same key as the proof.
    public let phoneID: PhoneID
    /// The code's id, chosen by the edge.
    public let code: PhoneCodeID
    /// What whoever has the code can show.
    public let proof: Proof
    /// The device that asks.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(phone: Phone, phoneID: PhoneID, code: PhoneCodeID, proof: Proof, by: DeviceID? = nil) {
        self.phone = phone
        self.phoneID = phoneID
        self.code = code
        self.proof = proof
        self.by = by
    }

    /// Checks what needs no state.
    public func validate() throws(Rejection) {
        try phone.check()
    }
}

/// Gives the account the phone to which a code was sent.
///
/// A wrong code is accepted as an event, because it is counted: ``PhoneCodeFailed``.
/// Rejected: `invalidCode`, `phoneTaken`. Result: ``PhoneChanged``.
public struct ChangePhone: CommandBody {
    /// Which code.
    public let code: PhoneCodeID
    /// What the edge made of the digits that were typed, under each key.
    public let proof: [Proof]
    /// The device that asks.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(code: PhoneCodeID, proof: [Proof], by: DeviceID? = nil) {
        self.code = code
        self.proof = proof
        self.by = by
    }
}

/// Gives the account's phone the name that the server's current key makes of its number. If that has another name or there is
/// none by now, it changes nothing. Nobody asks this but the edge, and it says nothing: whose phone it is stays.
public struct RenamePhone: CommandBody {
    /// The name that it has.
    public let phone: PhoneID
    /// The name that it gets.
    public let next: PhoneID
    /// Under which key that was made.
    public let key: KeyVersion

    /// Its parameters are the properties of the same names.
    public init(phone: PhoneID, next: PhoneID, key: KeyVersion) {
        self.phone = phone
        self.next = next
        self.key = key
    }
}

/// Takes the phone from the account. Without one it changes nothing.
///
/// Rejected: `confirmationRequired`. Result: ``PhoneChanged``.
public struct RemovePhone: CommandBody {
    /// The device that asks.
    public let by: DeviceID?

    /// Its parameters are the properties of the same names.
    public init(by: DeviceID? = nil) {
        self.by = by
    }
}

/// Proves once more who uses a device: for a few minutes it may do what the account wants confirmed.
///
/// A wrong password is accepted as an event, because it is counted: ``SignInFailed``.
/// Rejected: `tooManyAttempts`, `deviceSignedOut`. Result: ``IdentityConfirmed``.
public struct ConfirmIdentity: CommandBody {
    /// Made of the password, under each key.
    public let verifier: [Proof]
    /// The device.
    public let device: DeviceID

    /// Its parameters are the properties of the same names.
    public init(verifier: [Proof], device: DeviceID) {
        self.verifier = verifier
        self.device = device
    }
}
