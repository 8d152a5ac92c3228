package import QuartetVocabulary

/// Every saga that there is.
package enum AnySaga: MessageSet {
    case clearAllReceivedPings(ClearAllReceivedPingsSaga)
    case respondToAllPings(RespondToAllPingsSaga)
    case signOut(SignOutSaga)
    case closeAccount(CloseAccountSaga)

    package static let cases: Cases<Self> = [
        Case(Self.clearAllReceivedPings), Case(Self.respondToAllPings), Case(Self.signOut), Case(Self.closeAccount),
    ]

    package var body: any Saga {
        switch self {
        case .clearAllReceivedPings(let saga): saga
        case .respondToAllPings(let saga): saga
        case .signOut(let saga): saga
        case .closeAccount(let saga): saga
        }
    }
}
