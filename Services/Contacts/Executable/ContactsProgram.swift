import ContactsService
import ServiceKit
import ServiceLifecycle

@main
struct ContactsProgram: DomainProgram {
    static let name = "contacts"
    static let summary = "Contacts, their roles, requests and blocks, and the pings between them."
    static let target = "ContactsService"

    static var limits: [StoredLimit] {
        [.count("contact_limit", in: 1...10_000, help: "How many contacts a person may have. Initially 1000.")]
    }

    static func store(_ settings: Settings) -> ContactsStore { ContactsStore() }

    static func companions(_ bus: DomainBus) -> [any Service] { [CanarySupport(bus)] }
}
