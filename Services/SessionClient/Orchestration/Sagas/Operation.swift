import Vocabulary

/// Every saga that there is.
enum Operation: MessageSet {
    case clearAllReceivedPings(ClearAllReceivedPings)
    case respondToAllPings(RespondToAllPingsOperation)
    case signOut(SignOutOperation)
    case closeAccount(CloseAccountOperation)

    static let cases: Cases<Self> = [
        Case(Self.clearAllReceivedPings), Case(Self.respondToAllPings), Case(Self.signOut), Case(Self.closeAccount),
    ]

    var body: any Saga {
        switch self {
        case .clearAllReceivedPings(let saga): saga
        case .respondToAllPings(let saga): saga
        case .signOut(let saga): saga
        case .closeAccount(let saga): saga
        }
    }
}
