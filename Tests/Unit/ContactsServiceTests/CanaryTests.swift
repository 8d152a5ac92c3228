import ContactsService
import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: canaries")
struct CanaryTests {
    private let canary = AccountID.canary(.person, of: Partition(3), among: 8)
    private let responder = AccountID.canary(.responder, of: Partition(3), among: 8)

    @Test("a canary's alarm alerts its responder, who gets the all-clear (A1)")
    func alarm() throws {
        var people = People()
        for _ in 0..<2 { try people.ask(canary, OpenCanary(responder: responder)) }
        let alarm: AlarmID = people.id()
        try people.relay(.checkInMissed, alarm, of: canary)
        #expect(people.alerted(by: alarm) == [responder])
        try people.relay(.checkedIn, alarm, of: canary)
        #expect(people.endings(of: alarm).map(\.account) == [responder])
    }

    @Test("a canary has no code and can't be added, not even by its id; nobody else can be one (A1)")
    func others() throws {
        var people = People()
        let anna = try people.person()
        try people.ask(canary, OpenCanary(responder: responder))
        for account in [canary, responder] {
            #expect(people.rows.accounts[account] != nil && people.rows.accounts[account]?.code == nil)
            let add = AddContact(contact: account, isMyResponder: true, iAmResponder: true)
            #expect(try people.rejection(anna, add) == .notFound)
        }
        #expect(try people.rejection(anna, OpenCanary(responder: responder)) == .accountNotFound)
        #expect(try people.rejection(canary, OpenCanary(responder: anna)) == .accountNotFound)
        #expect(try people.rejection(responder, OpenCanary(responder: canary)) == .accountNotFound)
    }

    @Test("the tables keep a canary's relation, and say which alarm reached its responder (A1)")
    func tables() async throws {
        try await TestDatabase.with(DatabaseTemplate.tables(of: "contacts", in: "Contacts")) { database in
            let trial = try await StoreTrial(ContactsStore(), in: database, as: "contacts")
            func ask(_ command: any CommandBody) async throws {
                let command = StoreTrial<ContactsStore>.Command(command, by: canary, at: .now)
                for ended in try await trial.handle([command]) { _ = try ended.get() }
            }
            let alarm = AlarmID.new()
            try await ask(OpenCanary(responder: responder))
            try await ask(RelayAlert(kind: .checkInMissed, alarm: alarm, occurred: .now, deadline: .now))
            #expect(
                try await database.psql("SELECT account, responder, alarm FROM contacts.canary")
                    == "\(canary)|\(responder)|\(alarm)")
            await trial.close()
        }
    }
}
