import ServiceKit
import SessionService

@main
struct SessionProgram: DomainProgram {
    static let name = "session"
    static let summary = "Accounts, devices, profiles, check-ins and alerts."
    static let target = "SessionService"

    static func store(_ settings: Settings) -> SessionStore { SessionStore() }
}
