package import QuartetVocabulary

/// All commands of `contacts`, by subject.
package enum ContactsCommand: MessageSet {
    case account(AccountCommand)
    case code(CodeCommand)
    case request(RequestCommand)
    case relation(RelationCommand)
    case role(RoleCommand)
    case ping(PingCommand)
    case alarm(AlarmCommand)
    case reach(ReachCommand)
    case tier(TierCommand)
    case drill(DrillCommand)
    case pingEscalation(PingEscalationCommand)

    package static let cases: Cases<Self> = [
        Case(Self.account), Case(Self.code), Case(Self.request), Case(Self.relation), Case(Self.role), Case(Self.ping),
        Case(Self.alarm), Case(Self.reach), Case(Self.tier), Case(Self.drill),
        Case(Self.pingEscalation),
    ]

    package var body: any CommandBody {
        switch self {
        case .account(let set): set.body
        case .code(let set): set.body
        case .request(let set): set.body
        case .relation(let set): set.body
        case .role(let set): set.body
        case .ping(let set): set.body
        case .alarm(let set): set.body
        case .reach(let set): set.body
        case .tier(let set): set.body
        case .drill(let set): set.body
        case .pingEscalation(let set): set.body
        }
    }
}
