import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: alerts that unanswered pings raise")
struct UnansweredPingTests {
    private struct Scene {
        var household = Household()
        let (anna, ben, cleo): (AccountID, AccountID, AccountID)

        init() throws {
            anna = try household.person()
            (ben, cleo) = (household.id(), household.id())
            household.pass(.minutes(40))
        }

        func ping(_ contact: AccountID, _ ago: Interval = .minutes(30)) -> UnansweredPing {
            UnansweredPing(contact: contact, sent: household.time - ago)
        }

        @discardableResult
        mutating func raise(_ pings: UnansweredPing...) throws -> [SessionEvent] {
            try household.ask(nil, RaiseUnansweredAlert(account: anna, pings: pings, found: household.time))
        }

        /// Whether nothing becomes of a ping, and contacts hears that.
        mutating func isDiscarded(_ ping: UnansweredPing) throws -> Bool {
            let events = try raise(ping)
            return events.count == 1 && (events[0].body as? UnansweredPingsDiscarded)?.pings == [ping]
        }

        /// - Parameter answered: When she answered; when the pings were sent, as long as nobody says it.
        @discardableResult
        mutating func end(_ pings: UnansweredPing..., answered: Instant? = nil) throws -> [SessionEvent] {
            let answered = answered ?? pings.map(\.recorded).max()
            return try household.ask(nil, EndUnansweredAlert(account: anna, pings: pings, answered: answered))
        }

        @discardableResult
        mutating func takeBack(_ pings: UnansweredPing...) throws -> [SessionEvent] {
            try household.ask(nil, EndUnansweredAlert(account: anna, pings: pings))
        }

        /// Starts a trip that is missed by the time this returns.
        mutating func missTrip() throws {
            try household.ask(
                anna, StartTrip(name: "Lake", eta: household.time + .minutes(30)))
            try household.run(.minutes(31), of: anna)
        }

        var state: AccountState { household.state(anna) }
    }

    @Test("it is an alert that says which pings, is repeated, and ends by an answer to all of them (A4)")
    func raised() throws {
        var scene = try Scene()
        let pings = [scene.ping(scene.ben), scene.ping(scene.cleo)].sorted { $0.contact < $1.contact }
        let raised = try scene.raise(pings[0], pings[1]).first(as: AlertRaised.self)
        #expect(raised.pings == pings && raised.waitsUntil == nil)
        #expect(scene.state.unanswered == UnansweredPings(alarm: raised.alarm, pings: pings))
        #expect(scene.state.alertAlarm == raised.alarm)
        try scene.household.run(.hours(1), of: scene.anna)
        let repeated = scene.household.log.compactMap { $0.event.body as? AlarmRepeated }
        #expect(!repeated.isEmpty && repeated.allSatisfy { $0.pinged == pings[0].sent })
        let stranger = scene.household.id() as AccountID
        #expect(try scene.end(UnansweredPing(contact: stranger, sent: pings[0].sent - .hours(1))).isEmpty)
        #expect(try scene.end(pings[0], pings[1]).first(as: AlertCleared.self).wasAnnounced)
        #expect(scene.state.unanswered == nil && scene.state.alertRaised == nil)
        #expect(try scene.end(pings[0]).isEmpty)
    }

    @Test("pings that are handled late are no late call for help, also once there is a call (A4, S34)")
    func noCall() throws {
        var scene = try Scene()
        let found = scene.household.time
        let raise = RaiseUnansweredAlert(account: scene.anna, pings: [scene.ping(scene.ben)], found: found)
        scene.household.pass(.minutes(3))
        let raised = try scene.household.ask(nil, raise, recordedAt: found).first(as: AlertRaised.self)
        #expect(raised.pings?.count == 1 && raised.lateCall == nil && scene.state.lateCall == nil)
        scene.household.pass(.minutes(20))
        let help = try scene.household.ask(scene.anna, RaiseAlert(pressed: scene.household.time))
        #expect(try help.first(as: AlertRaisedAgain.self).lateCall == nil && scene.state.lateCall == nil)
        try scene.household.run(.hours(2), of: scene.anna)
        let repeated = scene.household.log.compactMap { $0.event.body as? AlarmRepeated }
        #expect(!repeated.isEmpty && repeated.allSatisfy { $0.lateCall == nil })
    }

    @Test("an old answer ends no alert of a ping that was sent later; what is known of the others stays (A4)")
    func oldAnswer() throws {
        // Ben pinged long ago, and she answered without a network. Since then Cleo has pinged.
        var start = try Scene()
        let (bens, cleos) = (start.ping(start.ben, .minutes(35)), start.ping(start.cleo, .minutes(20)))
        try start.raise(bens)
        try start.raise(cleos)
        for answered in [nil, bens.sent + .minutes(10)] as [Instant?] {
            var scene = start
            let dropped = try scene.end(bens, answered: answered).first(as: UnansweredPingsDropped.self)
            #expect(dropped.pings == [bens] && scene.state.unanswered?.pings == [cleos])
            #expect(scene.state.alertRaised != nil)
            #expect(try scene.end(bens).isEmpty)
            _ = try scene.end(cleos).first(as: AlertCleared.self)
        }
        // She answered Ben after both had asked: she is all right.
        _ = try start.end(bens, answered: start.household.time).first(as: AlertCleared.self)
        #expect(start.state.unanswered == nil)
    }

    @Test("what was learnt after a ping was sent stands, however late it is found unanswered (A4)")
    func learnt() throws {
        var scene = try Scene()
        try scene.household.ask(scene.anna, RaiseAlert())
        let alarm = try #require(scene.state.alertAlarm)
        let ping = UnansweredPing(contact: scene.ben, sent: scene.household.time + .minutes(5))
        let limits = scene.household.rows.limits
        let raised = scene.household.time
        scene.household.pass(.minutes(20))
        let safe = scene.household.time
        scene.household.pass(.minutes(15))
        let again = try scene.raise(ping).first(as: AlertRaisedAgain.self)
        // Contacts takes back what was said before that.
        #expect(again.pressed == ping.recorded)
        // What responders said since the ping holds the repetitions back.
        let hold = AnswerHold(until: nil, safeUntil: safe + .days(1), safeSince: safe, closes: safe + .days(1))
        try scene.household.ask(
            nil, HoldAlarm(account: scene.anna, alarm: alarm, kind: .alertRaised, hold: hold, version: 1))
        let before = scene.household.log.count
        var held = scene
        try held.household.run(.hours(2), of: scene.anna)
        #expect(!held.household.log.dropFirst(before).contains { $0.event.body is AlarmRepeated })
        // Nobody knows the alert for longer because somebody asks in it.
        let last = scene.household.rows.wantedTimers(of: scene.anna).first { $0.command.body is CloseAlarm }
        var unheld = scene
        try unheld.household.ask(
            nil,
            HoldAlarm(
                account: scene.anna, alarm: alarm, kind: .alertRaised,
                hold: AnswerHold(until: nil, safeUntil: nil, safeSince: nil, closes: nil), version: 2))
        let closing = unheld.household.rows.wantedTimers(of: scene.anna).first { $0.command.body is CloseAlarm }
        #expect(closing?.due == raised + limits.longestAlarm && last != nil)
        // She pressed before it was found, and after it was sent. Before it was sent, she may not have known.
        var earlier = scene
        #expect(
            try earlier.household.rejection(
                scene.anna, ClearAlert(alarm: alarm, pressed: ping.sent - .minutes(1))) == .alertChanged)
        try scene.household.ask(scene.anna, ClearAlert(alarm: alarm, pressed: safe))
        #expect(scene.state.alertRaised == nil)
    }

    @Test("a ping that has made an alert, or was answered, makes no other when it is said again (A4)")
    func saidAgain() throws {
        let start = try Scene()
        let ping = start.ping(start.ben)
        func expectNothing(after end: (inout Scene) throws -> Void) throws {
            var scene = start
            try scene.raise(ping)
            try end(&scene)
            #expect(scene.state.alertRaised == nil)
            scene.household.pass(.minutes(15))
            #expect(try scene.isDiscarded(ping) && scene.state.alertRaised == nil)
            // Another one of the same responder is news.
            _ = try scene.raise(scene.ping(scene.ben, .minutes(10))).first(as: AlertRaised.self)
        }
        try expectNothing { try $0.end(ping) }
        try expectNothing { try $0.household.ask($0.anna, ClearAlert()) }
        // A process of an earlier release ends the alert alone.
        try expectNothing { scene in
            scene.household.rows[scene.anna]?.alert.alarm = nil
            scene.household.rows[scene.anna]?.alert.raised = nil
            scene.household.rows[scene.anna]?.alert.lastAlarm = nil
        }
    }

    @Test("each ping that contacts names raises the alert, waits for that, or is said to come to nothing (A4)")
    func discarded() throws {
        var start = try Scene()
        try start.household.ask(start.anna, CheckIn())
        start.household.pass(.minutes(40))
        let (early, late) = (start.ping(start.ben, .minutes(50)), start.ping(start.cleo))
        var raised = start
        let events = try raised.raise(early, late)
        #expect(try events.first(as: AlertRaised.self).pings == [late])
        #expect(events.discarded.map(\.pings) == [[early]])
        // A check-in waits.
        var held = start
        held.household.rows.waitingCheckIns = [
            held.anna: WaitingCommand(recordedAt: held.household.time, seenAt: held.household.time)
        ]
        #expect(try held.raise(early, late).discarded.map(\.pings) == [[early]])
        #expect(held.household.rows[held.anna]?.unanswered?.pending == [late])
        // While an alert is on.
        try start.household.ask(start.anna, RaiseAlert())
        let added = try start.raise(early, late)
        #expect(try added.first(as: AlertRaisedAgain.self).pings == [late])
        #expect(added.discarded.map(\.pings) == [[early]])
    }

    @Test("pings that the alert names already are said to be its own, and whether they made it or were added (A4)")
    func discardedOfAlert() throws {
        var scene = try Scene()
        let (ping, answered) = (scene.ping(scene.ben), scene.ping(scene.cleo, .minutes(31)))
        try scene.raise(ping, answered)
        try scene.end(answered)
        let events = try scene.raise(ping, answered).discarded
        #expect(events.map(\.pings) == [[ping], [answered]])
        #expect(events.map(\.alarm) == [scene.state.alertAlarm, nil] && events.map(\.isRaised) == [true, nil])
        // Another is added, also once she has called for help. What made it did so all the same.
        for isCalled in [false, true] {
            var scene = scene
            if isCalled { try scene.household.ask(scene.anna, RaiseAlert()) }
            let added = scene.ping(scene.cleo, .minutes(1))
            try scene.raise(added)
            let events = try scene.raise(ping, added).discarded
            #expect(events.map(\.pings) == [[ping], [added]] && events.map(\.isRaised) == [true, nil])
            #expect(events.map(\.alarm) == [scene.state.alertAlarm, scene.state.alertAlarm])
        }
        // By hand, or by a trip: they were added.
        for isTrip in [false, true] {
            var scene = try Scene()
            if isTrip { try scene.missTrip() } else { try scene.household.ask(scene.anna, RaiseAlert()) }
            let alarm = try #require(scene.state.alertAlarm)
            let ping = scene.ping(scene.ben, .minutes(1))
            try scene.raise(ping)
            let events = try scene.raise(ping).discarded
            #expect(events.map(\.alarm) == [alarm] && events.map(\.isRaised) == [nil])
        }
    }

    @Test("what was said, answered or taken back before a finding is handled counts, however late that is (A4)")
    func handledLate() throws {
        var start = try Scene()
        let (ping, found) = (start.ping(start.ben), start.household.time)
        start.household.pass(.minutes(25))
        let ended: [(inout Scene) throws -> Void] = [
            { try $0.household.ask($0.anna, CheckIn()) },
            { scene in
                try scene.household.ask(scene.anna, RaiseAlert())
                try scene.household.ask(scene.anna, ClearAlert())
            },
            { try $0.end(ping, answered: $0.household.time) },
            { try $0.takeBack(ping) },
        ]
        for end in ended {
            var scene = start
            try end(&scene)
            scene.household.pass(.minutes(10))
            scene.household.rows.clock = scene.household.time
            let raise = RaiseUnansweredAlert(account: scene.anna, pings: [ping], found: found)
            let events = try scene.household.ask(nil, raise, recordedAt: found)
            #expect(events.discarded.map(\.pings) == [[ping]] && events.count == 1)
            #expect(scene.state.alertRaised == nil)
            // Another one of his is news.
            _ = try scene.raise(scene.ping(scene.ben, .minutes(1))).first(as: AlertRaised.self)
        }
        // The rules' time is far ahead, and so was the clock when she checked in.
        start.household.pass(.days(1))
        try start.household.ask(start.anna, CheckIn())
        start.household.rows.clock = found + .minutes(1)
        let raise = RaiseUnansweredAlert(account: start.anna, pings: [ping], found: found)
        _ = try start.household.ask(nil, raise, recordedAt: found).first(as: AlertRaised.self)
    }

    @Test("what she said while the clock was ahead hides nothing that she says since (A4)")
    func saidSince() throws {
        var start = try Scene()
        let now = start.household.time
        // The rules' time stays ahead, and check-ins are made up for.
        start.household.rows.limits.checkInCooldown = .seconds(0)
        start.household.pass(.days(1))
        for isCheckIn in [true, false] {
            var scene = start
            func say(at time: Instant) throws {
                if isCheckIn {
                    try scene.household.ask(scene.anna, CheckIn(), recordedAt: time)
                } else {
                    try scene.household.ask(
                        nil, EndUnansweredAlert(account: scene.anna, pings: [], answered: time), recordedAt: time)
                }
            }
            try say(at: now + .hours(20))
            scene.household.pass(.minutes(30))
            try say(at: now + .minutes(30))
            func raise(_ sent: Instant) throws -> [SessionEvent] {
                let ping = UnansweredPing(contact: scene.ben, sent: sent)
                let found = now + .minutes(50)
                return try scene.household.ask(
                    nil, RaiseUnansweredAlert(account: scene.anna, pings: [ping], found: found), recordedAt: found)
            }
            #expect(try raise(now + .minutes(20)).discarded.count == 1 && scene.state.alertRaised == nil)
            _ = try raise(now + .minutes(31)).first(as: AlertRaised.self)
        }
    }

    @Test("what was said or known by a clock that was ahead discards no ping (A4)")
    func clockAhead() throws {
        let start = try Scene()
        let ahead = start.household.time + .days(1)
        let ping = start.ping(start.ben)
        func raises(_ change: (inout AccountRow) -> Void) throws -> Bool {
            var scene = start
            var row = try #require(scene.household.rows[scene.anna])
            change(&row)
            scene.household.rows[scene.anna] = row
            return try scene.raise(ping).contains { $0.body is AlertRaised }
        }
        #expect(try raises { $0.checkIn.last = ahead })
        #expect(try raises { $0.unanswered = UnansweredRow.with { $0.said = ahead } })
        let known = UnansweredPing(contact: start.ben, sent: ahead)
        #expect(try raises { $0.unanswered = UnansweredRow.with { $0.over = [known] } })
        // The same ping counts once, whatever its clock said.
        let same = UnansweredPing(contact: start.ben, sent: ping.sent, recorded: ahead)
        #expect(try !raises { $0.unanswered = UnansweredRow.with { $0.over = [same] } })
    }

    @Test("an all-clear and an arrival answer what was asked before, and nothing later (A4)")
    func allRight() throws {
        func expect(_ said: (inout Scene) throws -> Void) throws {
            var scene = try Scene()
            let early = scene.ping(scene.ben, .minutes(1))
            try said(&scene)
            #expect(scene.state.alertRaised == nil)
            scene.household.pass(.minutes(30))
            #expect(try scene.isDiscarded(early) && scene.state.alertRaised == nil)
            _ = try scene.raise(scene.ping(scene.cleo, .minutes(29))).first(as: AlertRaised.self)
        }
        try expect { scene in
            try scene.household.ask(scene.anna, RaiseAlert())
            let cleared = try scene.household.ask(scene.anna, ClearAlert()).first(as: AlertCleared.self)
            #expect(cleared.said == scene.household.time)
        }
        try expect { scene in
            try scene.household.ask(
                scene.anna,
                StartTrip(name: "Lake", eta: scene.household.time + .hours(1)))
            let trip = try #require(scene.state.trip?.id)
            let ended = try scene.household.ask(scene.anna, EndTrip(trip: trip, end: .arrived))
                .first(as: TripEnded.self)
            #expect(ended.said == scene.household.time)
        }
        // Who gives up a trip says nothing of how they are.
        var scene = try Scene()
        try scene.household.ask(
            scene.anna, StartTrip(name: "Lake", eta: scene.household.time + .hours(1)))
        let trip = try #require(scene.state.trip?.id)
        let ended = try scene.household.ask(scene.anna, EndTrip(trip: trip, end: .cancelled)).first(as: TripEnded.self)
        #expect(ended.said == nil)
        _ = try scene.raise(scene.ping(scene.ben, .minutes(1))).first(as: AlertRaised.self)
    }

    @Test("a trip and a ping are no call for help, and their alert ends when both are answered (A4, A7)")
    func tripToo() throws {
        for isPingFirst in [true, false] {
            for isArrivalFirst in [true, false] {
                var scene = try Scene()
                let ping = scene.ping(scene.ben, .minutes(1))
                if isPingFirst { try scene.raise(ping) }
                try scene.missTrip()
                if !isPingFirst { try scene.raise(ping) }
                #expect(scene.state.unanswered?.isCalled == nil && scene.state.trip?.isCalled == nil)
                #expect(scene.state.trip?.alarm == scene.state.alertAlarm && scene.state.unanswered?.pings == [ping])
                let trip = try #require(scene.state.trip?.id)
                let late = scene.household.time
                let newer = UnansweredPing(contact: scene.cleo, sent: late + .minutes(1))
                scene.household.pass(.minutes(31))
                try scene.raise(newer)
                if isArrivalFirst {
                    // From before Cleo asked.
                    let arrival = EndTrip(trip: trip, end: .arrived, pressed: newer.sent - .seconds(1))
                    #expect(try scene.household.rejection(scene.anna, arrival) == nil)
                    #expect(scene.state.unanswered?.pings == [newer] && scene.state.trip == nil)
                    #expect(scene.state.alertRaised != nil)
                    try scene.end(newer)
                } else {
                    try scene.end(ping, newer)
                    #expect(scene.state.unanswered == nil && scene.state.trip?.isItsAlert == true)
                    #expect(scene.state.alertRaised != nil)
                    try scene.household.ask(scene.anna, EndTrip(trip: trip, end: .arrived))
                }
                #expect(scene.state.alertRaised == nil && scene.state.trip == nil)
            }
        }
        // By hand it is one.
        var scene = try Scene()
        let ping = scene.ping(scene.ben, .minutes(1))
        try scene.raise(ping)
        try scene.missTrip()
        try scene.household.ask(scene.anna, RaiseAlert(pressed: scene.household.time))
        #expect(scene.state.unanswered?.isCalled == true && scene.state.trip?.isCalled == true)
        try scene.end(ping)
        #expect(scene.state.unanswered == nil && scene.state.alertRaised != nil)
    }

    @Test("what waits is dropped when it is taken back, and isn't brought back by the timer; an alert goes on (A4)")
    func takenBack() throws {
        var scene = try Scene()
        let ping = scene.ping(scene.ben)
        scene.household.rows.waitingCheckIns = [
            scene.anna: WaitingCommand(recordedAt: scene.household.time, seenAt: scene.household.time)
        ]
        try scene.raise(ping)
        let timer = try #require(
            scene.household.rows.wantedTimers(of: scene.anna).first { $0.command.body is RaiseUnansweredAlert })
        scene.household.rows.waitingCheckIns = [:]
        var raised = scene
        try scene.takeBack(ping)
        // The timer's command is on its way already.
        #expect(try scene.household.ask(nil, timer.command.body).isEmpty && scene.state.alertRaised == nil)
        _ = try raised.household.ask(nil, timer.command.body).first(as: AlertRaised.self)
        #expect(try raised.takeBack(ping).isEmpty && raised.state.unanswered?.pings == [ping])
    }

    @Test("before and after is told by the clock, of which the rules' time may be far ahead (A4)")
    func clock() throws {
        var scene = try Scene()
        try scene.household.ask(scene.anna, CheckIn())
        let checkedIn = scene.household.time
        // Contacts' time is an hour ahead: the ping was sent before the check-in.
        let before = UnansweredPing(
            contact: scene.ben, sent: checkedIn + .minutes(59), recorded: checkedIn - .minutes(1))
        let after = UnansweredPing(
            contact: scene.ben, sent: checkedIn - .minutes(59), recorded: checkedIn + .minutes(1))
        scene.household.pass(.hours(2))
        #expect(try scene.isDiscarded(before))
        _ = try scene.raise(after).first(as: AlertRaised.self)
    }

    @Test("a check-in made after the pings ends it, also within the cooldown; they don't count after one (A4)")
    func checkIn() throws {
        var scene = try Scene()
        try scene.raise(scene.ping(scene.ben))
        let events = try scene.household.ask(scene.anna, CheckIn())
        #expect(events.contains { $0.body is AlertCleared } && scene.state.alertRaised == nil)
        // Pings that were sent before it raise nothing any more.
        scene.household.pass(.minutes(1))
        let early = scene.ping(scene.ben)
        #expect(try scene.isDiscarded(early))
        let ping = scene.ping(scene.ben, .seconds(30))
        try scene.raise(ping)
        #expect(scene.state.unanswered?.pings == [ping])
        try scene.household.ask(scene.anna, CheckIn())
        #expect(scene.state.alertRaised == nil)
    }

    @Test("help that is asked for by hand isn't ended by an answer; only the end of the alert ends it (A4)")
    func byHand() throws {
        var scene = try Scene()
        try scene.raise(scene.ping(scene.ben))
        scene.household.pass(.minutes(1))
        try scene.household.ask(scene.anna, RaiseAlert(pressed: scene.household.time))
        #expect(scene.state.unanswered?.isCalled == true)
        scene.household.pass(.minutes(1))
        try scene.household.ask(scene.anna, CheckIn())
        #expect(scene.state.alertRaised != nil && scene.state.unanswered == nil)
        try scene.household.ask(scene.anna, ClearAlert())
        #expect(scene.state.unanswered == nil && scene.state.alertRaised == nil)
    }

    @Test("while an alert is on, pings are added to it, and what was answered before holds nothing back any more (A4)")
    func joins() throws {
        var scene = try Scene()
        try scene.household.ask(scene.anna, RaiseAlert())
        let alarm = try #require(scene.state.alertAlarm)
        let time = scene.household.time
        let hold = AnswerHold(until: nil, safeUntil: time + .days(1), safeSince: time, closes: time + .days(1))
        try scene.household.ask(
            nil, HoldAlarm(account: scene.anna, alarm: alarm, kind: .alertRaised, hold: hold, version: 1))
        scene.household.pass(.minutes(50))
        let ping = scene.ping(scene.ben)
        let again = try scene.raise(ping).first(as: AlertRaisedAgain.self)
        #expect(again.pings == [ping] && again.alarm == alarm)
        #expect(scene.state.unanswered == UnansweredPings(alarm: alarm, pings: [ping], isCalled: true))
        let before = scene.household.log.count
        try scene.household.run(.hours(1), of: scene.anna)
        #expect(scene.household.log.dropFirst(before).contains { $0.event.body is AlarmRepeated })
        // It was raised by hand: no answer ends it. The same ping is told once.
        #expect(try scene.isDiscarded(ping))
        _ = try scene.end(ping).first(as: UnansweredPingsDropped.self)
        #expect(scene.state.alertRaised != nil && scene.state.unanswered == nil)
    }

    @Test("a check-in that waits holds it back for a minute at most; one from before the ping doesn't (A4)")
    func held() throws {
        let start = try Scene()
        let ping = start.ping(start.ben)
        func raised(_ recorded: Instant) throws -> Int {
            var scene = start
            let due = scene.household.time
            for second in 0..<90 {
                scene.household.time = due + .seconds(Int64(second))
                scene.household.rows.waitingCheckIns = [
                    scene.anna: WaitingCommand(recordedAt: recorded, seenAt: scene.household.time)
                ]
                if second == 0 {
                    try scene.raise(ping)
                } else {
                    let timers = scene.household.rows.wantedTimers(of: scene.anna)
                    if let timer = timers.first(where: { $0.command.body is RaiseUnansweredAlert }) {
                        #expect(timer.due <= scene.household.time)
                        try scene.household.ask(nil, timer.command.body)
                    }
                }
                if scene.state.alertRaised != nil { return second }
            }
            return 90
        }
        #expect(try raised(start.household.time) == 60)
        #expect(try raised(ping.sent - .seconds(1)) == 0)
        #expect(try raised(start.household.time + .seconds(1)) == 0)
        // What is answered meanwhile raises nothing.
        var answered = start
        answered.household.rows.waitingCheckIns = [
            start.anna: WaitingCommand(recordedAt: start.household.time, seenAt: start.household.time)
        ]
        try answered.raise(ping)
        try answered.end(ping)
        answered.household.rows.waitingCheckIns = [:]
        try answered.household.run(.minutes(5), of: answered.anna)
        #expect(answered.state.alertRaised == nil)
    }
}

extension [SessionEvent] {
    /// What contacts is told of pings of which nothing came: they go after what came of others.
    fileprivate var discarded: [UnansweredPingsDiscarded] { compactMap { $0.body as? UnansweredPingsDiscarded } }
}

extension UnansweredRow {
    fileprivate static func with(_ change: (inout Self) -> Void) -> Self {
        var row = Self()
        change(&row)
        return row
    }
}
