import QuartetContactsContract
import QuartetContactsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: drills")
struct DrillTests {
    private static func drilled(_ events: [ContactsEvent]) -> [ResponderDrilled] {
        events.compactMap { $0.body as? ResponderDrilled }
    }

    @discardableResult
    private static func run(
        _ drill: DrillID, of account: AccountID, in people: inout People, for length: Interval = .hours(1)
    ) throws -> [ResponderDrilled] {
        let relay = RelayDrill(drill: drill, began: people.time, ends: people.time + length)
        let events = try people.ask(account, relay)
        let drilled = drilled(events)
        #expect(try events.first(as: DrillRelayed.self).responders == drilled.count)
        return drilled
    }

    @Test(
        """
        all responders hear of a drill at once, whatever tiers there are and whatever they want to know, and nobody \
        else does (A11)
        """)
    func all() throws {
        var people = People()
        let (eve, anna, ben, carl) = (
            try people.person(), try people.person(), try people.person(), try people.person()
        )
        for responder in [anna, ben] { try people.add(responder, eve, iAmResponder: true) }
        try people.add(carl, eve, isMyResponder: true)
        try people.ask(
            eve, SetResponderTiers(tiers: [ResponderTier(after: .minutes(15), responders: [ben])]))
        let drill: DrillID = people.id()
        let told = try Self.run(drill, of: eve, in: &people)
        #expect(Set(told.map(\.account)) == [anna, ben] && told.count == 2)
        #expect(told.allSatisfy { $0.dependent == eve && $0.drill == drill && $0.ends == $0.began + .hours(1) })
        #expect(people.rows.alarms.keys.isEmpty && people.rows.recipients.keys.isEmpty, "it is no alarm")
        let withdrawn = try people.ask(eve, WithdrawDrill(drill: drill)).compactMap { $0.body as? DrillWithdrawn }
        #expect(Set(withdrawn.map(\.account)) == [anna, ben])
    }

    @Test(
        "an alarm that is on, or was since the drill began, has overtaken it: nobody hears of the drill; one of before doesn't matter (A11)",
        arguments: [(AlertKind.alertRaised, AlertKind.alertCleared), (.checkInMissed, .checkedIn)])
    func overtaken(_ begins: AlertKind, _ ends: AlertKind) throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let before: AlarmID = people.id()
        try people.relay(begins, before, of: ben)
        try people.relay(ends, before, of: ben)
        people.pass(.seconds(1))
        #expect(try Self.run(people.id(), of: ben, in: &people).map(\.account) == [anna])
        let drill: DrillID = people.id()
        people.pass(.seconds(1))
        let alarm: AlarmID = people.id()
        try people.relay(begins, alarm, of: ben)
        #expect(try Self.run(drill, of: ben, in: &people).isEmpty)
        #expect(people.alerted(by: alarm) == [anna])
        try people.relay(ends, alarm, of: ben)
        #expect(try Self.run(drill, of: ben, in: &people).isEmpty)
    }

    @Test("a drill whose time is over tells nobody (A11)")
    func over() throws {
        var people = People()
        let (_, ben) = try people.responderAndDependent()
        #expect(try Self.run(people.id(), of: ben, in: &people, for: .seconds(0)).isEmpty)
    }

    @Test("a drill changes nothing of an alarm that follows: who hears of it, in what order, and how it ends (A11)")
    func unchanged() throws {
        var people = People()
        let (_, ben) = try people.responderAndDependent()
        let drill: DrillID = people.id()
        people.pass(.seconds(1))
        let alarm: AlarmID = people.id()
        var without = people
        try Self.run(drill, of: ben, in: &people)
        #expect(people.rows == without.rows)
        let events = try people.relay(.alertRaised, alarm, of: ben)
        #expect(try without.relay(.alertRaised, alarm, of: ben) == events)
    }
}
