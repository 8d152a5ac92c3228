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
    /// ``UpdateSecurity``
    case updateSecurity(UpdateSecurity)
    /// ``CloseAccount``
    case closeAccount(CloseAccount)
    /// ``UpdateProfile``
    case updateProfile(UpdateProfile)
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
    /// ``RaiseAlert``
    case raiseAlert(RaiseAlert)
    /// ``ClearAlert``
    case clearAlert(ClearAlert)

    /// Reads the body of one of these types and versions.
    public init(type: String, version: Int16, body: [UInt8]) throws(MessageError) {
        switch (type, version) {
        case (SignUp.type, SignUp.version): self = .signUp(try .decoded(from: body))
        case (SignIn.type, SignIn.version): self = .signIn(try .decoded(from: body))
        case (RefreshDevice.type, RefreshDevice.version): self = .refreshDevice(try .decoded(from: body))
        case (SignOut.type, SignOut.version): self = .signOut(try .decoded(from: body))
        case (ChangePassword.type, ChangePassword.version): self = .changePassword(try .decoded(from: body))
        case (UpdateSecurity.type, UpdateSecurity.version): self = .updateSecurity(try .decoded(from: body))
        case (CloseAccount.type, CloseAccount.version): self = .closeAccount(try .decoded(from: body))
        case (UpdateProfile.type, UpdateProfile.version): self = .updateProfile(try .decoded(from: body))
        case (CheckIn.type, CheckIn.version): self = .checkIn(try .decoded(from: body))
        case (SetCheckInInterval.type, SetCheckInInterval.version): self = .setCheckInInterval(try .decoded(from: body))
        case (SetCheckInReminders.type, SetCheckInReminders.version):
            self = .setCheckInReminders(try .decoded(from: body))
        case (ExpireCheckIn.type, ExpireCheckIn.version): self = .expireCheckIn(try .decoded(from: body))
        case (RemindCheckIn.type, RemindCheckIn.version): self = .remindCheckIn(try .decoded(from: body))
        case (RepeatAlarm.type, RepeatAlarm.version): self = .repeatAlarm(try .decoded(from: body))
        case (RaiseAlert.type, RaiseAlert.version): self = .raiseAlert(try .decoded(from: body))
        case (ClearAlert.type, ClearAlert.version): self = .clearAlert(try .decoded(from: body))
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
        case .updateSecurity(let body): body
        case .closeAccount(let body): body
        case .updateProfile(let body): body
        case .checkIn(let body): body
        case .setCheckInInterval(let body): body
        case .setCheckInReminders(let body): body
        case .expireCheckIn(let body): body
        case .remindCheckIn(let body): body
        case .repeatAlarm(let body): body
        case .raiseAlert(let body): body
        case .clearAlert(let body): body
        }
    }
}
