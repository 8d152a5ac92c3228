public import QuartetVocabulary

/// All events of `session`. Each is in the stream of its account, or of its group session.
public enum SessionEvent: MessageSet {
    case accountOpened(AccountOpened)
    case accountClosed(AccountClosed)
    case deviceSignedIn(DeviceSignedIn)
    case deviceRefreshed(DeviceRefreshed)
    case deviceSignedOut(DeviceSignedOut)
    case signInFailed(SignInFailed)
    case passwordChanged(PasswordChanged)
    case securityUpdated(SecurityUpdated)
    case profileUpdated(ProfileUpdated)
    case phoneCodeIssued(PhoneCodeIssued)
    case phoneCodeFailed(PhoneCodeFailed)
    case phoneChanged(PhoneChanged)
    case identityConfirmed(IdentityConfirmed)
    case recoveryCodesMade(RecoveryCodesMade)
    case recoveryCodeUsed(RecoveryCodeUsed)
    case securityChangesUndone(SecurityChangesUndone)
    case avatarSet(AvatarSet)
    case avatarRemoved(AvatarRemoved)
    case checkedIn(CheckedIn)
    case checkInIntervalSet(CheckInIntervalSet)
    case checkInRemindersSet(CheckInRemindersSet)
    case checkInGraceSet(CheckInGraceSet)
    case dailyCheckInsSet(DailyCheckInsSet)
    case dailyCheckInsMoved(DailyCheckInsMoved)
    case checkInsPaused(CheckInsPaused)
    case checkInsResumed(CheckInsResumed)
    case pauseReminded(PauseReminded)
    case checkInReminded(CheckInReminded)
    case checkInGraceBegan(CheckInGraceBegan)
    case checkInMissed(CheckInMissed)
    case alarmRepeated(AlarmRepeated)
    case alertRaised(AlertRaised)
    case alertAnnounced(AlertAnnounced)
    case alertCleared(AlertCleared)
    case alertRaisedAgain(AlertRaisedAgain)
    case unansweredPingsDropped(UnansweredPingsDropped)
    case unansweredPingsDiscarded(UnansweredPingsDiscarded)
    case alarmClosingDue(AlarmClosingDue)
    case alarmClosed(AlarmClosed)
    case trip(TripEvent)
    case drill(SessionDrillEvent)
    case group(GroupEvent)
    case game(GameEvent)
    case message(MessageEvent)
    case playback(PlaybackEvent)
    case attachment(AttachmentEvent)

    package static let cases: Cases<Self> = [
        Case(Self.accountOpened), Case(Self.accountClosed), Case(Self.deviceSignedIn), Case(Self.deviceRefreshed),
        Case(Self.deviceSignedOut), Case(Self.signInFailed), Case(Self.passwordChanged), Case(Self.securityUpdated),
        Case(Self.profileUpdated), Case(Self.phoneCodeIssued), Case(Self.phoneCodeFailed), Case(Self.phoneChanged),
        Case(Self.identityConfirmed), Case(Self.recoveryCodesMade), Case(Self.recoveryCodeUsed),
        Case(Self.securityChangesUndone), Case(Self.avatarSet), Case(Self.avatarRemoved), Case(Self.checkedIn),
        Case(Self.checkInIntervalSet), Case(Self.checkInRemindersSet), Case(Self.checkInGraceSet),
        Case(Self.dailyCheckInsSet), Case(Self.dailyCheckInsMoved),
        Case(Self.checkInsPaused), Case(Self.checkInsResumed), Case(Self.pauseReminded),
        Case(Self.checkInReminded), Case(Self.checkInGraceBegan), Case(Self.checkInMissed), Case(Self.alarmRepeated),
        Case(Self.alertRaised), Case(Self.alertAnnounced),
        Case(Self.alertCleared), Case(Self.alertRaisedAgain), Case(Self.unansweredPingsDropped),
        Case(Self.unansweredPingsDiscarded),
        Case(Self.alarmClosingDue), Case(Self.alarmClosed),
        Case(Self.trip), Case(Self.drill),
        Case(Self.group), Case(Self.game), Case(Self.message), Case(Self.playback), Case(Self.attachment),
    ]

    public var body: any EventBody {
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
        case .checkInGraceSet(let body): body
        case .dailyCheckInsSet(let body): body
        case .dailyCheckInsMoved(let body): body
        case .checkInsPaused(let body): body
        case .checkInsResumed(let body): body
        case .pauseReminded(let body): body
        case .checkInReminded(let body): body
        case .checkInGraceBegan(let body): body
        case .checkInMissed(let body): body
        case .alarmRepeated(let body): body
        case .alertRaised(let body): body
        case .alertAnnounced(let body): body
        case .alertCleared(let body): body
        case .alertRaisedAgain(let body): body
        case .unansweredPingsDropped(let body): body
        case .unansweredPingsDiscarded(let body): body
        case .alarmClosingDue(let body): body
        case .alarmClosed(let body): body
        case .trip(let set): set.body
        case .drill(let set): set.body
        case .group(let set): set.body
        case .game(let set): set.body
        case .message(let set): set.body
        case .playback(let set): set.body
        case .attachment(let set): set.body
        }
    }
}
