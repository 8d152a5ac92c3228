import ContactsContract
import ContactsRules
import StoreKit
import Testing
import Vocabulary

@Suite("Contacts: nobody to tell")
struct ReachTests {
    private func reach(_ people: People, _ account: AccountID) -> ResponderReach? {
        people.replicas[account]?.responderReach
    }

    /// Lets an account's timers fire that are due.
    private func fire(_ people: inout People, _ account: AccountID) throws -> [ContactsEvent] {
        var events: [ContactsEvent] = []
        for timer in people.rows.wantedTimers(of: account) where timer.due <= people.time {
            events += try people.ask(nil, timer.command.body)
        }
        return events
    }

    private func isSettled(_ event: ContactsEvent) -> Bool {
        if case .responderReachSettled = event { true } else { false }
    }

    @Test("a new account has nobody to tell, sees it, and isn't notified; with a responder it has somebody (A16)")
    func new() throws {
        var people = People()
        let anna = try people.person()
        #expect(reach(people, anna) == .nobody)
        people.pass(.days(1))
        #expect(try fire(&people, anna).isEmpty)
        let ben = try people.person()
        try people.add(anna, ben, isMyResponder: true)
        #expect(reach(people, anna) == .reachable)
        #expect(reach(people, ben) == .nobody)
    }

    @Test("whoever loses the last responder is notified a minute later, once; not if another comes within it (A16)")
    func last() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        let cleo = try people.person()
        people.pass(.seconds(60))
        #expect(try fire(&people, anna).filter(isSettled).count == 1)
        try people.ask(anna, RemoveContact(contact: ben))
        #expect(reach(people, anna) == .nobody)
        people.pass(.seconds(59))
        #expect(try fire(&people, anna).isEmpty)
        try people.add(anna, cleo, isMyResponder: true)
        people.pass(.days(1))
        #expect(try fire(&people, anna).isEmpty)

        try people.ask(cleo, RemoveContact(contact: anna))
        people.pass(.seconds(60))
        #expect(
            try fire(&people, anna) == [
                .responderReachSettled(.init(account: anna, reach: .nobody, responders: 0, at: people.time))
            ])
        people.pass(.days(20))
        #expect(try fire(&people, anna).isEmpty)
    }

    @Test("responders of whom none was reached for 31 days are unreachable until one of them is reached again (A16)")
    func lapse() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        let cleo = try people.person()
        try people.add(anna, cleo, isMyResponder: true)
        people.pass(.days(20))
        _ = try fire(&people, anna)
        try people.ask(cleo, RecordReached())
        people.pass(.days(11))
        #expect(
            try fire(&people, ben) == [.reachabilityChanged(.init(account: ben, isReachable: false, at: people.time))])
        #expect(reach(people, anna) == .reachable)
        people.pass(.days(20))
        let lapsed = try fire(&people, cleo)
        #expect(lapsed.last == .responderReachChanged(.init(account: anna, reach: .unreachable, at: people.time)))
        people.pass(.seconds(60))
        #expect(
            try fire(&people, anna).filter(isSettled) == [
                .responderReachSettled(.init(account: anna, reach: .unreachable, responders: 2, at: people.time))
            ])
        try people.ask(ben, RecordReached())
        #expect(reach(people, anna) == .reachable)
    }

    @Test("a timer that is late or early doesn't make anybody unreachable who was reached meanwhile (A16)")
    func early() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        people.pass(.days(30))
        try people.ask(nil, LapseReach(account: ben))
        #expect(reach(people, anna) == .reachable)
        try people.ask(ben, RecordReached())
        people.pass(.days(30))
        try people.ask(nil, LapseReach(account: ben))
        #expect(reach(people, anna) == .reachable)
        #expect(people.rows.wantedTimers(of: ben).map(\.due) == [people.time + .days(1)])
    }

    @Test("a responder's closed account counts no more, and of a closed account nothing is said (A16)")
    func closed() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        try people.ask(ben, CloseAccount())
        #expect(reach(people, anna) == .nobody)
        #expect(reach(people, ben) == nil)
        #expect(people.rows.wantedTimers(of: ben).isEmpty)
        #expect(try people.ask(ben, RecordReached()).isEmpty)
    }
}
