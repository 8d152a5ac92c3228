import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: pings and alerts")
struct PingTests {
    @Test(
        "both sides see a ping with its time; another does nothing, unless an alert may come of it, and in ten seconds (S27)"
    )
    func send() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let at = people.time
        let events = try people.ask(anna, SendPing(contact: ben))
        #expect(
            events == [
                .pingSent(PingSent(account: anna, contact: ben, at: at)),
                .pingReceived(PingReceived(account: ben, contact: anna, at: at)),
            ])
        // An answer that is under way is about the one that waits.
        people.pass(.minutes(1))
        #expect(try people.ask(anna, SendPing(contact: ben)).isEmpty)
        try people.ask(ben, RespondToPing(contact: anna, sent: at))
        #expect(people.contact(anna, ben)?.outgoingPing == nil)
    }

    @Test(
        "another takes its place once an alert may come of that, not at once, and an answer to the first is told (S27, A4)"
    )
    func replace() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let at = people.time
        try people.ask(anna, SendPing(contact: ben))
        try people.ask(ben, SetPingEscalation(contact: anna, after: .minutes(30)))
        people.pass(.seconds(9))
        #expect(try people.ask(anna, SendPing(contact: ben)).isEmpty)
        #expect(people.contact(anna, ben)?.outgoingPing == at && people.contact(ben, anna)?.incomingPing == at)
        people.pass(.seconds(1))
        let again = people.time
        let due = again + .minutes(30)
        #expect(
            try people.ask(anna, SendPing(contact: ben)) == [
                .pingSent(PingSent(account: anna, contact: ben, due: due, at: again)),
                .pingReceived(PingReceived(account: ben, contact: anna, due: due, replaced: at, at: again)),
            ])
        func expectBothWaiting() {
            #expect(people.contact(anna, ben)?.outgoingPing == again)
            #expect(people.contact(ben, anna)?.incomingPing == again)
        }
        expectBothWaiting()
        // Who asked hears of an answer to the first, once. The other waits.
        let before = people
        for answer in [RespondToPing(contact: anna, sent: at), RespondToAllPings(upTo: at)] as [any CommandBody] {
            people = before
            #expect(try people.ask(ben, RespondToPing(contact: anna, sent: at - .seconds(1))).isEmpty)
            #expect(
                try people.ask(ben, answer) == [
                    .pingEscalation(
                        .pingDueSet(
                            PingDueSet(
                                account: ben, contact: anna, direction: .incoming, sent: again, due: due,
                                at: people.time))),
                    .pingAnswered(
                        PingAnswered(
                            account: anna, contact: ben, direction: .outgoing, sent: at, at: people.time)),
                ])
            expectBothWaiting()
            #expect(try people.ask(ben, answer).isEmpty)
        }
        try people.ask(ben, RespondToPing(contact: anna, sent: again))
        #expect(people.contact(anna, ben)?.outgoingPing == nil)
    }

    @Test("only a responder pings a dependent, if both want pings, and not too often (S27)")
    func refused() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let ping = SendPing(contact: ben)
        #expect(try people.rejection(ben, SendPing(contact: anna)) == .notDependent)
        #expect(try people.rejection(try people.person(), ping) == .notContact)
        #expect(try people.rejection(anna, SendPing(contact: anna)) == .notContact)
        try people.ask(ben, UpdateContact(contact: anna, expectedVersion: 1, receivePings: false))
        #expect(try people.rejection(anna, ping) == .pingsOff)
        try people.ask(ben, UpdateContact(contact: anna, expectedVersion: 2, receivePings: true))
        try people.ask(anna, UpdateContact(contact: ben, expectedVersion: 1, sendPings: false))
        #expect(try people.rejection(anna, ping) == .pingsOff)
        try people.ask(anna, UpdateContact(contact: ben, expectedVersion: 2, sendPings: true))
        try people.ask(anna, ping)
        try people.ask(anna, CancelPing(contact: ben))
        people.pass(.seconds(4))
        do {
            try people.ask(anna, ping)
            throw Unexpected("a second ping was sent at once")
        } catch let rejection as Rejection {
            #expect(rejection.code == .tooSoon && rejection.message.contains("6 seconds"))
        }
        people.pass(.seconds(6))
        #expect(try people.ask(anna, ping).count == 2)
    }

    @Test("cancelling and answering clear both sides; without a ping they change nothing (S27)")
    func end() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        for (who, end) in [
            (anna, CancelPing(contact: ben)),
            (ben, RespondToPing(contact: anna)),
        ] as [(AccountID, any CommandBody)] {
            #expect(try people.ask(who, end).isEmpty)
            try people.ask(anna, SendPing(contact: ben))
            #expect(try people.ask(who, end).map(\.account) == (who == anna ? [anna, ben] : [ben, anna]))
            #expect(people.contact(anna, ben)?.outgoingPing == nil && people.contact(ben, anna)?.incomingPing == nil)
            #expect(try people.ask(who, end).isEmpty)
            people.pass(.minutes(1))
        }
        #expect(try people.ask(ben, CancelPing(contact: anna)).isEmpty)
    }

    @Test("an answer that says which ping it saw, or up to when, answers no later one (S27)")
    func meant() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let seen = people.time
        try people.ask(anna, SendPing(contact: ben))
        try people.ask(ben, RespondToPing(contact: anna, sent: seen))
        people.pass(.minutes(1))
        try people.ask(anna, SendPing(contact: ben))
        for late in [
            RespondToPing(contact: anna, sent: seen), RespondToAllPings(upTo: seen), ClearReceivedPings(upTo: seen),
        ] as [any CommandBody] {
            #expect(try people.ask(ben, late).isEmpty)
        }
        #expect(people.contact(ben, anna)?.incomingPing == people.time)
        let answers: [(Instant) -> any CommandBody] = [
            { RespondToPing(contact: anna, sent: $0) }, { RespondToAllPings(upTo: $0) },
            { ClearReceivedPings(upTo: $0) },
        ]
        for answer in answers {
            try people.ask(ben, answer(people.time))
            #expect(people.contact(ben, anna)?.incomingPing == nil)
            people.pass(.minutes(1))
            try people.ask(anna, SendPing(contact: ben))
        }
    }

    @Test("pings go both ways between two people who look after each other, and don't mix (S27)")
    func bothWays() throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        try people.add(anna, ben, isMyResponder: true, iAmResponder: true)
        try people.ask(anna, SendPing(contact: ben))
        try people.ask(ben, SendPing(contact: anna))
        try people.ask(ben, RespondToPing(contact: anna))
        #expect(people.contact(anna, ben)?.outgoingPing == nil && people.contact(anna, ben)?.incomingPing != nil)
    }

    @Test("taking the role away cancels the ping on both sides (S27)")
    func roleRemoved() throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        try people.add(anna, ben, isMyResponder: true, iAmResponder: true)
        try people.ask(anna, SendPing(contact: ben))
        let events = try people.ask(
            ben, UpdateContact(contact: anna, expectedVersion: 1, isMyResponder: false))
        #expect(events.count == 5)
        guard case .pingCancelled(let cancelled) = events[2] else { throw Unexpected(events) }
        #expect(cancelled.account == anna && cancelled.direction == .outgoing)
        #expect(people.contact(ben, anna)?.incomingPing == nil)
    }

    @Test(
        """
        clearing answers all waiting pings in one command, whose result lists them; two devices at once clear once \
        (S15)
        """,
        arguments: [true, false])
    func clear(isClearing: Bool) throws {
        var people = People()
        let ben = try people.person()
        let responders = try (0..<5).map { _ in
            let responder = try people.person()
            try people.add(responder, ben, iAmResponder: true)
            return responder
        }.sorted()
        for responder in responders.dropFirst() { try people.ask(responder, SendPing(contact: ben)) }
        let command: any CommandBody =
            isClearing ? ClearReceivedPings() : RespondToAllPings()
        let events = try people.ask(ben, command)
        let cleared = try events.first(as: ReceivedPingsCleared.self)
        #expect(cleared.contacts == Array(responders.dropFirst()) && cleared.isClearing == isClearing)
        #expect(events.dropFirst().map(\.account) == Array(responders.dropFirst()))
        #expect(people.rows.published(ben).contacts.allSatisfy { $0.incomingPing == nil })
        #expect(try people.ask(ben, command).isEmpty)
    }

    @Test("of more pings than an event can name one command answers the first, the next one the others (S15)")
    func clearMany() throws {
        var people = People()
        let ben = try people.person()
        var row = RelationRow.blank
        row.low.pinged = people.time
        row.high.pinged = people.time
        let responders = (0...ReceivedPingsCleared.limit).map { _ in people.id() as AccountID }.sorted()
        for responder in responders { people.rows.load(row, at: Pair(ben, responder)) }
        let first = try people.ask(ben, ClearReceivedPings()).first(as: ReceivedPingsCleared.self)
        #expect(first.contacts == Array(responders.dropLast()))
        let second = try people.ask(ben, ClearReceivedPings()).first(as: ReceivedPingsCleared.self)
        #expect(second.contacts == Array(responders.suffix(1)))
        #expect(try people.ask(ben, ClearReceivedPings()).isEmpty)
    }

    @Test("responders who want it hear of a missed check-in, all responders of an alert, others of nothing (S32)")
    func relay() throws {
        var people = People()
        let ben = try people.person()
        let (all, quiet, friend) = (try people.person(), try people.person(), try people.person())
        for responder in [all, quiet] {
            try people.add(responder, ben, iAmResponder: true)
        }
        try people.add(friend, ben, isMyResponder: true)
        try people.ask(
            quiet,
            UpdateContact(contact: ben, expectedVersion: 1, notifyOnCheckIn: false, notifyOnMissedCheckIn: false))
        func told(_ kind: AlertKind, _ alarm: AlarmID?) throws -> Set<AccountID> {
            let events = try people.relay(kind, alarm, of: ben)
            let relayed = try events.first(as: AlertRelayed.self)
            #expect(relayed.responders == events.count - 1)
            return Set(events.dropFirst().map(\.account))
        }
        let (missed, alert): (AlarmID, AlarmID) = (people.id(), people.id())
        #expect(try told(.checkInMissed, missed) == [all])
        #expect(try told(.checkedIn, missed) == [all])
        #expect(try told(.checkedIn, nil) == [all])
        #expect(try told(.alertRaised, alert) == [all, quiet])
        #expect(try told(.alertCleared, alert) == [all, quiet])
    }
}
