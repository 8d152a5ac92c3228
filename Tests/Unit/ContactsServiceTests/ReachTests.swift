import QuartetContactsContract
import QuartetContactsRules
import QuartetVocabulary
import StoreKit
import Testing

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

    @Test("responders of whom none was reached for a month are unreachable, until a while after one is back (A16)")
    func lapse() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        let cleo = try people.person()
        try people.add(cleo, anna, iAmResponder: true)
        people.pass(.days(20))
        _ = try fire(&people, anna)
        try people.ask(cleo, RecordReached())
        people.pass(.days(14))
        #expect(try fire(&people, ben).isEmpty)
        #expect(people.rows.accounts[ben]?.isReachable == false)
        #expect(reach(people, anna) == .reachable)
        people.pass(.days(20))
        let lapsed = try fire(&people, cleo)
        #expect(lapsed == [.responderReachChanged(.init(account: anna, reach: .unreachable, at: people.time))])
        people.pass(.seconds(60))
        #expect(
            try fire(&people, anna).filter(isSettled) == [
                .responderReachSettled(.init(account: anna, reach: .unreachable, responders: 2, at: people.time))
            ])
        #expect(try people.ask(ben, RecordReached()).isEmpty)
        #expect(reach(people, anna) == .unreachable)
        people.pass(.days(1))
        let restored = try fire(&people, ben)
        #expect(restored == [.responderReachChanged(.init(account: anna, reach: .reachable, at: people.time))])
    }

    @Test("when a responder was last there, and when they came back, can't be told from what others see (A16)")
    func when() throws {
        var people = People()
        let accounts = try (0..<200).map { _ in try people.person() }
        let opened = people.time
        // Several devices of one person don't push the time to the end of the spread.
        for account in accounts { for _ in 0..<5 { try people.ask(account, RecordReached()) } }
        var lapses = accounts.compactMap { people.rows.wantedTimers(of: $0).first?.due }.map { $0 - opened }
        #expect(lapses.count == 200 && lapses.allSatisfy { $0 >= .days(31) && $0 < .days(34) })
        // They are spread over all of it, so one says nothing, and they come one by one.
        lapses.sort()
        #expect(lapses[20] < .days(32) && lapses[100] > .days(32) && lapses[100] < .days(33) && lapses[180] > .days(33))
        #expect(Set(lapses).count == 200)

        people.pass(.days(40))
        for account in accounts { _ = try fire(&people, account) }
        let returned = people.time
        for account in accounts { try people.ask(account, RecordReached()) }
        #expect(accounts.allSatisfy { people.rows.accounts[$0]?.isReachable == false })
        let returns = accounts.compactMap { people.rows.wantedTimers(of: $0).first?.due }.map { $0 - returned }
        #expect(returns.count == 200 && returns.allSatisfy { $0 >= .seconds(0) && $0 < .days(1) })
        #expect(Set(returns).count == 200)
        // Who opens the app again meanwhile doesn't come back later.
        let first = people.rows.accounts[accounts[0]]?.returns
        people.pass(.seconds(1))
        try people.ask(accounts[0], RecordReached())
        #expect(people.rows.accounts[accounts[0]]?.returns == first)
    }

    @Test("a timer that is late or early doesn't make anybody unreachable who was reached meanwhile (A16)")
    func early() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        people.pass(.seconds(31 * 86_400 - 1))
        try people.ask(nil, LapseReach(account: ben))
        #expect(people.rows.accounts[ben]?.isReachable == true)
        try people.ask(ben, RecordReached())
        people.pass(.seconds(31 * 86_400 - 1))
        try people.ask(nil, LapseReach(account: ben))
        try people.ask(nil, RestoreReach(account: ben))
        #expect(reach(people, anna) == .reachable)
        #expect(people.rows.wantedTimers(of: ben).map(\.due) == [people.rows.accounts[ben]?.reachableUntil])
    }

    @Test("whether somebody can be reached is seen only by those whose responder they became by themselves (A16)")
    func consent() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        let mallory = try people.person()
        try people.add(ben, mallory, isMyResponder: true)
        try people.add(anna, mallory, iAmResponder: true)
        people.pass(.days(40))
        for account in [anna, ben] { _ = try fire(&people, account) }
        #expect(reach(people, anna) == .unreachable)
        // Making somebody a responder says nothing of them.
        try people.ask(mallory, UpdateContact(contact: ben, expectedVersion: 1, isMyResponder: true))
        try people.ask(mallory, RemoveContact(contact: anna))
        #expect(people.side(of: ben, with: mallory)?.showsReach == false)
        #expect(reach(people, mallory) == .reachable)
        // Not even if they come and go, or choose something else.
        try people.ask(ben, RecordReached())
        try people.ask(ben, UpdateContact(contact: mallory, expectedVersion: 2, notifyOnCheckIn: false))
        #expect(reach(people, mallory) == .reachable)
        // An app that has shown the sentence says so.
        try people.ask(ben, UpdateContact(contact: mallory, expectedVersion: 3, iAmResponder: true))
        #expect(reach(people, mallory) == .unreachable)
        // A role that ends and begins again is another.
        try people.ask(ben, UpdateContact(contact: mallory, expectedVersion: 4, iAmResponder: false))
        #expect(reach(people, mallory) == .nobody)
        try people.ask(mallory, UpdateContact(contact: ben, expectedVersion: 3, isMyResponder: true))
        #expect(reach(people, mallory) == .reachable)
    }

    @Test("who offers to be a responder, accepts it, or asks for the role agrees; who is only asked doesn't (A16)")
    func offers() throws {
        var people = People()
        let (ben, anna, cleo, dora) = (
            try people.person(), try people.person(), try people.person(), try people.person()
        )
        try people.ask(ben, AddContact(contact: anna, isMyResponder: false, iAmResponder: true))
        try people.ask(anna, ApproveContactRequest(contact: ben, isMyResponder: true, iAmResponder: false))
        #expect(people.side(of: ben, with: anna)?.showsReach == true)
        try people.ask(anna, AddContact(contact: cleo, isMyResponder: true, iAmResponder: false))
        try people.ask(cleo, ApproveContactRequest(contact: anna, isMyResponder: false, iAmResponder: true))
        #expect(people.side(of: cleo, with: anna)?.showsReach == true)
        #expect(people.side(of: anna, with: cleo)?.showsReach == false)
        // Dora adds back whoever asked her to look after them, without a word about that.
        try people.ask(anna, AddContact(contact: dora, isMyResponder: true, iAmResponder: false))
        try people.add(dora, anna, isMyResponder: true)
        #expect(people.contact(anna, dora)?.isMyResponder == true)
        #expect(people.side(of: dora, with: anna)?.showsReach == false)
        #expect(people.side(of: anna, with: dora)?.showsReach == false)
        try people.add(cleo, dora, isMyResponder: true)
        try people.ask(cleo, RequestRoleChange(contact: dora))
        try people.ask(dora, AcceptRoleChange(contact: cleo))
        #expect(people.side(of: cleo, with: dora)?.showsReach == true)
        #expect(people.side(of: dora, with: cleo)?.showsReach == false)
    }

    @Test("a responder who doesn't hear of missed check-ins is nobody to tell (A16)")
    func deaf() throws {
        var people = People()
        let (ben, anna) = try people.responderAndDependent()
        let changed = try people.ask(
            ben, UpdateContact(contact: anna, expectedVersion: 1, notifyOnMissedCheckIn: false))
        #expect(changed.last == .responderReachChanged(.init(account: anna, reach: .nobody, at: people.time)))
        try people.ask(ben, UpdateContact(contact: anna, expectedVersion: 2, notifyOnMissedCheckIn: true))
        #expect(reach(people, anna) == .reachable)
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
