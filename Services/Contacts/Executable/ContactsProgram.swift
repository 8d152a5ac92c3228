import ContactsService
import ServiceKit

@main
struct ContactsProgram: DomainProgram {
    static let name = "contacts"
    static let summary = "Who knows whom, in which role, and the pings between them."
    static let target = "ContactsService"

    static func store(_ settings: Settings) -> ContactsStore { ContactsStore() }
}
