public import QuartetSessionContract
public import QuartetVocabulary

/// `POST /v1/confirm`: one of the two.
public struct ConfirmRequest: MessageBody {
    public let password: String?
    public let recoveryCode: String?

    public init(password: String? = nil, recoveryCode: String? = nil) {
        self.password = password
        self.recoveryCode = recoveryCode
    }
}

/// `POST /v1/change-password`.
public struct ChangePasswordRequest: MessageBody {
    public let password: String
    public let newPassword: String

    public init(password: String, newPassword: String) {
        self.password = password
        self.newPassword = newPassword
    }
}

/// `POST /v1/reset-password`.
public struct ResetPasswordRequest: MessageBody {
    public let newPassword: String

    public init(newPassword: String) {
        self.newPassword = newPassword
    }
}

/// `POST /v1/recovery-codes`.
public struct RecoveryCodesRequest: MessageBody {
    public init() {}
}

/// The only reply that ever has the codes.
public struct RecoveryCodesReply: Codable, Hashable, Sendable {
    public let recoveryCodes: [String]

    package init(recoveryCodes: [String]) {
        self.recoveryCodes = recoveryCodes
    }
}

/// `POST /v1/undo`.
public struct UndoRequest: MessageBody {
    public let refreshToken: String
    public let since: Instant?

    public init(refreshToken: String, since: Instant? = nil) {
        self.refreshToken = refreshToken
        self.since = since
    }
}

/// What was taken back.
public struct UndoReply: Codable, Hashable, Sendable {
    public let account: AccountID
    public let changes: [SecurityChangeKind]
    public let since: Instant
    public let at: Instant

    package init(_ event: SecurityChangesUndone) {
        (account, changes, since, at) = (event.account, event.changes, event.since, event.at)
    }
}

/// `POST /v1/phone`.
public struct ChangePhoneRequest: MessageBody {
    public let phone: String
    public let region: String?

    public init(phone: String, region: String? = nil) {
        self.phone = phone
        self.region = region
    }
}

/// `POST /v1/phone/verification`.
public struct VerifyPhoneRequest: MessageBody {
    public let phoneCode: PhoneCodeID
    public let code: String

    public init(phoneCode: PhoneCodeID, code: String) {
        self.phoneCode = phoneCode
        self.code = code
    }
}
