public import QuartetVocabulary

/// The phone that an account signs in with.
package enum PhoneCommand: MessageSet {
    case requestPhoneChange(RequestPhoneChange)
    case changePhone(ChangePhone)
    case removePhone(RemovePhone)
    case renamePhone(RenamePhone)

    package static let cases: Cases<Self> = [
        Case(Self.requestPhoneChange), Case(Self.changePhone), Case(Self.removePhone), Case(Self.renamePhone),
    ]

    package var body: any CommandBody {
        switch self {
        case .requestPhoneChange(let body): body
        case .changePhone(let body): body
        case .removePhone(let body): body
        case .renamePhone(let body): body
        }
    }
}

/// Begins a sign-in by phone: announces the code that the edge is about to send.
///
/// No account asks for this; the phone's key orders it. A phone of no account is accepted without an event and counted
/// like any other, so that no one learns which numbers have accounts. Rejected: `tooSoon`, `tooManyAttempts`. Result:
/// ``PhoneCodeIssued``.
public struct RequestSignInCode: CommandBody {
    public let phone: PhoneID
    /// The number's names under older server keys.
    public let earlier: [PhoneID]?
    /// Chosen by the edge.
    public let code: PhoneCodeID
    /// What proves the code.
    public let proof: Proof
    public let source: SourceID
    /// The device that it claims to be.
    public let known: KnownDevice?

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

/// Signs in a device by a code sent to the account's phone.
///
/// No account asks for this; the phone's key orders it. A wrong code is accepted with an event, because it is counted:
/// ``PhoneCodeFailed``. A code that expired, was used, was tried too often or never existed is accepted without one and
/// counted alike. Rejected: `tooManyAttempts`. Result: ``DeviceSignedIn``.
public struct SignInByPhone: CommandBody {
    public let phone: PhoneID
    /// The number's names under older server keys.
    public let earlier: [PhoneID]?
    public let code: PhoneCodeID
    /// Derived from the entered digits by the edge, under each server key.
    public let proof: [Proof]
    public let device: NewDevice
    public let source: SourceID
    /// The device that it claims to be.
    public let known: KnownDevice?

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

    public func validate() throws(Rejection) {
        try device.check()
    }
}

/// Begins to change the account's phone: announces the code that the edge is about to send there.
///
/// Rejected: `confirmationRequired`, `phoneTaken`, `tooSoon`, `tooManyAttempts`. Result: ``PhoneCodeIssued``.
public struct RequestPhoneChange: CommandBody {
    public let phone: Phone
    /// The number's name, made with the same server key as the proof.
    public let phoneID: PhoneID
    /// Chosen by the edge.
    public let code: PhoneCodeID
    /// What proves the code.
    public let proof: Proof
    /// The asking device.
    public let by: DeviceID?

    public init(phone: Phone, phoneID: PhoneID, code: PhoneCodeID, proof: Proof, by: DeviceID? = nil) {
        self.phone = phone
        self.phoneID = phoneID
        self.code = code
        self.proof = proof
        self.by = by
    }

    public func validate() throws(Rejection) {
        try phone.check()
    }
}

/// Gives the account the phone that the code was sent to.
///
/// A wrong code is accepted with an event, because it is counted: ``PhoneCodeFailed``. Rejected: `invalidCode`,
/// `phoneTaken`. Result: ``PhoneChanged``.
public struct ChangePhone: CommandBody {
    public let code: PhoneCodeID
    /// Derived from the entered digits by the edge, under each server key.
    public let proof: [Proof]
    /// The asking device.
    public let by: DeviceID?

    public init(code: PhoneCodeID, proof: [Proof], by: DeviceID? = nil) {
        self.code = code
        self.proof = proof
        self.by = by
    }
}

/// Renames the account's phone to what the current server key makes of its number. Changes nothing if the phone has
/// another name by now, or if there is none. Only the edge sends this. It emits nothing, since the number stays the
/// same.
public struct RenamePhone: CommandBody {
    /// Its present name.
    public let phone: PhoneID
    /// Its new name.
    public let next: PhoneID
    /// The server key that `next` was made with.
    public let key: KeyVersion

    public init(phone: PhoneID, next: PhoneID, key: KeyVersion) {
        self.phone = phone
        self.next = next
        self.key = key
    }
}

/// Removes the account's phone. Without one it changes nothing.
///
/// Rejected: `confirmationRequired`. Result: ``PhoneChanged``.
public struct RemovePhone: CommandBody {
    /// The asking device.
    public let by: DeviceID?

    public init(by: DeviceID? = nil) {
        self.by = by
    }
}
