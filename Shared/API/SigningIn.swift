public import QuartetSessionContract
public import QuartetVocabulary

/// `POST /v1/sign-up`.
public struct SignUpRequest: MessageBody {
    public let handle: String
    public let password: String
    public let name: String?
    public let phone: String?
    public let region: String?
    public let deviceName: String?

    public init(
        handle: String, password: String, name: String? = nil, phone: String? = nil, region: String? = nil,
        deviceName: String? = nil
    ) {
        self.handle = handle
        self.password = password
        self.name = name
        self.phone = phone
        self.region = region
        self.deviceName = deviceName
    }
}

/// `POST /v1/sign-in`: by handle and password, by handle and recovery code, or by phone and code. A refresh token shows that
/// the device was signed in before.
public struct SignInRequest: MessageBody {
    public let handle: String?
    public let password: String?
    public let recoveryCode: String?
    public let phone: String?
    public let phoneCode: PhoneCodeID?
    public let code: String?
    public let deviceName: String?
    public let refreshToken: String?

    public init(
        handle: String? = nil, password: String? = nil, recoveryCode: String? = nil, phone: String? = nil,
        phoneCode: PhoneCodeID? = nil, code: String? = nil, deviceName: String? = nil, refreshToken: String? = nil
    ) {
        self.handle = handle
        self.password = password
        self.recoveryCode = recoveryCode
        self.phone = phone
        self.phoneCode = phoneCode
        self.code = code
        self.deviceName = deviceName
        self.refreshToken = refreshToken
    }

    /// The first field that is missing, or else one that is too much.
    package var wrongField: String {
        let isByRecovery = recoveryCode != nil && password == nil
        let byHandle =
            [("handle", handle == nil)]
            + (isByRecovery ? [("recoveryCode", false)] : [("password", password == nil)])
        let byPhone = [("phone", phone == nil), ("phoneCode", phoneCode == nil), ("code", code == nil)]
        let isByPhone = handle == nil && password == nil && byPhone.contains { !$0.1 }
        let (wanted, other) =
            isByPhone
            ? (byPhone, byHandle)
            : (byHandle, byPhone + (isByRecovery ? [] : [("recoveryCode", recoveryCode == nil)]))
        return wanted.first { $0.1 }?.0 ?? other.first { !$0.1 }?.0 ?? "handle"
    }
}

/// `POST /v1/sign-in/codes`.
public struct SignInCodeRequest: MessageBody {
    public let phone: String
    public let refreshToken: String?

    public init(phone: String, refreshToken: String? = nil) {
        self.phone = phone
        self.refreshToken = refreshToken
    }
}

/// `POST /v1/token`.
public struct TokenRequest: MessageBody {
    public let refreshToken: String

    public init(refreshToken: String) {
        self.refreshToken = refreshToken
    }
}

/// `POST /v1/sign-out`: of this device, unless it names another or asks for all.
public struct SignOutRequest: MessageBody {
    public let device: DeviceID?
    public let everywhere: Bool?

    public init(device: DeviceID? = nil, everywhere: Bool? = nil) {
        self.device = device
        self.everywhere = everywhere
    }
}

/// What a device needs to call from now on.
public struct SignedIn: Codable, Hashable, Sendable {
    public let account: AccountID
    public let device: DeviceID
    public let accessToken: String
    /// For how many seconds the access token is good.
    public let expiresIn: Int64
    public let refreshToken: String
    /// After a sign-up with a phone: the code that was sent to it.
    public let phoneCode: PhoneCodeSent?

    public init(
        account: AccountID, device: DeviceID, accessToken: String, expiresIn: Int64, refreshToken: String,
        phoneCode: PhoneCodeSent? = nil
    ) {
        self.account = account
        self.device = device
        self.accessToken = accessToken
        self.expiresIn = expiresIn
        self.refreshToken = refreshToken
        self.phoneCode = phoneCode
    }
}

/// A code is on its way to a phone.
public struct PhoneCodeSent: Codable, Hashable, Sendable {
    /// Which one; given back together with the digits.
    public let phoneCode: PhoneCodeID
    /// For how many seconds it is good.
    public let expiresIn: Int64

    package init(_ code: PhoneCodeID) {
        phoneCode = code
        expiresIn = PhoneCodeRules.lifetime.microseconds / 1_000_000
    }
}
