import ContactsService
import ServiceKit

@main
struct ContactsProgram: DomainProgram {
    static let name = "contacts"
    static let summary = "Contacts, their roles, requests and blocks, and the pings between them."
    static let target = "ContactsService"

    static func store(_ settings: Settings) -> ContactsStore { ContactsStore() }
}
