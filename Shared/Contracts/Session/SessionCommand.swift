public import Vocabulary

/// Everything that `session` can be asked.
public enum SessionCommand: MessageSet {
    /// ``SignUp``
    case signUp(SignUp)
    /// ``SignIn``
    case signIn(SignIn)
    /// ``RefreshDevice``
    case refreshDevice(RefreshDevice)
    /// ``SignOut``
    case signOut(SignOut)
    /// ``ChangePassword``
    case changePassword(ChangePassword)
    /// ``ResetPassword``
    case resetPassword(ResetPassword)
    /// ``UpdateSecurity``
    case updateSecurity(UpdateSecurity)
    /// ``CloseAccount``
    case closeAccount(CloseAccount)
    /// ``FreeHandle``
    case freeHandle(FreeHandle)
    /// ``UpdateProfile``
    case updateProfile(UpdateProfile)
    /// ``RequestSignInCode``
    case requestSignInCode(RequestSignInCode)
    /// ``SignInByPhone``
    case signInByPhone(SignInByPhone)
    /// ``RequestPhoneChange``
    case requestPhoneChange(RequestPhoneChange)
    /// ``ChangePhone``
    case changePhone(ChangePhone)
    /// ``RemovePhone``
    case removePhone(RemovePhone)
    /// ``RenamePhone``
    case renamePhone(RenamePhone)
    /// ``ConfirmIdentity``
    case confirmIdentity(ConfirmIdentity)
    /// ``MakeRecoveryCodes``
    case makeRecoveryCodes(MakeRecoveryCodes)
    /// ``SignInByRecoveryCode``
    case signInByRecoveryCode(SignInByRecoveryCode)
    /// ``ConfirmByRecoveryCode``
    case confirmByRecoveryCode(ConfirmByRecoveryCode)
    /// ``UndoSecurityChanges``
    case undoSecurityChanges(UndoSecurityChanges)
    /// ``ForgetSecurityChanges``
    case forgetSecurityChanges(ForgetSecurityChanges)
    /// ``SetAvatar``
    case setAvatar(SetAvatar)
    /// ``RemoveAvatar``
    case removeAvatar(RemoveAvatar)
    /// ``CheckIn``
    case checkIn(CheckIn)
    /// ``SetCheckInInterval``
    case setCheckInInterval(SetCheckInInterval)
    /// ``SetCheckInReminders``
    case setCheckInReminders(SetCheckInReminders)
    /// ``ExpireCheckIn``
    case expireCheckIn(ExpireCheckIn)
    /// ``RemindCheckIn``
    case remindCheckIn(RemindCheckIn)
    /// ``RepeatAlarm``
    case repeatAlarm(RepeatAlarm)
    /// ``AnnounceAlert``
    case announceAlert(AnnounceAlert)
    /// ``RaiseAlert``
    case raiseAlert(RaiseAlert)
    /// ``ClearAlert``
    case clearAlert(ClearAlert)

    /// Their bodies' types.
    public static var types: [any MessageBody.Type] {
        [
            SignUp.self, SignIn.self, RefreshDevice.self, SignOut.self, ChangePassword.self, ResetPassword.self,
            UpdateSecurity.self, CloseAccount.self, FreeHandle.self, UpdateProfile.self, RequestSignInCode.self,
            SignInByPhone.self,
            RequestPhoneChange.self, ChangePhone.self, RemovePhone.self, RenamePhone.self, ConfirmIdentity.self,
            MakeRecoveryCodes.self, SignInByRecoveryCode.self, ConfirmByRecoveryCode.self, UndoSecurityChanges.self,
            ForgetSecurityChanges.self, SetAvatar.self,
            RemoveAvatar.self, CheckIn.self, SetCheckInInterval.self, SetCheckInReminders.self,
            ExpireCheckIn.self, RemindCheckIn.self, RepeatAlarm.self, AnnounceAlert.self, RaiseAlert.self,
            ClearAlert.self,
        ]
    }

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch type {
        case SignUp.type: self = .signUp(try .decoded(from: body, version: version))
        case SignIn.type: self = .signIn(try .decoded(from: body, version: version))
        case RefreshDevice.type: self = .refreshDevice(try .decoded(from: body, version: version))
        case SignOut.type: self = .signOut(try .decoded(from: body, version: version))
        case ChangePassword.type: self = .changePassword(try .decoded(from: body, version: version))
        case ResetPassword.type: self = .resetPassword(try .decoded(from: body, version: version))
        case UpdateSecurity.type: self = .updateSecurity(try .decoded(from: body, version: version))
        case CloseAccount.type: self = .closeAccount(try .decoded(from: body, version: version))
        case FreeHandle.type: self = .freeHandle(try .decoded(from: body, version: version))
        case UpdateProfile.type: self = .updateProfile(try .decoded(from: body, version: version))
        case RequestSignInCode.type: self = .requestSignInCode(try .decoded(from: body, version: version))
        case SignInByPhone.type: self = .signInByPhone(try .decoded(from: body, version: version))
        case RequestPhoneChange.type: self = .requestPhoneChange(try .decoded(from: body, version: version))
        case ChangePhone.type: self = .changePhone(try .decoded(from: body, version: version))
        case RemovePhone.type: self = .removePhone(try .decoded(from: body, version: version))
        case RenamePhone.type: self = .renamePhone(try .decoded(from: body, version: version))
        case ConfirmIdentity.type: self = .confirmIdentity(try .decoded(from: body, version: version))
        case MakeRecoveryCodes.type: self = .makeRecoveryCodes(try .decoded(from: body, version: version))
        case SignInByRecoveryCode.type:
            self = .signInByRecoveryCode(try .decoded(from: body, version: version))
        case ConfirmByRecoveryCode.type:
            self = .confirmByRecoveryCode(try .decoded(from: body, version: version))
        case UndoSecurityChanges.type:
            self = .undoSecurityChanges(try .decoded(from: body, version: version))
        case ForgetSecurityChanges.type:
            self = .forgetSecurityChanges(try .decoded(from: body, version: version))
        case SetAvatar.type: self = .setAvatar(try .decoded(from: body, version: version))
        case RemoveAvatar.type: self = .removeAvatar(try .decoded(from: body, version: version))
        case CheckIn.type: self = .checkIn(try .decoded(from: body, version: version))
        case SetCheckInInterval.type: self = .setCheckInInterval(try .decoded(from: body, version: version))
        case SetCheckInReminders.type:
            self = .setCheckInReminders(try .decoded(from: body, version: version))
        case ExpireCheckIn.type: self = .expireCheckIn(try .decoded(from: body, version: version))
        case RemindCheckIn.type: self = .remindCheckIn(try .decoded(from: body, version: version))
        case RepeatAlarm.type: self = .repeatAlarm(try .decoded(from: body, version: version))
        case AnnounceAlert.type: self = .announceAlert(try .decoded(from: body, version: version))
        case RaiseAlert.type: self = .raiseAlert(try .decoded(from: body, version: version))
        case ClearAlert.type: self = .clearAlert(try .decoded(from: body, version: version))
        default: throw .unknownType(type, version: version)
        }
    }

    /// The body inside.
    public var body: any MessageBody { command }

    /// The command inside, with its rules.
    public var command: any CommandBody {
        switch self {
        case .signUp(let body): body
        case .signIn(let body): body
        case .refreshDevice(let body): body
        case .signOut(let body): body
        case .changePassword(let body): body
        case .resetPassword(let body): body
        case .updateSecurity(let body): body
        case .closeAccount(let body): body
        case .freeHandle(let body): body
        case .updateProfile(let body): body
        case .requestSignInCode(let body): body
        case .signInByPhone(let body): body
        case .requestPhoneChange(let body): body
        case .changePhone(let body): body
        case .removePhone(let body): body
        case .renamePhone(let body): body
        case .confirmIdentity(let body): body
        case .makeRecoveryCodes(let body): body
        case .signInByRecoveryCode(let body): body
        case .confirmByRecoveryCode(let body): body
        case .undoSecurityChanges(let body): body
        case .forgetSecurityChanges(let body): body
        case .setAvatar(let body): body
        case .removeAvatar(let body): body
        case .checkIn(let body): body
        case .setCheckInInterval(let body): body
        case .setCheckInReminders(let body): body
        case .expireCheckIn(let body): body
        case .remindCheckIn(let body): body
        case .repeatAlarm(let body): body
        case .announceAlert(let body): body
        case .raiseAlert(let body): body
        case .clearAlert(let body): body
        }
    }
}
