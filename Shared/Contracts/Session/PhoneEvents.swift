public import Vocabulary

/// What a code that was sent to a phone is good for.
public enum PhoneCodePurpose: String, Codable, Hashable, Sendable, CaseIterable {
    /// To sign a device in.
    case signIn
    /// To give the account the phone.
    case phoneChange
}

/// A code is on its way to a phone; earlier ones for the same purpose are void.
public struct PhoneCodeIssued: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which code.
    public let code: PhoneCodeID
    /// What it is good for.
    public let purpose: PhoneCodePurpose
    /// Until when.
    public let expires: Instant
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, code: PhoneCodeID, purpose: PhoneCodePurpose, expires: Instant, at: Instant) {
        self.account = account
        self.code = code
        self.purpose = purpose
        self.expires = expires
        self.at = at
    }
}

/// Somebody gave wrong digits for a code.
public struct PhoneCodeFailed: EventBody {
    /// Whose account they tried.
    public let account: AccountID
    /// Which code.
    public let code: PhoneCodeID
    /// How often it may still be tried; 0: it is void.
    public let attemptsLeft: Int
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, code: PhoneCodeID, attemptsLeft: Int, at: Instant) {
        self.account = account
        self.code = code
        self.attemptsLeft = attemptsLeft
        self.at = at
    }

    /// What to answer at a sign-in: the same as for a phone with which nobody signs in.
    public static let rejection = Rejection(
        .invalidCode,
        "Check the six digits, or request another code; a code lasts ten minutes and five tries, and works once.",
        field: "code")
}

/// The account has another phone, or none.
public struct PhoneChanged: EventBody {
    /// Whose.
    public let account: AccountID
    /// The phone; none when it was removed.
    public let phone: Phone?
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, phone: Phone? = nil, at: Instant) {
        self.account = account
        self.phone = phone
        self.at = at
    }
}

/// Whoever uses a device proved again who they are.
public struct IdentityConfirmed: EventBody {
    /// Whose.
    public let account: AccountID
    /// Which one.
    public let device: DeviceID
    /// Until when it may do what the account wants confirmed.
    public let until: Instant
    /// When.
    public let at: Instant

    /// Its parameters are the properties of the same names.
    public init(account: AccountID, device: DeviceID, until: Instant, at: Instant) {
        self.account = account
        self.device = device
        self.until = until
        self.at = at
    }
}
