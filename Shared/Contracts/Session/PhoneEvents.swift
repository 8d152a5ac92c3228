public import QuartetVocabulary

/// What a code sent to a phone can be used for.
public enum PhoneCodePurpose: String, Codable, Hashable, Sendable, CaseIterable {
    case signIn
    case phoneChange
}

/// A code is on its way to a phone. Earlier ones for the same purpose are void.
public struct PhoneCodeIssued: EventBody {
    public let account: AccountID
    public let code: PhoneCodeID
    public let purpose: PhoneCodePurpose
    public let expires: Instant
    public let at: Instant

    public init(account: AccountID, code: PhoneCodeID, purpose: PhoneCodePurpose, expires: Instant, at: Instant) {
        self.account = account
        self.code = code
        self.purpose = purpose
        self.expires = expires
        self.at = at
    }
}

/// Someone entered wrong digits for a code.
public struct PhoneCodeFailed: EventBody {
    public let account: AccountID
    public let code: PhoneCodeID
    /// At 0 the code is void.
    public let attemptsLeft: Int
    public let at: Instant

    public init(account: AccountID, code: PhoneCodeID, attemptsLeft: Int, at: Instant) {
        self.account = account
        self.code = code
        self.attemptsLeft = attemptsLeft
        self.at = at
    }

    /// The answer when signing in, which is the same for a phone of no account.
    public static let rejection = Rejection(
        .invalidCode,
        "Check the six digits, or request another code; a code lasts ten minutes and five tries, and works once.",
        field: "code")
}

/// The account's phone changed.
public struct PhoneChanged: EventBody {
    public let account: AccountID
    /// Nil if it was removed.
    public let phone: Phone?
    public let at: Instant

    public init(account: AccountID, phone: Phone? = nil, at: Instant) {
        self.account = account
        self.phone = phone
        self.at = at
    }
}

/// Someone confirmed who is using a device.
public struct IdentityConfirmed: EventBody {
    public let account: AccountID
    public let device: DeviceID
    /// Until when the device may do what needs a confirmation.
    public let until: Instant
    public let at: Instant

    public init(account: AccountID, device: DeviceID, until: Instant, at: Instant) {
        self.account = account
        self.device = device
        self.until = until
        self.at = at
    }
}
