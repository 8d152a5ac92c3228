package import QuartetVocabulary

/// All commands of `session`, by subject.
package enum SessionCommand: MessageSet {
    case signIn(SignInCommand)
    case account(AccountCommand)
    case device(DeviceCommand)
    case security(SecurityCommand)
    case phone(PhoneCommand)
    case recovery(RecoveryCommand)
    case avatar(AvatarCommand)
    case checkIn(CheckInCommand)
    case alert(AlertCommand)
    case trip(TripCommand)
    case drill(DrillCommand)
    case group(GroupCommand)
    case presence(PresenceCommand)
    case game(GameCommand)
    case message(MessageCommand)
    case playback(PlaybackCommand)
    case attachment(AttachmentCommand)

    package static let cases: Cases<Self> = [
        Case(Self.signIn), Case(Self.account), Case(Self.device), Case(Self.security), Case(Self.phone),
        Case(Self.recovery), Case(Self.avatar), Case(Self.checkIn), Case(Self.alert), Case(Self.trip),
        Case(Self.drill),
        Case(Self.group), Case(Self.presence), Case(Self.game),
        Case(Self.message), Case(Self.playback), Case(Self.attachment),
    ]

    package var body: any CommandBody {
        switch self {
        case .signIn(let set): set.body
        case .account(let set): set.body
        case .device(let set): set.body
        case .security(let set): set.body
        case .phone(let set): set.body
        case .recovery(let set): set.body
        case .avatar(let set): set.body
        case .checkIn(let set): set.body
        case .alert(let set): set.body
        case .trip(let set): set.body
        case .drill(let set): set.body
        case .group(let set): set.body
        case .presence(let set): set.body
        case .game(let set): set.body
        case .message(let set): set.body
        case .playback(let set): set.body
        case .attachment(let set): set.body
        }
    }
}
