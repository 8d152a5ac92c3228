import ServiceKit
import ServiceLifecycle
import SessionClientService

@main
struct SessionClientProgram: ServiceProgram {
    static let name = "session-client"
    static let summary = "The HTTP API for apps, and the policies and sagas that span the other services."
    static let target = "SessionClientService"
    static let settings = SessionClient.settings
    static let commands = OperatorKeyCommands.all + DoctorCommand.all

    static func services(_ context: ServiceContext) throws -> [any Service] { [try SessionClient(context)] }
}
