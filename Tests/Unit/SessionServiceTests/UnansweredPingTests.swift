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

        @discardableResult
        mutating func end(_ contacts: AccountID...) throws -> [SessionEvent] {
            try household.ask(nil, EndUnansweredAlert(account: anna, contacts: contacts))
        }

        var state: AccountState { household.state(anna) }
    }

    @Test("it is an alert that says which pings, is repeated, and ends by an answer of one of its senders (A4)")
    func raised() throws {
        var scene = try Scene()
        let pings = [scene.ping(scene.ben), scene.ping(scene.cleo)].sorted { $0.contact < $1.contact }
        let raised = try scene.raise(pings[0], pings[1]).first(as: AlertRaised.self)
        #expect(raised.pings == pings && raised.waitsUntil == nil)
        #expect(scene.state.unanswered == UnansweredPings(alarm: raised.alarm, pings: pings))
        #expect(scene.state.alertAlarm == raised.alarm)
        try scene.household.run(.hours(1), of: scene.anna)
        let repeated = scene.household.log.compactMap { $0.event.body as? AlarmRepeated }
        #expect(!repeated.isEmpty && repeated.allSatisfy { $0.ping == pings[0] })
        #expect(try scene.end(scene.household.id()).isEmpty)
        #expect(try scene.end(scene.cleo).first(as: AlertCleared.self).wasAnnounced)
        #expect(scene.state.unanswered == nil && scene.state.alertRaised == nil)
        #expect(try scene.end(scene.cleo).isEmpty)
    }

    @Test("a check-in made after the pings ends it, also within the cooldown; they don't count after one (A4)")
    func checkIn() throws {
        var scene = try Scene()
        try scene.raise(scene.ping(scene.ben))
        let events = try scene.household.ask(scene.anna, CheckIn())
        #expect(events.contains { $0.body is AlertCleared } && scene.state.alertRaised == nil)
        // Pings that were sent before it raise nothing any more.
        scene.household.pass(.minutes(1))
        #expect(try scene.raise(scene.ping(scene.ben)).isEmpty)
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
        #expect(try scene.end(scene.ben).isEmpty && scene.state.alertRaised != nil)
        try scene.household.ask(scene.anna, CheckIn())
        #expect(scene.state.alertRaised != nil)
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
        #expect(try scene.end(scene.ben).isEmpty && scene.state.alertRaised != nil)
        #expect(try scene.raise(ping).isEmpty)
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
        try answered.end(answered.ben)
        answered.household.rows.waitingCheckIns = [:]
        try answered.household.run(.minutes(5), of: answered.anna)
        #expect(answered.state.alertRaised == nil)
    }
}
