package import QuartetVocabulary

/// All commands of `notifications`, by subject.
package enum NotificationsCommand: MessageSet {
    case account(AccountCommand)
    case delivery(DeliveryCommand)
    case scheduling(SchedulingCommand)
    case reading(ReadingCommand)
    case push(PushCommand)

    package static let cases: Cases<Self> = [
        Case(Self.account), Case(Self.delivery), Case(Self.scheduling), Case(Self.reading), Case(Self.push),
    ]

    package var body: any CommandBody {
        switch self {
        case .account(let set): set.body
        case .delivery(let set): set.body
        case .scheduling(let set): set.body
        case .reading(let set): set.body
        case .push(let set): set.body
        }
    }
}
