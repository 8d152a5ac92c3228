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
    /// ``AlertCleared``
    case alertCleared(AlertCleared)

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (AccountOpened.type, AccountOpened.version): self = .accountOpened(try .decoded(from: body))
        case (AccountClosed.type, AccountClosed.version): self = .accountClosed(try .decoded(from: body))
        case (DeviceSignedIn.type, DeviceSignedIn.version): self = .deviceSignedIn(try .decoded(from: body))
        case (DeviceRefreshed.type, DeviceRefreshed.version): self = .deviceRefreshed(try .decoded(from: body))
        case (DeviceSignedOut.type, DeviceSignedOut.version): self = .deviceSignedOut(try .decoded(from: body))
        case (SignInFailed.type, SignInFailed.version): self = .signInFailed(try .decoded(from: body))
        case (PasswordChanged.type, PasswordChanged.version): self = .passwordChanged(try .decoded(from: body))
        case (SecurityUpdated.type, SecurityUpdated.version): self = .securityUpdated(try .decoded(from: body))
        case (ProfileUpdated.type, ProfileUpdated.version): self = .profileUpdated(try .decoded(from: body))
        case (CheckedIn.type, CheckedIn.version): self = .checkedIn(try .decoded(from: body))
        case (CheckInIntervalSet.type, CheckInIntervalSet.version): self = .checkInIntervalSet(try .decoded(from: body))
        case (CheckInRemindersSet.type, CheckInRemindersSet.version):
            self = .checkInRemindersSet(try .decoded(from: body))
        case (CheckInReminded.type, CheckInReminded.version): self = .checkInReminded(try .decoded(from: body))
        case (CheckInMissed.type, CheckInMissed.version): self = .checkInMissed(try .decoded(from: body))
        case (AlarmRepeated.type, AlarmRepeated.version): self = .alarmRepeated(try .decoded(from: body))
        case (AlertRaised.type, AlertRaised.version): self = .alertRaised(try .decoded(from: body))
        case (AlertCleared.type, AlertCleared.version): self = .alertCleared(try .decoded(from: body))
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
        case .checkedIn(let body): body
        case .checkInIntervalSet(let body): body
        case .checkInRemindersSet(let body): body
        case .checkInReminded(let body): body
        case .checkInMissed(let body): body
        case .alarmRepeated(let body): body
        case .alertRaised(let body): body
        case .alertCleared(let body): body
        }
    }
}
