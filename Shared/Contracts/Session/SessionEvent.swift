public import Vocabulary

/// Everything that `session` says. Each event is in the stream of the account that it names first.
public enum SessionEvent: MessageSet {
    /// ``AccountOpened``
    case accountOpened(AccountOpened)
    /// ``AccountClosed``
    case accountClosed(AccountClosed)
    /// ``DeviceSignedIn``
    case deviceSignedIn(DeviceSignedIn)
    /// ``DeviceRefreshed``
    case deviceRefreshed(DeviceRefreshed)
    /// ``DeviceSignedOut``
    case deviceSignedOut(DeviceSignedOut)
    /// ``SignInFailed``
    case signInFailed(SignInFailed)
    /// ``PasswordChanged``
    case passwordChanged(PasswordChanged)
    /// ``SecurityUpdated``
    case securityUpdated(SecurityUpdated)
    /// ``ProfileUpdated``
    case profileUpdated(ProfileUpdated)
    /// ``PhoneCodeIssued``
    case phoneCodeIssued(PhoneCodeIssued)
    /// ``PhoneCodeFailed``
    case phoneCodeFailed(PhoneCodeFailed)
    /// ``PhoneChanged``
    case phoneChanged(PhoneChanged)
    /// ``IdentityConfirmed``
    case identityConfirmed(IdentityConfirmed)
    /// ``RecoveryCodesMade``
    case recoveryCodesMade(RecoveryCodesMade)
    /// ``RecoveryCodeUsed``
    case recoveryCodeUsed(RecoveryCodeUsed)
    /// ``SecurityChangesUndone``
    case securityChangesUndone(SecurityChangesUndone)
    /// ``AvatarSet``
    case avatarSet(AvatarSet)
    /// ``AvatarRemoved``
    case avatarRemoved(AvatarRemoved)
    /// ``CheckedIn``
    case checkedIn(CheckedIn)
    /// ``CheckInIntervalSet``
    case checkInIntervalSet(CheckInIntervalSet)
    /// ``CheckInRemindersSet``
    case checkInRemindersSet(CheckInRemindersSet)
    /// ``CheckInReminded``
    case checkInReminded(CheckInReminded)
    /// ``CheckInMissed``
    case checkInMissed(CheckInMissed)
    /// ``AlarmRepeated``
    case alarmRepeated(AlarmRepeated)
    /// ``AlertRaised``
    case alertRaised(AlertRaised)
    /// ``AlertAnnounced``
    case alertAnnounced(AlertAnnounced)
    /// ``AlertCleared``
    case alertCleared(AlertCleared)

    /// Their bodies' types.
    public static var types: [any MessageBody.Type] {
        [
            AccountOpened.self, AccountClosed.self, DeviceSignedIn.self, DeviceRefreshed.self, DeviceSignedOut.self,
            SignInFailed.self, PasswordChanged.self, SecurityUpdated.self, ProfileUpdated.self, PhoneCodeIssued.self,
            PhoneCodeFailed.self, PhoneChanged.self, IdentityConfirmed.self, RecoveryCodesMade.self,
            RecoveryCodeUsed.self, SecurityChangesUndone.self, AvatarSet.self, AvatarRemoved.self, CheckedIn.self,
            CheckInIntervalSet.self, CheckInRemindersSet.self, CheckInReminded.self, CheckInMissed.self,
            AlarmRepeated.self, AlertRaised.self, AlertAnnounced.self, AlertCleared.self,
        ]
    }

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch type {
        case AccountOpened.type: self = .accountOpened(try .decoded(from: body, version: version))
        case AccountClosed.type: self = .accountClosed(try .decoded(from: body, version: version))
        case DeviceSignedIn.type: self = .deviceSignedIn(try .decoded(from: body, version: version))
        case DeviceRefreshed.type: self = .deviceRefreshed(try .decoded(from: body, version: version))
        case DeviceSignedOut.type: self = .deviceSignedOut(try .decoded(from: body, version: version))
        case SignInFailed.type: self = .signInFailed(try .decoded(from: body, version: version))
        case PasswordChanged.type: self = .passwordChanged(try .decoded(from: body, version: version))
        case SecurityUpdated.type: self = .securityUpdated(try .decoded(from: body, version: version))
        case ProfileUpdated.type: self = .profileUpdated(try .decoded(from: body, version: version))
        case PhoneCodeIssued.type: self = .phoneCodeIssued(try .decoded(from: body, version: version))
        case PhoneCodeFailed.type: self = .phoneCodeFailed(try .decoded(from: body, version: version))
        case PhoneChanged.type: self = .phoneChanged(try .decoded(from: body, version: version))
        case IdentityConfirmed.type: self = .identityConfirmed(try .decoded(from: body, version: version))
        case RecoveryCodesMade.type: self = .recoveryCodesMade(try .decoded(from: body, version: version))
        case RecoveryCodeUsed.type: self = .recoveryCodeUsed(try .decoded(from: body, version: version))
        case SecurityChangesUndone.type:
            self = .securityChangesUndone(try .decoded(from: body, version: version))
        case AvatarSet.type: self = .avatarSet(try .decoded(from: body, version: version))
        case AvatarRemoved.type: self = .avatarRemoved(try .decoded(from: body, version: version))
        case CheckedIn.type: self = .checkedIn(try .decoded(from: body, version: version))
        case CheckInIntervalSet.type: self = .checkInIntervalSet(try .decoded(from: body, version: version))
        case CheckInRemindersSet.type:
            self = .checkInRemindersSet(try .decoded(from: body, version: version))
        case CheckInReminded.type: self = .checkInReminded(try .decoded(from: body, version: version))
        case CheckInMissed.type: self = .checkInMissed(try .decoded(from: body, version: version))
        case AlarmRepeated.type: self = .alarmRepeated(try .decoded(from: body, version: version))
        case AlertRaised.type: self = .alertRaised(try .decoded(from: body, version: version))
        case AlertAnnounced.type: self = .alertAnnounced(try .decoded(from: body, version: version))
        case AlertCleared.type: self = .alertCleared(try .decoded(from: body, version: version))
        default: throw .unknownType(type, version: version)
        }
    }

    /// The body inside.
    public var body: any MessageBody {
        switch self {
        case .accountOpened(let body): body
        case .accountClosed(let body): body
        case .deviceSignedIn(let body): body
        case .deviceRefreshed(let body): body
        case .deviceSignedOut(let body): body
        case .signInFailed(let body): body
        case .passwordChanged(let body): body
        case .securityUpdated(let body): body
        case .profileUpdated(let body): body
        case .phoneCodeIssued(let body): body
        case .phoneCodeFailed(let body): body
        case .phoneChanged(let body): body
        case .identityConfirmed(let body): body
        case .recoveryCodesMade(let body): body
        case .recoveryCodeUsed(let body): body
        case .securityChangesUndone(let body): body
        case .avatarSet(let body): body
        case .avatarRemoved(let body): body
        case .checkedIn(let body): body
        case .checkInIntervalSet(let body): body
        case .checkInRemindersSet(let body): body
        case .checkInReminded(let body): body
        case .checkInMissed(let body): body
        case .alarmRepeated(let body): body
        case .alertRaised(let body): body
        case .alertAnnounced(let body): body
        case .alertCleared(let body): body
        }
    }
}
