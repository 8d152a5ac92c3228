import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: relations")
struct ContactTests {
    @Test("adding by code makes one relation with mirrored roles, announced to both sides, the asker's first (S7)")
    func add() throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        let code = try #require(people.rows.published(ben).code)
        let events = try people.ask(
            anna, AddContact(code: code, isMyResponder: true, iAmResponder: false, nickname: "Benny"))
        guard case .contactAdded(let mine) = events[0], case .contactAdded(let theirs) = events[1] else {
            throw Unexpected(events)
        }
        #expect(events.count == 3 && events[2].account == anna)
        #expect(mine.account == anna && mine.contact.account == ben && mine.contact.nickname == "Benny")
        #expect(mine.contact.isMyResponder && !mine.contact.iAmResponder)
        #expect(theirs.account == ben && theirs.contact.account == anna && theirs.contact.nickname == "")
        #expect(!theirs.contact.isMyResponder && theirs.contact.iAmResponder)
    }

    @Test("by default pings go both ways, and only the responder hears of check-ins and misses (S7)")
    func defaults() throws {
        var people = People()
        let (responder, dependent) = try people.responderAndDependent()
        let theirs = try #require(people.contact(responder, dependent))
        let mine = try #require(people.contact(dependent, responder))
        #expect(theirs.sendPings && theirs.receivePings && theirs.notifyOnCheckIn && theirs.notifyOnMissedCheckIn)
        #expect(mine.sendPings && mine.receivePings && !mine.notifyOnCheckIn && !mine.notifyOnMissedCheckIn)
    }

    @Test(
        "unknown codes, oneself, an existing contact, a closed account and a relation without a role are refused (S7)")
    func refused() throws {
        var people = People()
        let (anna, ben, closed) = (try people.person(), try people.person(), try people.person())
        let annasCode = try #require(people.rows.published(anna).code)
        try people.ask(closed, CloseAccount())
        try people.add(anna, ben, isMyResponder: true, iAmResponder: true)
        func add(code: ContactCode? = nil, contact: AccountID? = nil) -> any CommandBody {
            AddContact(code: code, contact: contact, isMyResponder: true, iAmResponder: false)
        }
        #expect(try people.rejection(anna, add(code: people.id())) == .notFound)
        #expect(try people.rejection(anna, add(contact: people.id())) == .notFound)
        #expect(try people.rejection(anna, add(code: annasCode)) == .yourself)
        #expect(try people.rejection(anna, add(contact: anna)) == .yourself)
        #expect(try people.rejection(anna, add(contact: ben)) == .alreadyContact)
        #expect(try people.rejection(ben, add(contact: anna)) == .alreadyContact)
        #expect(try people.rejection(anna, add(contact: closed)) == .notFound, "as if there were nobody")
        #expect(try people.rejection(closed, add(contact: anna)) == .accountClosed)
        #expect(try people.rejection(people.id(), add(contact: anna)) == .accountNotFound)
        #expect(try people.rejection(nil, add(contact: anna)) == .accountRequired)
        #expect(try people.rejection(anna, add()) == .invalidField)
        #expect(try people.rejection(anna, add(code: annasCode, contact: ben)) == .invalidField)
        #expect(
            try people.rejection(ben, AddContact(contact: anna, isMyResponder: false, iAmResponder: false))
                == .roleRequired)
    }

    @Test("nobody gets more contacts than the limit, from either side (S7)")
    func limit() throws {
        var people = People()
        people.rows.limits.contacts = 2
        let anna = try people.person()
        let others = try (0..<3).map { _ in try people.person() }
        for other in others.prefix(2) { try people.add(anna, other, isMyResponder: true) }
        let mine = AddContact(code: people.rows.published(others[2]).code, isMyResponder: true, iAmResponder: false)
        #expect(try people.rejection(anna, mine) == .limitReached)
        let theirs = AddContact(code: people.rows.published(anna).code, isMyResponder: true, iAmResponder: false)
        #expect(try people.rejection(others[2], theirs) == .limitReached)
        try people.ask(anna, RemoveContact(contact: others[0]))
        #expect(try people.rejection(others[2], theirs) == nil)
    }

    @Test("an update changes the fields it names, mirrors roles, and announces only roles to the other side (S8)")
    func update() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let mine = try people.ask(
            anna, UpdateContact(contact: ben, expectedVersion: 1, nickname: "B", notes: "shy\nkind"))
        #expect(mine.count == 1)
        #expect(people.contact(anna, ben)?.version == 2)
        #expect(people.contact(ben, anna)?.version == 1)
        let roles = try people.ask(
            anna, UpdateContact(contact: ben, expectedVersion: 2, isMyResponder: true))
        #expect(roles.count == 3)
        #expect(people.contact(ben, anna)?.iAmResponder == true && people.contact(ben, anna)?.version == 2)
        #expect(people.contact(ben, anna)?.notifyOnMissedCheckIn == true)
        #expect(people.contact(anna, ben)?.notes == "shy\nkind")
        #expect(
            try people.ask(anna, UpdateContact(contact: ben, expectedVersion: 3, isMyResponder: true))
                .isEmpty)
    }

    @Test("of two edits from one version the later is refused, with the current version (S8)")
    func stale() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        try people.ask(anna, UpdateContact(contact: ben, expectedVersion: 1, isMyResponder: true))
        let late = UpdateContact(contact: anna, expectedVersion: 1, nickname: "x")
        do {
            try people.ask(ben, late)
            throw Unexpected("a stale update was accepted")
        } catch let rejection as Rejection {
            #expect(rejection.code == .staleVersion && rejection.field == "expectedVersion")
            #expect(rejection.message.contains("version 2"))
        }
    }

    @Test("the last role can't be taken away, texts have limits, and strangers can't be updated (S8)")
    func updateRefused() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        func update(_ nickname: String? = nil, notes: String? = nil, iAmResponder: Bool? = nil) -> any CommandBody {
            UpdateContact(
                contact: ben, expectedVersion: 1, nickname: nickname, notes: notes, iAmResponder: iAmResponder)
        }
        #expect(try people.rejection(anna, update(iAmResponder: false)) == .roleRequired)
        #expect(try people.rejection(anna, update(String(repeating: "x", count: 51))) == .invalidField)
        #expect(try people.rejection(anna, update("two\nlines")) == .invalidField)
        #expect(try people.rejection(anna, update("\u{202E}evil")) == .invalidField)
        #expect(try people.rejection(anna, update(notes: String(repeating: "x", count: 1001))) == .invalidField)
        #expect(try people.rejection(people.person(), update("x")) == .notContact)
    }

    @Test("removing ends the relation on both sides, and can't be done twice (S9)")
    func remove() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        try people.ask(anna, SendPing(contact: ben))
        let events = try people.ask(ben, RemoveContact(contact: anna))
        // Nobody looks after Ben any more.
        #expect(events.map(\.account) == [ben, anna, ben])
        #expect(people.contact(anna, ben) == nil && people.contact(ben, anna) == nil)
        #expect(try people.rejection(anna, RemoveContact(contact: ben)) == .notContact)
    }

    @Test("a block ends everything, is secret, and lasts until it is lifted (S9)")
    func block() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let events = try people.ask(ben, BlockContact(contact: anna))
        guard case .contactBlocked = events[0], case .contactRemoved(let told) = events[2] else {
            throw Unexpected(events)
        }
        #expect(told.account == anna && told.reason == .removed)
        let code = try #require(people.rows.published(ben).code)
        let add = AddContact(code: code, isMyResponder: true, iAmResponder: false)
        #expect(try people.rejection(anna, add) == .notFound)
        let back = AddContact(contact: anna, isMyResponder: true, iAmResponder: false)
        #expect(try people.rejection(ben, back) == .blocked)
        #expect(try people.ask(ben, BlockContact(contact: anna)).isEmpty)
        #expect(try people.rejection(ben, BlockContact(contact: ben)) == .yourself)
        // From the answer nobody can tell whether they were blocked or the account is gone.
        for other in [ben, people.id()] {
            #expect(try people.ask(anna, BlockContact(contact: other)).count == 1)
            let add = AddContact(contact: other, isMyResponder: true, iAmResponder: false)
            #expect(try people.rejection(anna, add) == .blocked)
            try people.ask(anna, UnblockContact(contact: other))
            #expect(try people.rejection(anna, add) == .notFound)
        }
        try people.ask(ben, UnblockContact(contact: anna))
        #expect(try people.rejection(ben, UnblockContact(contact: anna)) == .notFound)
        #expect(try people.rejection(anna, add) == nil)
    }

    @Test("a reset code works at once, the old one stops at once, and nobody can take another's (S35)")
    func resetCode() throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        let old = try #require(people.rows.published(ben).code)
        let new: ContactCode = people.id()
        try people.ask(ben, ResetContactCode(code: new))
        let byOld = AddContact(code: old, isMyResponder: true, iAmResponder: false)
        #expect(try people.rejection(anna, byOld) == .notFound)
        #expect(try people.rejection(anna, ResetContactCode(code: new)) == .codeTaken)
        let byNew = AddContact(code: new, isMyResponder: true, iAmResponder: false)
        #expect(try people.rejection(anna, byNew) == nil)
    }

    @Test("closing ends every relation and request on both sides, and nothing revives the account (S18)")
    func close() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let cleo = try people.person()
        try people.ask(ben, SetContactApproval(isRequired: true))
        try people.ask(cleo, AddContact(contact: ben, isMyResponder: true, iAmResponder: false))
        try people.ask(anna, SendPing(contact: ben))
        try people.ask(ben, CloseAccount())
        #expect(people.rows.published(anna).contacts.isEmpty && people.rows.published(cleo).requests.isEmpty)
        #expect(people.rows.published(ben) == ContactsState(account: ben, isClosed: true))
        #expect(try people.ask(ben, CloseAccount()).isEmpty)
        #expect(try people.rejection(ben, OpenAccount(code: people.id())) == .accountClosed)
        #expect(try people.rejection(anna, SendPing(contact: ben)) == .notContact)
        let never: AccountID = people.id()
        try people.ask(never, CloseAccount())
        #expect(try people.rejection(never, OpenAccount(code: people.id())) == .accountClosed)
    }
}
