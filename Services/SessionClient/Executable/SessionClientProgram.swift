import ServiceKit
import ServiceLifecycle
import SessionClientService

@main
struct SessionClientProgram: ServiceProgram {
    static let name = "session-client"
    static let summary = "The edge that apps talk to; policies and sagas, which span the other services."
    static let target = "SessionClientService"
    static let settings = SessionClient.settings

    static func services(_ context: ServiceContext) throws -> [any Service] { [try SessionClient(context)] }
}
