import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: pings that raise an alert when they aren't answered")
struct PingWatchTests {
    /// Anna, whose pings from Ben and Cleo may raise an alert after half an hour.
    private struct Scene {
        var people = People()
        let (anna, ben, cleo): (AccountID, AccountID, AccountID)

        init(after: Interval? = .minutes(30)) throws {
            (anna, ben, cleo) = (try people.person(), try people.person(), try people.person())
            for responder in [ben, cleo] { try people.add(anna, responder, isMyResponder: true) }
            if let after { try people.ask(anna, SetPingEscalation(after: after)) }
        }

        /// Fires the timer now.
        @discardableResult
        mutating func judge() throws -> [ContactsEvent] {
            try people.ask(nil, JudgePings(account: anna, due: people.time))
        }

        /// Lets time pass, and fires the timer whenever it is due.
        mutating func run(_ interval: Interval) throws {
            let end = people.time + interval
            for _ in 0..<2000 {
                guard let due = people.rows.accounts[anna]?.nextPing, due <= end else {
                    people.time = end
                    return
                }
                people.time = max(people.time, due)
                try judge()
            }
            Issue.record("the timer is set again and again")
        }

        mutating func settle(isRaised: Bool = true, alarm: AlarmID? = nil) throws {
            let pings = try #require(unanswered.last).pings
            try people.ask(
                nil,
                SettleUnansweredPings(
                    account: anna, pings: pings, alarm: alarm, isRaised: isRaised, at: people.time))
        }

        /// When the alert is due, as Anna sees it and as the sender does.
        func due(_ sender: AccountID) -> [Instant?] {
            [people.contact(anna, sender)?.incomingPingDue, people.contact(sender, anna)?.outgoingPingDue]
        }

        var events: [PingEscalationEvent] {
            people.log.compactMap { if case .pingEscalation(let event) = $0.event { event } else { nil } }
        }
        var warned: [PingWarned] {
            events.compactMap { if case .pingWarned(let event) = $0 { event } else { nil } }
        }
        var unanswered: [PingsUnanswered] {
            events.compactMap { if case .pingsUnanswered(let event) = $0 { event } else { nil } }
        }
        var answered: [UnansweredPingsEnded] { endedPings.filter { $0.answered != nil } }
        var takenBack: [UnansweredPingsEnded] { endedPings.filter { $0.answered == nil } }
        private var endedPings: [UnansweredPingsEnded] {
            events.compactMap { if case .unansweredPingsEnded(let event) = $0 { event } else { nil } }
        }
        var moved: [PingDueSet] {
            events.compactMap { if case .pingDueSet(let event) = $0 { event } else { nil } }
        }
        var ended: [PingWarningEnded] {
            events.compactMap { if case .pingWarningEnded(let event) = $0 { event } else { nil } }
        }
    }

    @Test("five minutes before she is warned, then the ping counts as unanswered, once; both see when (A4)")
    func due() throws {
        var scene = try Scene()
        let sent = scene.people.time
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        #expect(scene.people.contact(scene.anna, scene.ben)?.incomingPingDue == sent + .minutes(30))
        #expect(scene.people.contact(scene.ben, scene.anna)?.outgoingPingDue == sent + .minutes(30))
        try scene.run(.minutes(24))
        #expect(scene.warned.isEmpty)
        try scene.run(.minutes(1))
        #expect(scene.warned.map(\.due) == [sent + .minutes(30)] && scene.unanswered.isEmpty)
        try scene.run(.minutes(5))
        #expect(scene.unanswered.map(\.pings) == [[UnansweredPing(contact: scene.ben, sent: sent)]])
        try scene.settle()
        try scene.run(.days(3))
        #expect(scene.unanswered.count == 1 && scene.warned.count == 1 && scene.ended.count == 1)
    }

    @Test("nothing comes of a ping unless she has chosen it, and of one sent before she did (A4)")
    func off() throws {
        var scene = try Scene(after: nil)
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, SetPingEscalation(after: .minutes(15)))
        try scene.people.ask(scene.anna, SetPingEscalation(contact: scene.cleo, after: .seconds(0)))
        try scene.people.ask(scene.cleo, SendPing(contact: scene.anna))
        try scene.run(.days(2))
        #expect(scene.warned.isEmpty && scene.unanswered.isEmpty)
        // The ping keeps what was chosen when it was sent.
        try scene.people.ask(scene.anna, RespondToPing(contact: scene.ben))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, SetPingEscalation(after: nil))
        try scene.run(.minutes(15))
        #expect(scene.unanswered.count == 1)
    }

    @Test("an answer, a cancellation, a check-in or the end of the role ends it, and takes the warning back (A4)")
    func ends() throws {
        var start = try Scene()
        try start.people.ask(start.ben, SendPing(contact: start.anna))
        try start.run(.minutes(26))
        let (anna, ben) = (start.anna, start.ben)
        func end(_ who: AccountID, _ command: any CommandBody) throws {
            var scene = start
            try scene.people.ask(who, command)
            try scene.run(.days(2))
            #expect(scene.unanswered.isEmpty && scene.ended.count == 1, "\(type(of: command).type)")
        }
        try end(anna, RespondToPing(contact: ben))
        try end(anna, RespondToAllPings())
        try end(anna, ClearReceivedPings())
        try end(ben, CancelPing(contact: anna))
        try end(ben, RemoveContact(contact: anna))
        try end(anna, BlockContact(contact: ben))
        try end(ben, CloseAccount())
        try end(anna, RelayAlert(kind: .checkedIn, occurred: start.people.time))
        // One made before the ping says nothing.
        var earlier = start
        try earlier.people.ask(anna, RelayAlert(kind: .checkedIn, occurred: start.people.time - .hours(1)))
        try earlier.run(.minutes(10))
        #expect(earlier.unanswered.count == 1)
    }

    @Test("several that are due at once are one alert (A4)")
    func several() throws {
        var scene = try Scene()
        for responder in [scene.ben, scene.cleo] { try scene.people.ask(responder, SendPing(contact: scene.anna)) }
        try scene.run(.minutes(30))
        #expect(scene.unanswered.map { $0.pings.map(\.contact) } == [[scene.ben, scene.cleo].sorted()])
    }

    @Test("after an outage she is warned first, and has her five minutes (A4)")
    func outage() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        scene.people.pass(.hours(3))
        try scene.judge()
        #expect(scene.unanswered.isEmpty && scene.warned.map(\.due) == [scene.people.time + .minutes(5)])
        try scene.run(.minutes(4))
        #expect(scene.unanswered.isEmpty)
        try scene.run(.minutes(1))
        #expect(scene.unanswered.count == 1)
    }

    @Test("a responder's pings raise one alert a day; one that raised none doesn't count (A4)")
    func daily() throws {
        for isRaised in [true, false] {
            var scene = try Scene()
            try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
            try scene.run(.minutes(30))
            try scene.settle(isRaised: isRaised)
            let raised = scene.people.time
            try scene.people.ask(scene.anna, RespondToPing(contact: scene.ben))
            try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
            try scene.run(.minutes(30))
            #expect(scene.unanswered.count == (isRaised ? 1 : 2))
            guard isRaised else { continue }
            #expect(scene.people.contact(scene.anna, scene.ben)?.incomingPingDue == raised + .days(1))
            try scene.run(.hours(24))
            #expect(Set(scene.unanswered.map(\.pings)).count == 2, "it waited, and wasn't lost")
        }
    }

    @Test("as long as it isn't known what came of it, it is said again (A4)")
    func again() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.run(.minutes(30))
        try scene.run(.minutes(15))
        #expect(scene.unanswered.count == 2)
    }

    @Test("session hears of an answer to a ping that was found unanswered, or to a later one of that person (A4)")
    func answers() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.run(.minutes(30))
        try scene.people.ask(scene.ben, CancelPing(contact: scene.anna))
        try scene.people.ask(scene.cleo, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, RespondToPing(contact: scene.cleo))
        #expect(scene.answered.isEmpty)
        scene.people.pass(.minutes(1))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, RespondToAllPings())
        #expect(scene.answered.map { $0.pings.map(\.contact) } == [[scene.ben]])
    }

    @Test("an answer is taken though the ping was cancelled since, or a newer one waits; another's isn't answered (A4)")
    func lateAnswers() throws {
        var start = try Scene()
        let sent = start.people.time
        try start.people.ask(start.ben, SendPing(contact: start.anna))
        try start.run(.minutes(31))
        try start.settle()
        try start.people.ask(start.ben, CancelPing(contact: start.anna))
        let missed = UnansweredPing(contact: start.ben, sent: sent)
        for isNewer in [false, true] {
            for isAll in [false, true] {
                var scene = start
                if isNewer { try scene.people.ask(scene.ben, SendPing(contact: scene.anna)) }
                let pressed = sent + .minutes(20)
                let command: any CommandBody =
                    isAll
                    ? RespondToAllPings(upTo: sent) : RespondToPing(contact: scene.ben, sent: sent, pressed: pressed)
                try scene.people.ask(scene.anna, command)
                #expect(scene.answered.map(\.pings) == [[missed]])
                // What was asked later isn't answered, by Ben or others.
                #expect(scene.answered.first?.answered == (isAll ? sent : pressed))
                #expect((scene.people.contact(scene.anna, scene.ben)?.incomingPing != nil) == isNewer)
                #expect(try scene.people.ask(scene.anna, command).isEmpty, "once")
            }
        }
        // One about an earlier ping says nothing of it.
        #expect(try start.people.ask(start.anna, RespondToPing(contact: start.ben, sent: sent - .seconds(1))).isEmpty)
        // A device's clock is fast.
        try start.people.ask(
            start.anna, RespondToPing(contact: start.ben, sent: sent, pressed: start.people.time + .hours(1)))
        #expect(start.answered.first?.answered == start.people.time)
    }

    @Test("session hears of a ping that is taken back after it was found unanswered, whoever ends it (A4)")
    func takenBack() throws {
        var start = try Scene()
        let sent = start.people.time
        try start.people.ask(start.ben, SendPing(contact: start.anna))
        try start.run(.minutes(30))
        let commands: [(AccountID, any CommandBody)] = [
            (start.ben, CancelPing(contact: start.anna)), (start.ben, RemoveContact(contact: start.anna)),
            (start.anna, BlockContact(contact: start.ben)), (start.ben, CloseAccount()),
        ]
        for (who, command) in commands {
            var scene = start
            try scene.people.ask(who, command)
            let expected = [[UnansweredPing(contact: scene.ben, sent: sent)]]
            #expect(scene.takenBack.map(\.pings) == expected, "\(type(of: command).type)")
            // Once the alert is on, nothing is taken back.
            var raised = start
            try raised.settle()
            try raised.people.ask(who, command)
            #expect(raised.takenBack.isEmpty)
        }
    }

    @Test("whoever asked several times hears of an answer to the first, or to any but the last (A4)")
    func firstReplaced() throws {
        var scene = try Scene()
        var sent: [Instant] = []
        for _ in 0..<3 {
            sent.append(scene.people.time)
            try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
            try scene.run(.minutes(1))
            // Nothing comes of it any more, so another may take its place.
            try scene.people.ask(scene.anna, RelayAlert(kind: .checkedIn, occurred: scene.people.time))
        }
        for ping in sent.dropLast() {
            var people = scene.people
            let told = try people.ask(scene.anna, RespondToPing(contact: scene.ben, sent: ping)).compactMap { event in
                if case .pingAnswered(let answered) = event { answered.sent } else { nil }
            }
            #expect(told == [sent[0]])
        }
    }

    @Test(
        "both see what will be: nothing once it is over, another time if it is put off; and a used-up ping makes room (A4)"
    )
    func shown() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        let first = scene.people.time
        try scene.people.ask(ben, SendPing(contact: anna))
        try scene.run(.minutes(1))
        // While something may come of it, it isn't sent again.
        #expect(try scene.people.ask(ben, SendPing(contact: anna)).isEmpty)
        try scene.people.ask(anna, RelayAlert(kind: .checkedIn, occurred: scene.people.time))
        #expect(scene.due(ben) == [nil, nil])
        #expect(scene.people.contact(ben, anna)?.outgoingPing != nil)
        func canAskAgain(_ scene: Scene) -> Bool? {
            scene.people.contact(ben, anna)?.canAskAgain(at: scene.people.time)
        }
        #expect(canAskAgain(scene) == true)
        // Also if none comes of another: she has taken back her choice.
        var taken = scene
        try taken.people.ask(anna, SetPingEscalation(after: nil))
        try taken.people.ask(ben, SendPing(contact: anna))
        taken.people.pass(.minutes(1))
        #expect(taken.people.contact(ben, anna)?.outgoingPing != first && canAskAgain(taken) == false)
        #expect(try taken.people.ask(ben, SendPing(contact: anna)).isEmpty)
        try scene.run(.hours(1))
        #expect(scene.warned.isEmpty && scene.unanswered.isEmpty)
        let again = scene.people.time
        try scene.people.ask(ben, SendPing(contact: anna))
        #expect(scene.due(ben) == [again + .minutes(30), again + .minutes(30)])
        #expect(scene.people.log.compactMap { $0.event.body as? PingReceived }.last?.replaced == first)
        try scene.run(.minutes(30))
        #expect(scene.unanswered.map { $0.pings.map(\.sent) } == [[again]])
        // Another one that is sent before session has said what came of this one is put off as soon as it says so.
        try scene.people.ask(anna, RespondToPing(contact: ben))
        try scene.people.ask(ben, SendPing(contact: anna))
        #expect(scene.due(ben) == [scene.people.time + .minutes(30), scene.people.time + .minutes(30)])
        try scene.run(.minutes(26))
        let warned = scene.warned.count
        try scene.settle()
        let next = scene.people.time + .days(1)
        #expect(scene.due(ben) == [next, next] && scene.ended.count == 2)
        try scene.run(.hours(23))
        #expect(scene.warned.count == warned && scene.unanswered.count == 1)
        try scene.run(.hours(1))
        #expect(scene.warned.last?.due == next && scene.unanswered.count == 2)
        // Each warning ends by itself.
        try scene.settle()
        #expect(scene.ended.map(\.due) == scene.warned.map(\.due))
        // One from before the choice is nothing either.
        var later = try Scene(after: nil)
        try later.people.ask(later.ben, SendPing(contact: later.anna))
        try later.people.ask(later.anna, SetPingEscalation(after: .minutes(15)))
        later.people.pass(.minutes(1))
        #expect(later.people.contact(later.ben, later.anna)?.canAskAgain(at: later.people.time) == false)
        try later.people.ask(later.ben, SendPing(contact: later.anna))
        let due = later.people.time + .minutes(15)
        #expect(later.due(later.ben) == [due, due])
    }

    @Test("it counts from when it is handled, and so does the warning; by the clock, not by the rules' time (A4)")
    func clock() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        scene.people.rows.clock = scene.people.time
        try scene.people.ask(ben, SendPing(contact: anna), recordedAt: scene.people.time - .minutes(55))
        let due = scene.people.time + .minutes(30)
        #expect(scene.due(ben) == [due, due])
        // The timer's command waited for an hour.
        scene.people.pass(.minutes(85))
        scene.people.rows.clock = scene.people.time
        let judge = JudgePings(account: anna, due: due - .minutes(5))
        try scene.people.ask(nil, judge, recordedAt: due - .minutes(5))
        let moved = scene.people.time + .minutes(5)
        #expect(scene.warned.map(\.due) == [moved] && scene.unanswered.isEmpty && scene.due(ben) == [moved, moved])
        scene.people.pass(.minutes(5))
        scene.people.rows.clock = scene.people.time
        try scene.judge()
        #expect(scene.unanswered.count == 1)
        // The rules' time is an hour ahead of the clock.
        var ahead = try Scene()
        let now = ahead.people.time - .hours(1)
        ahead.people.rows.clock = now
        try ahead.people.ask(ben, SendPing(contact: anna), recordedAt: now)
        #expect(ahead.due(ben) == [now + .minutes(30), now + .minutes(30)])
        try ahead.people.ask(anna, RelayAlert(kind: .checkedIn, occurred: now + .minutes(1)))
        #expect(ahead.due(ben) == [nil, nil])
    }

    @Test("a responder's pings are added to one alert once a day; to another, or when none is on, as ever (A4)")
    func addedOnce() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        let alarm = AlarmID.derived(at: scene.people.time, from: Array("1".utf8))
        try scene.people.ask(anna, RelayAlert(kind: .alertRaised, alarm: alarm, occurred: scene.people.time))
        try scene.people.ask(ben, SendPing(contact: anna))
        try scene.run(.minutes(30))
        try scene.settle(isRaised: false, alarm: alarm)
        let added = scene.people.time
        try scene.people.ask(ben, CancelPing(contact: anna))
        var over = scene
        try scene.people.ask(ben, SendPing(contact: anna))
        #expect(scene.due(ben) == [added + .days(1), added + .days(1)])
        over.people.pass(.seconds(1))
        try over.people.ask(anna, RelayAlert(kind: .alertCleared, alarm: alarm, occurred: over.people.time))
        try over.people.ask(ben, SendPing(contact: anna))
        #expect(over.due(ben) == [over.people.time + .minutes(30), over.people.time + .minutes(30)])
    }

    @Test("what she says of herself settles the pings from before, and none from after (A4)")
    func allRight() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        scene.people.pass(.minutes(1))
        let said = scene.people.time
        scene.people.pass(.minutes(1))
        try scene.people.ask(scene.cleo, SendPing(contact: scene.anna))
        try scene.people.ask(
            nil, SettleUnansweredPings(account: scene.anna, allRight: said, at: scene.people.time))
        #expect(scene.due(scene.ben) == [nil, nil] && scene.due(scene.cleo)[0] != nil)
        try scene.run(.hours(1))
        #expect(scene.unanswered.first?.pings.map(\.contact) == [scene.cleo])
    }

    @Test("after her all-clear an answer to what was asked before answers nobody who asked since (A4)")
    func answerAfterAllClear() throws {
        for (isCheckIn, isCancelled) in [(true, false), (true, true), (false, false), (false, true)] {
            var scene = try Scene()
            let (anna, ben, cleo) = (scene.anna, scene.ben, scene.cleo)
            try scene.people.ask(ben, SendPing(contact: anna))
            try scene.run(.minutes(30))
            try scene.settle()
            if isCancelled { try scene.people.ask(ben, CancelPing(contact: anna)) }
            scene.people.pass(.minutes(1))
            let said = scene.people.time
            if isCheckIn {
                try scene.people.ask(anna, RelayAlert(kind: .checkedIn, occurred: said))
            } else {
                try scene.people.ask(nil, SettleUnansweredPings(account: anna, allRight: said, at: said))
            }
            scene.people.pass(.minutes(1))
            try scene.people.ask(cleo, SendPing(contact: anna))
            scene.people.pass(.minutes(1))
            try scene.people.ask(anna, RespondToPing(contact: ben, pressed: scene.people.time))
            #expect(scene.answered.isEmpty && scene.due(cleo)[0] != nil)
            // A ping that is found unanswered after that is answered as ever.
            try scene.run(.minutes(30))
            try scene.people.ask(anna, RespondToPing(contact: cleo))
            #expect(scene.answered.map { $0.pings.map(\.contact) } == [[cleo]])
        }
    }

    @Test("once session has said that nothing came of a ping, it isn't said again, and the next one is watched (A4)")
    func discarded() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        try scene.people.ask(ben, SendPing(contact: anna))
        try scene.run(.minutes(30))
        try scene.people.ask(
            nil,
            SettleUnansweredPings(
                account: anna, pings: try #require(scene.unanswered.last).pings, at: scene.people.time))
        #expect(scene.due(ben) == [nil, nil] && scene.ended.count == 1)
        try scene.run(.hours(1))
        #expect(scene.unanswered.count == 1)
        // It has raised nothing, so the day isn't used up.
        let again = scene.people.time
        try scene.people.ask(ben, SendPing(contact: anna))
        #expect(scene.due(ben) == [again + .minutes(30), again + .minutes(30)])
        try scene.run(.minutes(30))
        #expect(scene.unanswered.last?.pings.map(\.sent) == [again])
    }

    @Test("pings that were taken back put off no later one's alert; of their warnings one a day is loud (A4)")
    func warnings() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        let start = scene
        for number in 0..<4 {
            let due = scene.people.time + .minutes(30)
            try scene.people.ask(ben, SendPing(contact: anna))
            #expect(scene.due(ben) == [due, due])
            try scene.run(.minutes(26))
            #expect(scene.warned.count == number + 1)
            #expect(scene.warned.last?.isRepeated == (number == 0 ? nil : true))
            try scene.people.ask(ben, CancelPing(contact: anna))
            scene.people.pass(.minutes(1))
        }
        // This one is meant.
        let sent = scene.people.time
        try scene.people.ask(ben, SendPing(contact: anna))
        try scene.run(.minutes(30))
        #expect(scene.warned.last?.isRepeated == true && scene.warned.last?.at == sent + .minutes(25))
        #expect(scene.unanswered.map { $0.pings.map(\.sent) } == [[sent]])
        #expect(scene.unanswered.map(\.at) == [sent + .minutes(30)])
        try scene.people.ask(anna, RespondToPing(contact: ben))
        // Another's isn't quiet for his sake, and his are loud again a day after the loud one.
        try scene.people.ask(scene.cleo, SendPing(contact: anna))
        try scene.run(.minutes(26))
        #expect(scene.warned.last.map { $0.contact == scene.cleo && $0.isRepeated == nil } == true)
        try scene.people.ask(anna, RespondToPing(contact: scene.cleo))
        scene.people.time = start.people.time + .days(1)
        try scene.people.ask(ben, SendPing(contact: anna))
        try scene.run(.minutes(25))
        #expect(scene.warned.last.map { $0.contact == ben && $0.isRepeated == nil } == true)
        // She has heard nothing of one, or answered it.
        for end in [CancelPing(contact: anna), RespondToPing(contact: ben)] as [any CommandBody] {
            var scene = start
            try scene.people.ask(ben, SendPing(contact: anna))
            try scene.run(.minutes(end is CancelPing ? 20 : 26))
            try scene.people.ask(end is CancelPing ? ben : anna, end)
            scene.people.pass(.minutes(1))
            try scene.people.ask(ben, SendPing(contact: anna))
            try scene.run(.minutes(26))
            #expect(scene.warned.last.map { $0.isRepeated == nil } == true)
        }
    }

    @Test("a clock that was ahead puts nothing off for longer than a day, and no look for more than 15 minutes (A4)")
    func clockAhead() throws {
        var start = try Scene()
        let (anna, ben) = (start.anna, start.ben)
        try start.people.ask(ben, SendPing(contact: anna))
        try start.run(.minutes(29))
        start.people.pass(.minutes(1))
        let (due, ahead) = (start.people.time, start.people.time + .days(10))
        var scene = start
        try scene.judge()
        try scene.people.ask(
            nil,
            SettleUnansweredPings(
                account: anna, pings: try #require(scene.unanswered.last).pings, isRaised: true, at: ahead))
        try scene.people.ask(ben, SendPing(contact: anna))
        #expect(scene.due(ben) == [due + .days(1), due + .days(1)])
        // It was found while the clock was ahead. The rules' time stays ahead.
        start.people.time = ahead
        start.people.rows.clock = ahead
        try start.judge()
        #expect(start.unanswered.map(\.at) == [ahead])
        let now = due + .minutes(1)
        start.people.rows.clock = now
        try start.people.ask(nil, JudgePings(account: anna, due: now), recordedAt: now)
        #expect(start.people.rows.accounts[anna]?.nextPing == now + .minutes(15))
    }

    @Test(
        """
        who became a responder by a code alone raises nothing until she chooses, nor once she is removed and added again; whom she \
        asked or accepted does (A4)
        """)
    func byCode() throws {
        var scene = try Scene()
        let (anna, dora, eve) = (scene.anna, try scene.people.person(), try scene.people.person())
        for isAgain in [false, true] {
            if isAgain { try scene.people.ask(dora, RemoveContact(contact: anna)) }
            try scene.people.add(dora, anna, iAmResponder: true)
            #expect(scene.people.contact(anna, dora)?.pingEscalation == .seconds(0))
            #expect(scene.people.contact(dora, anna)?.pingEscalation == nil)
            try scene.people.ask(dora, SendPing(contact: anna))
            #expect(scene.due(dora) == [nil, nil])
            try scene.people.ask(anna, SetPingEscalation(contact: dora, after: nil))
            scene.people.pass(.minutes(1))
            try scene.people.ask(dora, SendPing(contact: anna))
            let due = scene.people.time + .minutes(30)
            #expect(scene.due(dora) == [due, due])
        }
        // She offers to look after Eve, who makes herself Anna's responder by the code besides.
        var offered = scene
        try offered.people.ask(
            anna, AddContact(contact: eve, isMyResponder: false, iAmResponder: true))
        try offered.people.add(eve, anna, iAmResponder: true)
        #expect(offered.people.contact(anna, eve)?.isMyResponder == true)
        #expect(offered.people.contact(anna, eve)?.pingEscalation == .seconds(0))
        var asked = scene
        try asked.people.ask(anna, AddContact(contact: eve, isMyResponder: true, iAmResponder: false))
        try asked.people.add(eve, anna, iAmResponder: true)
        var accepted = scene
        try accepted.people.ask(eve, AddContact(contact: anna, isMyResponder: false, iAmResponder: true))
        try accepted.people.ask(anna, ApproveContactRequest(contact: eve, isMyResponder: true, iAmResponder: false))
        for scene in [asked, accepted] {
            let contact = try #require(scene.people.contact(anna, eve))
            #expect(contact.isMyResponder && contact.pingEscalation == nil)
        }
    }

    @Test("a warning that comes late waits for the end of quiet hours, once; nothing promised before them does (A4)")
    func lateInQuietHours() throws {
        var start = try Scene()
        let (anna, ben) = (start.anna, start.ben)
        let due = start.people.time + .minutes(30)
        let minute = Int(due.microseconds % Interval.days(1).microseconds / Interval.minutes(1).microseconds)
        let quiet = QuietHours(from: (minute + 20) % 1440, to: (minute + 90) % 1440)
        try start.people.ask(anna, SetPingQuietHours(quietHours: quiet))
        try start.people.ask(ben, SendPing(contact: anna))
        #expect(start.due(ben) == [due, due])
        // Nothing was handled until they had begun.
        var scene = start
        scene.people.time = due + .minutes(30)
        try scene.judge()
        #expect(scene.warned.isEmpty && scene.due(ben)[1] == nil)
        #expect(scene.people.contact(ben, anna)?.isOutgoingPingLater == true)
        let end = quiet.end(for: due + .minutes(30))
        var again = scene
        try scene.run(.hours(3))
        let warned = try #require(scene.warned.first)
        #expect(end <= warned.at && warned.at < end + .minutes(5) && warned.due == warned.at + .minutes(30))
        #expect(scene.unanswered.first?.at == warned.due)
        // Nor was anything until they had begun once more: they don't put it off again.
        again.people.time = due + .days(1) + .minutes(30)
        try again.judge()
        #expect(again.warned.map(\.due) == [again.people.time + .minutes(30)])
        #expect(again.people.contact(ben, anna)?.isOutgoingPingLater == true, "it would say when they ended")
        // She was warned before that: the alert comes as soon as anything is handled.
        var told = start
        try told.run(.minutes(29))
        #expect(told.warned.map(\.due) == [due])
        told.people.time = due + .minutes(30)
        try told.judge()
        #expect(told.unanswered.map(\.at) == [told.people.time])
        // Until shortly before them: the alert was promised for before them, so it comes in them rather than after.
        start.people.time = due + .minutes(17)
        try start.judge()
        let moved = start.people.time + .minutes(5)
        #expect(start.warned.map(\.due) == [moved] && start.due(ben) == [moved, moved])
        try start.run(.minutes(5))
        #expect(start.unanswered.map(\.at) == [moved])
    }

    @Test("a warning that is late by a moment puts nothing off (A4)")
    func momentLate() throws {
        var scene = try Scene()
        let due = scene.people.time + .minutes(30)
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        scene.people.time = due - .minutes(5) + .seconds(3)
        try scene.judge()
        #expect(scene.warned.map(\.due) == [due] && scene.moved.isEmpty && scene.due(scene.ben) == [due, due])
    }

    @Test("of somebody who has missed a check-in others know: no ping of then raises another alarm (A4)")
    func missing() throws {
        var scene = try Scene()
        let alarm = AlarmID.derived(at: scene.people.time, from: Array("1".utf8))
        try scene.people.ask(
            scene.anna,
            RelayAlert(
                kind: .checkInMissed, alarm: alarm, occurred: scene.people.time, deadline: scene.people.time))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        #expect(scene.due(scene.ben) == [nil, nil])
        // Another one would come to nothing, too.
        scene.people.pass(.minutes(1))
        #expect(try scene.people.ask(scene.ben, SendPing(contact: scene.anna)).isEmpty)
        #expect(scene.due(scene.ben) == [nil, nil])
        scene.people.pass(.minutes(1))
        try scene.people.ask(
            scene.anna, RelayAlert(kind: .checkedIn, alarm: alarm, occurred: scene.people.time))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        #expect(scene.due(scene.ben)[0] == scene.people.time + .minutes(30))
    }

    @Test("of a missed check-in of which nobody was told, or that somebody calls safe, nobody knows: pings count (A4)")
    func missingUnknown() throws {
        var start = try Scene()
        let (anna, ben, cleo) = (start.anna, start.ben, start.cleo)
        let alarm = AlarmID.derived(at: start.people.time, from: Array("1".utf8))
        let missed = RelayAlert(
            kind: .checkInMissed, alarm: alarm, occurred: start.people.time, deadline: start.people.time)
        func expect(_ isWatched: Bool, _ change: (inout Scene) throws -> Void) throws {
            var scene = start
            try change(&scene)
            scene.people.pass(.minutes(1))
            try scene.people.ask(ben, SendPing(contact: anna))
            #expect(scene.due(ben)[0] == (isWatched ? scene.people.time + .minutes(30) : nil))
        }
        // Nobody wants to hear of it.
        try expect(true) { scene in
            for responder in [ben, cleo] {
                let version = try #require(scene.people.contact(responder, anna)?.version)
                try scene.people.ask(
                    responder,
                    UpdateContact(contact: anna, expectedVersion: version, notifyOnMissedCheckIn: false))
            }
            try scene.people.ask(anna, missed)
        }
        try start.people.ask(anna, missed)
        try expect(false) { _ in }
        func answer(_ answer: AlarmAnswer) -> AcknowledgeAlarm {
            AcknowledgeAlarm(contact: anna, alarm: alarm, answer: answer)
        }
        try expect(true) { try $0.people.ask(cleo, answer(.safe)) }
        // Somebody says since that help is needed: then all look for her again.
        try expect(false) { scene in
            try scene.people.ask(cleo, answer(.safe))
            scene.people.pass(.minutes(1))
            try scene.people.ask(ben, answer(.needsHelp))
        }
    }

    @Test("responders hear of a ping without whose it was, and of a trip, too, until she has called for help (A4)")
    func told() throws {
        var scene = try Scene()
        let (anna, now) = (scene.anna, scene.people.time)
        let alarm = AlarmID.derived(at: now, from: Array("1".utf8))
        func last() -> ResponderAlerted? { scene.people.log.compactMap { $0.event.body as? ResponderAlerted }.last }
        try scene.people.ask(anna, RelayAlert(kind: .alertRaised, alarm: alarm, occurred: now, pinged: now))
        #expect(last()?.pinged == now && last()?.deadline == nil)
        try scene.people.ask(anna, ForgetAnswers(alarm: alarm, before: now, isLate: true))
        func repeated(_ number: Int, eta: Instant?, pinged: Instant?) throws {
            try scene.people.ask(
                anna,
                RelayAlert(
                    kind: .alertRaised, alarm: alarm, occurred: now, deadline: eta, pinged: pinged, repetition: number))
        }
        try repeated(1, eta: now, pinged: now)
        #expect(last()?.pinged == now && last()?.deadline == now)
        try repeated(2, eta: now, pinged: nil)
        #expect(last()?.pinged == nil && last()?.deadline == now)
        try scene.people.ask(anna, ForgetAnswers(alarm: alarm, before: now))
        // Late, from before she called.
        try repeated(3, eta: now, pinged: now)
        #expect(last()?.pinged == nil && last()?.deadline == nil)
    }

    @Test("it is looked only for what holds back a ping that is due, and of its sender (A4)")
    func search() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.run(.minutes(20))
        try scene.people.ask(scene.cleo, SendPing(contact: scene.anna))
        func senders() -> [AccountID] { scene.people.rows.sendersOfDuePings(to: scene.anna, at: scene.people.time) }
        try scene.run(.minutes(9))
        #expect(senders().isEmpty)
        scene.people.pass(.minutes(1))
        #expect(senders() == [scene.ben])
    }

    @Test("what falls due in quiet hours warns at their end, and half an hour later counts; only she sees when (A4)")
    func quietHours() throws {
        let minute = Interval.minutes(1)
        let day = Instant(microseconds: 20_000 * Interval.days(1).microseconds)
        let night = QuietHours(from: 22 * 60, to: 7 * 60)
        for (hour, end) in [(21, 21), (22, 31), (23, 31), (24, 31), (30, 31), (31, 31)] as [(Int64, Int64)] {
            #expect(night.end(for: day + .hours(hour)) == day + .hours(end), "\(hour)")
        }
        #expect(QuietHours(from: 60, to: 120).end(for: day + .hours(1)) == day + .hours(2))
        var random = SeededRandom(seed: 11)
        for _ in 0..<500 {
            let from = Int(random.next() % 1440)
            let quiet = QuietHours(from: from, to: (from + 1 + Int(random.next() % 1438)) % 1440)
            let time = day + Interval(microseconds: Int64(random.next() % 172_800) * 1_000_000)
            let end = quiet.end(for: time)
            #expect(end >= time && end < time + .days(1) && quiet.end(for: end) == end)
            // Every minute of it is quiet.
            if end > time { #expect(quiet.end(for: end - minute) == end) }
            guard end > time, (try? SetPingQuietHours(quietHours: quiet).validate()) != nil else { continue }
            // They leave room for the warning, and for what it warns of.
            for later in [Interval.minutes(5), .minutes(35)] {
                #expect(quiet.end(for: end + later) == end + later)
            }
        }
        var scene = try Scene()
        let due = scene.people.time + .minutes(30)
        let of = Int(due.microseconds % Interval.days(1).microseconds / minute.microseconds)
        let start = scene
        // The alert would be due in them, or the warning would.
        for (from, to) in [(of, of + 90), (of - 90, of - 3)] {
            scene = start
            let quiet = QuietHours(from: (from + 1440) % 1440, to: (to + 1440) % 1440)
            let end = try #require([due, due - .minutes(5)].filter { quiet.end(for: $0) > $0 }.map(quiet.end).max())
            try scene.people.ask(scene.anna, SetPingQuietHours(quietHours: quiet))
            try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
            #expect(scene.people.contact(scene.ben, scene.anna)?.outgoingPingDue == nil)
            #expect(scene.people.contact(scene.ben, scene.anna)?.isOutgoingPingLater == true)
            let moved = try #require(scene.people.contact(scene.anna, scene.ben)?.incomingPingDue)
            try scene.run(end - .seconds(1) - scene.people.time)
            #expect(scene.warned.isEmpty)
            try scene.run(.hours(2))
            let warned = try #require(scene.warned.first)
            #expect(end <= warned.at && warned.at < end + .minutes(5))
            #expect(warned.due == warned.at + .minutes(30) && warned.due == moved)
            #expect(scene.unanswered.first?.at == warned.due)
        }
        // Less was chosen; and the time of another is put off through them, too.
        scene = try Scene(after: .minutes(15))
        let quiet = QuietHours(from: of - 20, to: (of + 90) % 1440)
        try scene.people.ask(scene.anna, SetPingQuietHours(quietHours: quiet))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.run(.hours(4))
        #expect(scene.warned.first.map { $0.due - $0.at } == .minutes(15))
        try scene.run(.minutes(1230))
        try scene.settle()
        try scene.people.ask(scene.ben, CancelPing(contact: scene.anna))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        let next = try #require(scene.people.contact(scene.anna, scene.ben)?.incomingPingDue)
        #expect(quiet.end(for: next) == next && scene.people.contact(scene.ben, scene.anna)?.outgoingPingDue != next)
    }

    @Test(
        "an answer or a cancellation that waits holds it back, for a minute at most; one from before the ping doesn't (A4)"
    )
    func holds() throws {
        var start = try Scene()
        let sent = start.people.time
        try start.people.ask(start.ben, SendPing(contact: start.anna))
        try start.run(.minutes(29))
        start.people.pass(.minutes(1))
        let due = start.people.time
        func held(_ recorded: Instant, isCancelled: Bool) throws -> Int {
            var scene = start
            for second in 0..<90 {
                scene.people.time = due + .seconds(Int64(second))
                let waiting = WaitingCommand(recordedAt: recorded, seenAt: scene.people.time)
                if isCancelled {
                    scene.people.rows.waitingCancellations = [scene.ben: waiting]
                } else {
                    scene.people.rows.waitingAnswers = [scene.anna: waiting]
                }
                try scene.judge()
                if !scene.unanswered.isEmpty { return second }
            }
            return 90
        }
        for isCancelled in [true, false] {
            #expect(try held(due, isCancelled: isCancelled) == 60)
            #expect(try held(sent, isCancelled: isCancelled) == 60)
            #expect(try held(sent - .seconds(1), isCancelled: isCancelled) == 0)
            #expect(try held(due + .seconds(1), isCancelled: isCancelled) == 0)
        }
    }

    @Test("only responders are chosen for, and in whole minutes from 15 to 24 hours (A4)")
    func refused() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        #expect(try scene.people.rejection(ben, SetPingEscalation(contact: anna, after: .hours(1))) == .notContact)
        #expect(
            try scene.people.rejection(anna, SetPingEscalation(contact: scene.people.id(), after: nil)) == .notContact)
        for after in [Interval.minutes(14), .seconds(901), .minutes(1441), .seconds(-60)] {
            #expect(throws: Rejection.self) { try SetPingEscalation(after: after).validate() }
        }
        for after in [Interval.seconds(0), .minutes(15), .hours(24)] { try SetPingEscalation(after: after).validate() }
        for hours in [
            QuietHours(from: 0, to: 0), .init(from: -1, to: 0), .init(from: 0, to: 1440), .init(from: 0, to: 1381),
            .init(from: 700, to: 641),
        ] {
            #expect(throws: Rejection.self) { try SetPingQuietHours(quietHours: hours).validate() }
        }
        for hours in [QuietHours(from: 0, to: 1380), .init(from: 700, to: 640), .init(from: 1320, to: 420)] {
            try SetPingQuietHours(quietHours: hours).validate()
        }
        // Nothing changes twice.
        #expect(try scene.people.ask(anna, SetPingEscalation(after: .minutes(30))).isEmpty)
        #expect(try scene.people.ask(anna, SetPingQuietHours(quietHours: nil)).isEmpty)
        // Who becomes a responder again has nothing chosen.
        try scene.people.ask(anna, SetPingEscalation(contact: ben, after: .hours(1)))
        try scene.people.ask(ben, UpdateContact(contact: anna, expectedVersion: 1, nickname: "A"))
        #expect(scene.people.contact(anna, ben)?.pingEscalation == .hours(1))
    }

    /// Whatever happens: nothing is found unanswered that wasn't warned of five minutes before, was answered, cancelled, or sent before a
    /// check-in; and what is left open and chosen is found at last.
    @Test("random histories lose no ping, and raise none without a warning (A4)", arguments: 0..<60)
    func random(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) &* 7919 + 1)
        var scene = try Scene()
        var open: [AccountID: Instant] = [:]
        var checkedIn = Instant(microseconds: 0)
        for _ in 0..<60 {
            let responder = random.next() % 2 == 0 ? scene.ben : scene.cleo
            scene.people.pass(.seconds(1))
            switch random.next() % 7 {
            case 0, 1:
                if try scene.people.rejection(responder, SendPing(contact: scene.anna)) == nil {
                    open[responder] = scene.people.contact(scene.anna, responder)?.incomingPing
                }
            case 2:
                try scene.people.ask(scene.anna, RespondToPing(contact: responder))
                open[responder] = nil
            case 3:
                try scene.people.ask(responder, CancelPing(contact: scene.anna))
                open[responder] = nil
            case 4 where random.next() % 3 == 0:
                checkedIn = scene.people.time
                try scene.people.ask(scene.anna, RelayAlert(kind: .checkedIn, occurred: checkedIn))
            default:
                let before = scene.unanswered.count
                try scene.run(.minutes(Int64(random.next() % 40) + 1))
                for found in scene.unanswered.dropFirst(before) {
                    for ping in found.pings {
                        #expect(open[ping.contact] == ping.sent && ping.sent > checkedIn)
                        let warning = scene.warned.last { $0.contact == ping.contact && $0.sent == ping.sent }
                        let lateness = scene.people.rows.limits.pingLateness
                        #expect(warning.map { $0.at + .minutes(5) <= found.at + lateness } == true)
                    }
                    if random.next() % 2 == 0 { try scene.settle(isRaised: random.next() % 2 == 0) }
                }
            }
        }
        try scene.run(.days(2))
        for (responder, sent) in open where sent > checkedIn {
            #expect(scene.unanswered.contains { $0.pings.contains { ($0.contact, $0.sent) == (responder, sent) } })
        }
    }
}
