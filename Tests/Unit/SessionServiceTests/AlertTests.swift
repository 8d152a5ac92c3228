import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: alerts that are raised again and again")
struct AlertTests {
    @Test(
        """
        responders hear of the first three alerts in ten minutes at once, of later ones after a minute if still on, \
        and of no end without its beginning (S34)
        """)
    func flood() throws {
        var household = Household()
        let anna = try household.person()
        for round in 0..<3 {
            #expect(try household.raise(anna).waitsUntil == nil, "\(round)")
            #expect(try household.clear(anna).wasAnnounced)
            household.pass(.seconds(1))
        }
        // The fourth changes the state at once, and ends unheard.
        let fourth = try household.raise(anna)
        #expect(fourth.waitsUntil == household.time + .seconds(60))
        #expect(household.state(anna).alertRaised == household.time)
        household.pass(.seconds(1))
        #expect(try !household.clear(anna).wasAnnounced)
        #expect(household.state(anna).alertRaised == nil)

        // One that stays on is announced when it is due, once, and then repeated like any other.
        let last = try household.raise(anna)
        let timer = try #require(household.rows.wantedTimers(of: anna).first)
        #expect(timer.due == last.waitsUntil)
        #expect(try household.rejection(nil, timer.command.body) == .notDue)
        try household.run(.minutes(5), of: anna)
        let announced = household.log.filter { if case .alertAnnounced = $0.event { true } else { false } }
        #expect(announced.map(\.at) == [try #require(last.waitsUntil)])
        #expect(try household.ask(nil, timer.command.body).isEmpty)
        try household.run(.hours(1), of: anna)
        #expect(household.log.contains { if case .alarmRepeated = $0.event { true } else { false } })
        #expect(try household.clear(anna).wasAnnounced)

        // Ten minutes after the first, the next three are heard of at once again.
        #expect(try household.raise(anna).waitsUntil == nil)
    }

    @Test("however often an alert goes on and off, announcements are few and end with the newest state (S34)")
    func newestState() async throws {
        try await withRandom { random in
            for _ in 0..<50 {
                var household = Household(seed: random.next())
                let anna = try household.person()
                for _ in 0..<60 {
                    let command: any CommandBody =
                        random.oneIn(2) ? RaiseAlert() : ClearAlert()
                    try household.ask(anna, command)
                    try household.run(.seconds(Int64.random(in: 0...40, using: &random)), of: anna)
                }
                try household.run(.seconds(60), of: anna)
                var heard: AlarmID?
                var beginnings: [Instant] = []
                for (at, event) in household.log {
                    switch event {
                    case .alertRaised(let event) where event.waitsUntil == nil: heard = event.alarm
                    case .alertAnnounced(let event): heard = event.alarm
                    case .alertCleared(let event) where event.wasAnnounced:
                        try #require(heard == event.alarm)
                        heard = nil
                        continue
                    default: continue
                    }
                    beginnings.append(at)
                }
                try #require(heard == household.rows[anna]?.alert.alarm)
                for begun in beginnings {
                    let soon = beginnings.filter { (begun...(begun + .minutes(10))).contains($0) }
                    // Two windows' worth at once, and one a minute.
                    try #require(soon.count <= 6 + 10)
                }
            }
        }
    }

    @Test("an all-clear ends the alert that it is about, and none that was raised, or raised again, after it (S34)")
    func meant() throws {
        var household = Household()
        let anna = try household.person()
        let first = try household.raise(anna).alarm
        let early = household.time
        household.pass(.minutes(1))
        // Without one there is nothing to be wrong about, also where it says which.
        try household.ask(anna, ClearAlert(alarm: first, pressed: early))
        #expect(try household.ask(anna, ClearAlert(alarm: first, pressed: early)).isEmpty)
        household.pass(.minutes(1))

        let second = try household.raise(anna).alarm
        for late in [
            ClearAlert(alarm: first), ClearAlert(pressed: early), ClearAlert(alarm: first, pressed: early),
            // It names another one, however late.
            ClearAlert(alarm: first, pressed: household.time + .hours(1)),
        ] {
            #expect(try household.rejection(anna, late) == .alertChanged)
        }
        #expect(household.state(anna).alertAlarm == second)
        #expect(household.rows[anna]?.alert.repetitions == 0)
        // A clock that is wrong doesn't matter to who saw it.
        try household.ask(anna, ClearAlert(alarm: second, pressed: early))
        #expect(household.state(anna).alertRaised == nil)
        // Left out, it means what it did.
        try household.raise(anna)
        try household.ask(anna, ClearAlert())
        #expect(household.state(anna).alertRaised == nil)
    }

    @Test("one's own call for help can be taken back before one knows of it, however late it arrives (S34)")
    func own() throws {
        var household = Household()
        let anna = try household.person()
        let (pressed, over) = (household.time, household.time + .seconds(1))
        household.pass(.minutes(3))
        try household.ask(anna, RaiseAlert(pressed: pressed))
        try household.ask(anna, ClearAlert(pressed: over))
        #expect(household.state(anna).alertRaised == nil)

        // Pressed again while it is on, it is newer than that, also where the alarm is the same.
        let alarm = try household.ask(anna, RaiseAlert(pressed: pressed)).first(as: AlertRaised.self).alarm
        let between = household.time + .minutes(1)
        household.pass(.minutes(2))
        try household.ask(anna, RaiseAlert(pressed: household.time))
        // What arrives a second time is no older.
        #expect(try household.ask(anna, RaiseAlert(pressed: pressed)).isEmpty)
        for late in [ClearAlert(alarm: alarm, pressed: between), ClearAlert(pressed: between)] {
            #expect(try household.rejection(anna, late) == .alertChanged)
        }
        // Who saw it may know the time a little worse than who asked for help.
        try household.ask(anna, ClearAlert(alarm: alarm, pressed: household.time - .seconds(1)))
        // The next one doesn't count from before.
        let next = household.time + .minutes(10)
        try household.raise(anna)
        #expect(household.rows[anna]?.alert.pressed == nil)
        try household.ask(anna, ClearAlert(pressed: next))

        // A clock that is far off counts as far as a call for help may be sent late.
        for (pressed, counted) in [
            (Instant(microseconds: .max), household.time), (Instant(microseconds: .min), household.time - .days(1)),
        ] {
            try household.ask(anna, RaiseAlert(pressed: pressed))
            #expect(household.rows[anna]?.alert.pressed == counted)
            try household.ask(anna, ClearAlert())
        }
    }

    @Test(
        "a call for help that comes a minute late or more says when it was made and received, whenever others hear of it (S34)"
    )
    func late() throws {
        for (delay, isLate) in [(Interval.seconds(59), false), (.minutes(1), true)] {
            var household = Household()
            let anna = try household.person()
            var begun = 0
            /// Calls for help now, which the server has later. Returns what people see of it.
            func call() throws -> LateCall? {
                let pressed = household.time
                household.pass(delay)
                begun = household.log.count
                try household.ask(anna, RaiseAlert(pressed: pressed))
                let call = LateCall(pressed: pressed, received: household.time)
                #expect((call != nil) == isLate)
                #expect(household.state(anna).lateCall == call && household.replicas[anna]?.lateCall == call)
                return call
            }
            func heard<Body: EventBody>(_ type: Body.Type) -> [Body] {
                household.log.dropFirst(begun).compactMap { $0.event.body as? Body }
            }
            let first = try call()
            #expect(heard(AlertRaised.self).map(\.lateCall) == [first])
            try household.run(.hours(2), of: anna)
            #expect(!heard(AlarmRepeated.self).isEmpty)
            #expect(heard(AlarmRepeated.self).allSatisfy { $0.lateCall == first })
            // Of several the newest.
            let second = try call()
            #expect(heard(AlertRaisedAgain.self).map(\.lateCall) == [second])
            try household.run(.hours(2), of: anna)
            #expect(!heard(AlarmRepeated.self).isEmpty)
            #expect(heard(AlarmRepeated.self).allSatisfy { $0.lateCall == second })
            // A newer one in time is told as what it is, with nothing of the late ones.
            begun = household.log.count
            try household.ask(anna, RaiseAlert(pressed: household.time))
            #expect(heard(AlertRaisedAgain.self).map(\.lateCall) == [nil])
            #expect(household.state(anna).lateCall == nil && household.replicas[anna]?.lateCall == nil)
            try household.run(.hours(2), of: anna)
            #expect(!heard(AlarmRepeated.self).isEmpty)
            #expect(heard(AlarmRepeated.self).allSatisfy { $0.lateCall == nil })
            let third = try call()
            #expect(heard(AlertRaisedAgain.self).map(\.lateCall) == [third])
            // A process of an earlier release raises the next one without changing it.
            var older = household
            let next: AlarmID = older.id()
            older.rows[anna]?.alert.alarm = next
            #expect(older.state(anna).lateCall == nil)
            try household.ask(anna, ClearAlert())
            #expect(household.state(anna).lateCall == nil && household.replicas[anna]?.lateCall == nil)
            try household.raise(anna)
            #expect(household.state(anna).lateCall == nil && household.replicas[anna]?.lateCall == nil)
        }
    }

    @Test("a time at which nobody can have called for help is shown to nobody, also once the alert has waited (S34)")
    func impossible() throws {
        for (ago, isShown) in [
            (RaiseAlert.sending.lifetime, true), (.minutes(24 * 60 + 1), false), (.seconds(-1), false),
        ] {
            var household = Household()
            household.rows.limits.alertBurst = 0
            let anna = try household.person()
            let pressed = household.time - ago
            let call = isShown ? LateCall(pressed: pressed, received: household.time) : nil
            let raised = try household.ask(anna, RaiseAlert(pressed: pressed)).first(as: AlertRaised.self)
            #expect(raised.waitsUntil != nil && raised.lateCall == call && (call != nil) == isShown)
            try household.run(.minutes(2), of: anna)
            let announced = household.log.compactMap { $0.event.body as? AlertAnnounced }
            #expect(announced.map(\.lateCall) == [call])
        }
    }

    @Test("neither the time that a call for help waits in the server nor a clock that was ahead makes it late (S34)")
    func waited() throws {
        for (isOn, isLate) in [(false, false), (false, true), (true, false), (true, true)] {
            var household = Household()
            let anna = try household.person()
            if isOn { try household.raise(anna) }
            household.pass(.hours(1))
            let recorded = household.time - .minutes(5)
            let pressed = isLate ? recorded - .minutes(2) : recorded
            let events = try household.ask(anna, RaiseAlert(pressed: pressed), recordedAt: recorded)
            let call = isLate ? LateCall(pressed: pressed, received: recorded) : nil
            let told = events.map {
                isOn ? ($0.body as? AlertRaisedAgain)?.lateCall : ($0.body as? AlertRaised)?.lateCall
            }
            #expect(told == [call] && (call != nil) == isLate)
            #expect(household.state(anna).lateCall == call)
        }
    }

    @Test(
        """
        of whoever calls for help again while an alert is on, responders hear again as they did at first: at once, but not \
        more than every half an hour (S34)
        """
    )
    func again() throws {
        var household = Household()
        let anna = try household.person()
        /// Soon after one another, not every six hours.
        func repeated() -> Int {
            household.log.count {
                guard case .alarmRepeated(let event) = $0.event else { return false }
                return event.kind == .alertRaised && event.isSlow == nil
            }
        }
        let first = household.time
        try household.ask(anna, RaiseAlert(pressed: first))
        try household.run(.hours(20), of: anna)
        #expect(repeated() == 3)
        // A copy of the first call says nothing new.
        try household.ask(anna, RaiseAlert(pressed: first))
        try household.run(.hours(1), of: anna)
        #expect(repeated() == 3)
        for _ in 0..<5 {
            household.pass(.seconds(1))
            let events = try household.ask(anna, RaiseAlert(pressed: household.time))
            #expect(try events.first(as: AlertRaisedAgain.self).pressed == household.time)
        }
        try household.run(.minutes(1), of: anna)
        #expect(repeated() == 4)
        household.pass(.seconds(1))
        try household.ask(anna, RaiseAlert(pressed: household.time))
        try household.run(.minutes(25), of: anna)
        #expect(repeated() == 4)
        try household.run(.hours(3), of: anna)
        #expect(repeated() == 7)

        // One that was wanted before she called again is none of those that follow.
        household.pass(.hours(1))
        try household.ask(anna, RaiseAlert(pressed: household.time))
        let alarm = try #require(household.rows[anna]?.alert.alarm)
        let late = RepeatAlarm(account: anna, alarm: alarm, kind: .alertRaised, repetition: 3)
        #expect(try household.ask(nil, late).isEmpty)
        try household.run(.hours(3), of: anna)
        #expect(repeated() == 10)
    }

    @Test("the least interval, the pauses and the repetitions can be set")
    func limits() throws {
        var household = Household()
        household.rows.limits.leastCheckInInterval = .seconds(10)
        household.rows.limits.checkInCooldown = .seconds(1)
        household.rows.limits.repetitions = 1
        household.rows.limits.repetitionInterval = .seconds(5)
        let anna = try household.person()
        #expect(try household.rejection(anna, SetCheckInInterval(interval: .seconds(9))) == .invalidField)
        try household.ask(anna, SetCheckInInterval(interval: .seconds(10)))
        try household.ask(anna, CheckIn())
        #expect(try household.rejection(anna, CheckIn()) == .tooSoon)
        household.pass(.seconds(1))
        try household.ask(anna, CheckIn())
        try household.run(.minutes(1), of: anna)
        let repeated = household.log.compactMap { emission -> AlarmRepeated? in
            if case .alarmRepeated(let event) = emission.event { event } else { nil }
        }
        // One soon, and the first of those that come every six hours.
        #expect(household.state(anna).checkIn.missed && repeated.map(\.isSlow) == [nil, true])
    }
}

extension Household {
    @discardableResult
    fileprivate mutating func raise(_ account: AccountID) throws -> AlertRaised {
        let events = try ask(account, RaiseAlert())
        let event = try events.first(as: AlertRaised.self)
        return event
    }

    fileprivate mutating func clear(_ account: AccountID) throws -> AlertCleared {
        let events = try ask(account, ClearAlert())
        let event = try events.first(as: AlertCleared.self)
        return event
    }
}
