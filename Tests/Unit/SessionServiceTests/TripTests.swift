import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: trips")
struct TripTests {
    /// Somebody on a trip of two hours.
    static func away(
        grace: Interval? = nil, for length: Interval = .hours(2)
    ) throws -> (Household, AccountID, TripState) {
        var household = Household()
        let anna = try household.person()
        let start = StartTrip(name: "Lake", eta: household.time + length, note: "The blue car", grace: grace)
        let trip = try household.ask(anna, start).first(as: TripStarted.self).trip
        return (household, anna, trip)
    }

    private static func names(_ household: Household, from start: Int = 0) -> [String] {
        household.log.dropFirst(start).map { type(of: $0.event.body).type }
    }

    private static func miss(_ household: Household, _ anna: AccountID) throws -> MissTrip {
        let timers = household.rows.wantedTimers(of: anna).compactMap { $0.command.body as? MissTrip }
        return try #require(timers.first)
    }

    @Test("a reminder comes a quarter of an hour before, or a quarter of the way; then others are told (A7)")
    func missed() throws {
        for (length, lead) in [(Interval.hours(2), Interval.minutes(15)), (.minutes(20), .minutes(5))] {
            var (household, anna, trip) = try Self.away(for: length)
            let begun = household.log.count
            try household.run(Interval(microseconds: length.microseconds - lead.microseconds), of: anna)
            #expect(Self.names(household, from: begun) == ["TripReminded"])
            #expect(household.log.last?.at == trip.eta - lead)
            let reminded = household.log.last?.at
            try household.run(lead, of: anna)
            let raised = try #require(household.log.last?.event.body as? AlertRaised)
            #expect(raised.trip == MissedTrip(trip: trip.id, eta: trip.eta, reminded: reminded))
            #expect(raised.waitsUntil == nil && household.log.last?.at == trip.eta)
            let state = household.state(anna)
            #expect(state.alertAlarm == raised.alarm && state.trip?.alarm == raised.alarm)
            try household.run(.hours(9), of: anna)
            let repeated = household.log.compactMap { $0.event.body as? AlarmRepeated }
            #expect(repeated.count == 5 && repeated.allSatisfy { $0.eta == trip.eta && $0.alarm == raised.alarm })
        }
    }

    @Test("with a grace only the person is told first, and arriving within it is nobody's business (A7)")
    func grace() throws {
        var (household, anna, trip) = try Self.away(grace: .minutes(10))
        try household.run(.hours(2), of: anna)
        let began = try #require((household.log.last?.event).flatMap { $0.body as? TripGraceBegan })
        #expect(began.ends == trip.eta + .minutes(10) && household.state(anna).trip?.graceEnds == began.ends)
        var late = household
        try household.run(.minutes(9), of: anna)
        let ended = try household.ask(anna, EndTrip(trip: trip.id, end: .arrived)).first(as: TripEnded.self)
        #expect(ended.eta == trip.eta && household.state(anna).trip == nil)
        try household.run(.hours(20), of: anna)
        #expect(!Self.names(household).contains("AlertRaised"))

        try late.run(.minutes(10), of: anna)
        let raised = try #require(late.log.last?.event.body as? AlertRaised)
        #expect(raised.trip?.eta == trip.eta && late.log.last?.at == began.ends)
    }

    @Test("arriving after all gives the all-clear, once, unless the person has called by hand since (A7)")
    func arrived() throws {
        for end in TripEnd.allCases {
            for isCalled in [false, true] {
                var (household, anna, trip) = try Self.away()
                try household.run(.hours(2), of: anna)
                household.pass(.minutes(1))
                if isCalled {
                    let again = try household.ask(anna, RaiseAlert(pressed: household.time))
                    #expect(try again.first(as: AlertRaisedAgain.self).trip == nil)
                    #expect(household.state(anna).trip?.isItsAlert == false)
                    var other = household
                    try other.run(.hours(1), of: anna)
                    let repeated = other.log.compactMap { $0.event.body as? AlarmRepeated }
                    #expect(!repeated.isEmpty && repeated.allSatisfy { $0.eta == nil }, "it is no late arrival")
                }
                household.pass(.minutes(1))
                let ended = EndTrip(trip: trip.id, end: end)
                if isCalled {
                    #expect(try household.rejection(anna, ended) == .alertChanged)
                    #expect(household.state(anna).trip?.note == "The blue car")
                    try household.ask(anna, ClearAlert(pressed: household.time))
                } else {
                    let events = try household.ask(anna, ended)
                    #expect(events.map { type(of: $0.body).type } == ["TripEnded", "AlertCleared"])
                }
                #expect(household.state(anna).trip == nil && household.state(anna).alertRaised == nil)
                #expect(try household.ask(anna, ended).isEmpty)
            }
        }
    }

    @Test("a call for help that was pressed before the trip was missed, and comes after, is told at once (A7)")
    func pressedBefore() throws {
        var (household, anna, _) = try Self.away()
        let pressed = household.time + .minutes(119)
        try household.run(.hours(2), of: anna)
        let again = try household.ask(anna, RaiseAlert(pressed: pressed)).first(as: AlertRaisedAgain.self)
        #expect(again.pressed > pressed && household.state(anna).trip?.isCalled == true)
        let call = LateCall(pressed: pressed, received: household.time)
        #expect(call != nil && again.lateCall == call && household.state(anna).lateCall == call)
        try household.run(.hours(1), of: anna)
        #expect((household.log.last?.event.body as? AlarmRepeated)?.lateCall == call)
        // An app of an earlier release doesn't say when.
        var (other, ben, _) = try Self.away()
        try other.run(.hours(2), of: ben)
        other.pass(.seconds(1))
        #expect(try other.ask(ben, RaiseAlert()).count == 1 && other.state(ben).trip?.isCalled == true)
    }

    @Test("a trip that is found missed late is no late call for help, also once there is a call (A7, S34)")
    func noCall() throws {
        var (household, anna, trip) = try Self.away()
        let miss = try Self.miss(household, anna)
        household.pass(.minutes(123))
        let raised = try household.ask(nil, miss, recordedAt: trip.eta).first(as: AlertRaised.self)
        #expect(raised.trip?.trip == trip.id && raised.lateCall == nil && household.state(anna).lateCall == nil)
        household.pass(.minutes(20))
        let again = try household.ask(anna, RaiseAlert(pressed: household.time)).first(as: AlertRaisedAgain.self)
        #expect(again.lateCall == nil && household.state(anna).lateCall == nil)
        try household.run(.hours(2), of: anna)
        let repeated = household.log.compactMap { $0.event.body as? AlarmRepeated }
        #expect(!repeated.isEmpty && repeated.allSatisfy { $0.lateCall == nil })
    }

    @Test("missed while an alert is on, it calls again; the alert's end ends it (A7)")
    func alerted() throws {
        var (household, anna, trip) = try Self.away()
        let alarm = try household.ask(anna, RaiseAlert()).first(as: AlertRaised.self).alarm
        try household.run(.hours(2), of: anna)
        let again = household.log.compactMap { $0.event.body as? AlertRaisedAgain }
        #expect(again.map(\.trip?.trip) == [trip.id] && again.first?.alarm == alarm)
        #expect(household.state(anna).trip?.isCalled == true && household.state(anna).trip?.alarm == alarm)
        let arrived = EndTrip(trip: trip.id, end: .arrived)
        #expect(try household.rejection(anna, arrived) == .alertChanged, "the alert is the person's own")
        try household.ask(anna, ClearAlert(alarm: alarm))
        #expect(household.state(anna).trip == nil)
        try household.ask(anna, StartTrip(name: "Back", eta: household.time + .hours(1)))
    }

    @Test("an alert that goes on and off leaves a trip that isn't missed alone (A7)")
    func toggled() throws {
        var (household, anna, trip) = try Self.away()
        try household.ask(anna, RaiseAlert())
        try household.ask(anna, ClearAlert())
        #expect(household.state(anna).trip?.id == trip.id)
        try household.run(.hours(2), of: anna)
        #expect(household.state(anna).trip?.alarm != nil)
        // Clearing by hand ends the alarm and the trip.
        try household.ask(anna, ClearAlert())
        #expect(household.state(anna).trip == nil && household.state(anna).alertRaised == nil)
    }

    @Test("moved, it counts from then on; missed, it can't be moved any more (A7)")
    func moved() throws {
        var (household, anna, trip) = try Self.away(grace: .minutes(30))
        try household.run(.minutes(130), of: anna)
        let moved = try household.ask(anna, ExtendTrip(trip: trip.id, eta: household.time + .hours(1)))
        let extended = try moved.first(as: TripExtended.self)
        #expect(extended.former == trip.eta && household.state(anna).trip?.graceEnds == nil)
        #expect(try household.ask(anna, ExtendTrip(trip: trip.id, eta: household.time + .hours(1))).isEmpty)
        let begun = household.log.count
        try household.run(.minutes(90), of: anna)
        #expect(Self.names(household, from: begun) == ["TripReminded", "TripGraceBegan", "AlertRaised"])
        let rejected = try household.rejection(anna, ExtendTrip(trip: trip.id, eta: household.time + .hours(1)))
        #expect(rejected == .tripMissed)
        // By the clock, though its timer hasn't fired.
        var (other, ben, late) = try Self.away()
        other.pass(.hours(2))
        other.pass(.seconds(1))
        let move = ExtendTrip(trip: late.id, eta: other.time + .hours(1))
        #expect(try other.rejection(ben, move) == .tripMissed)
        #expect(try other.ask(ben, move, recordedAt: late.eta).count == 1)
    }

    @Test("moved away and back to the same time, it reminds once more, and says what became of the first time (A7)")
    func movedBack() throws {
        var (household, anna, trip) = try Self.away()
        try household.run(.minutes(105), of: anna)
        let reminded = try #require((household.log.last?.event.body as? TripReminded)?.at)
        for eta in [trip.eta + .hours(1), trip.eta] {
            let moved = try household.ask(anna, ExtendTrip(trip: trip.id, eta: eta)).first(as: TripExtended.self)
            #expect(moved.reminded == (eta == trip.eta ? nil : reminded))
        }
        let begun = household.log.count
        try household.run(.minutes(15), of: anna)
        let said = household.log.dropFirst(begun).compactMap { $0.event.body as? TripReminded }
        #expect(said.map(\.eta) == [trip.eta] && said[0].at > reminded)
    }

    @Test("what is wrong is refused: another trip, a second one, too soon, too far and too often (A7)")
    func refused() throws {
        var (household, anna, trip) = try Self.away()
        let now = household.time
        func start(_ eta: Instant) -> StartTrip { StartTrip(name: "Lake", eta: eta) }
        #expect(try household.rejection(anna, start(now + .hours(1))) == .tripOn)
        #expect(try household.rejection(anna, EndTrip(trip: .new(), end: .arrived)) == .notFound)
        #expect(try household.rejection(anna, ExtendTrip(trip: .new(), eta: now + .hours(1))) == .notFound)
        for wrong in [now - .hours(1), now + .minutes(4), now + .hours(73)] {
            #expect(try household.rejection(anna, ExtendTrip(trip: trip.id, eta: wrong)) == .invalidField)
        }
        for minute in 1...30 {
            try household.ask(anna, ExtendTrip(trip: trip.id, eta: now + .hours(3) + .minutes(Int64(minute))))
        }
        #expect(try household.rejection(anna, ExtendTrip(trip: trip.id, eta: now + .hours(4))) == .tooSoon)
        try household.ask(anna, EndTrip(trip: trip.id, end: .cancelled))
        #expect(try household.rejection(anna, ExtendTrip(trip: trip.id, eta: now + .hours(4))) == .notFound)
        // Starts are counted apart.
        for _ in 2...30 {
            let next = try household.ask(anna, start(now + .hours(1))).first(as: TripStarted.self).trip
            try household.ask(anna, EndTrip(trip: next.id, end: .cancelled))
        }
        #expect(try household.rejection(anna, start(now + .hours(1))) == .tooSoon)
        household.pass(.hours(24))
        try household.ask(anna, start(household.time + .hours(1)))
    }

    @Test("what ended or moved it in time and waits to be handled holds the alarm back, for a minute at most (A7)")
    func holds() throws {
        for grace in [nil, Interval.minutes(10)] {
            var (household, anna, trip) = try Self.away(grace: grace)
            if grace != nil { try household.run(.hours(2), of: anna) } else { household.pass(.hours(2)) }
            if grace != nil { household.pass(.minutes(10)) }
            let miss = try Self.miss(household, anna)
            func wait(_ household: inout Household, since recorded: Instant) {
                household.rows.waitingTrips = [anna: .init(recordedAt: recorded, seenAt: household.time)]
            }
            var late = household
            wait(&late, since: trip.othersHear + .seconds(1))
            #expect(try late.ask(nil, miss).first?.body is AlertRaised)
            wait(&household, since: trip.othersHear)
            #expect(try household.ask(nil, miss).isEmpty)
            household.pass(.seconds(59))
            wait(&household, since: trip.othersHear)
            #expect(try household.ask(nil, miss).isEmpty)
            var ended = household
            #expect(
                try ended.ask(anna, EndTrip(trip: trip.id, end: .arrived), recordedAt: trip.othersHear).count == 1)
            household.pass(.seconds(1))
            wait(&household, since: trip.othersHear)
            #expect(try household.ask(nil, miss).first?.body is AlertRaised)
        }
    }

    @Test("what was pressed before the alert was raised ends neither that nor the trip, however late it comes (A7)")
    func pressedEarly() throws {
        for isSaid in [false, true] {
            var (household, anna, trip) = try Self.away()
            let pressed = household.time + .minutes(119)
            try household.run(.hours(2), of: anna)
            household.pass(.minutes(30))
            let early = EndTrip(trip: trip.id, end: .arrived, pressed: isSaid ? pressed : nil)
            let before = household.state(anna)
            #expect(throws: Rejection.self) {
                try household.ask(anna, early, recordedAt: isSaid ? household.time : pressed)
            }
            #expect(household.state(anna) == before && before.trip?.isItsAlert == true)
            // A call for help from the same time is told, whichever of the two comes first.
            var called = household
            let again = try called.ask(anna, RaiseAlert(pressed: pressed))
            #expect(again.first?.body is AlertRaisedAgain && called.state(anna).trip?.isCalled == true)
            try household.ask(anna, EndTrip(trip: trip.id, end: .arrived, pressed: household.time))
            #expect(household.state(anna).alertRaised == nil && household.state(anna).trip == nil)
        }
        // Whoever saw the alert, by a clock that is a second behind, ends it.
        var (household, anna, trip) = try Self.away()
        try household.run(.hours(2), of: anna)
        let end = EndTrip(trip: trip.id, end: .arrived, pressed: household.time - .seconds(1))
        #expect(try household.ask(anna, end).count == 2)
        #expect(household.state(anna).alertRaised == nil)
    }

    @Test("an all-clear that doesn't say when, and was received before the trip was missed, doesn't end its alert (A7)")
    func cleared() throws {
        var (household, anna, trip) = try Self.away()
        let alarm = try household.ask(anna, RaiseAlert()).first(as: AlertRaised.self).alarm
        household.pass(.minutes(119))
        let received = household.time
        try household.run(.minutes(2), of: anna)
        #expect(household.state(anna).trip?.alarm == alarm)
        for seen in [nil, alarm] {
            #expect(throws: Rejection.self) {
                try household.ask(anna, ClearAlert(alarm: seen), recordedAt: received)
            }
        }
        #expect(household.state(anna).alertAlarm == alarm && household.state(anna).trip?.id == trip.id)
        try household.ask(anna, ClearAlert(alarm: alarm))
        #expect(household.state(anna).alertRaised == nil && household.state(anna).trip == nil)
    }

    @Test(
        "closing the account ends it, and leaves nothing of it; an earlier release that clears its alert ends it (A7)")
    func over() throws {
        var (household, anna, trip) = try Self.away()
        var closed = household
        let device = try closed.confirmed(anna)
        try closed.ask(anna, CloseAccount(by: device))
        #expect(closed.rows[anna]?.keptTrip == nil)
        try household.run(.hours(2), of: anna)
        household.rows[anna]?.alert.alarm = nil
        household.rows[anna]?.alert.raised = nil
        #expect(household.rows[anna]?.trip == nil && household.rows[anna]?.keptTrip != nil)
        #expect(try household.ask(anna, EndTrip(trip: trip.id, end: .arrived)).isEmpty)
        #expect(household.state(anna).trip == nil)
    }

    @Test("when nothing ran until the grace was over, others are told at once (A7)")
    func outage() throws {
        var (household, anna, trip) = try Self.away(grace: .minutes(10))
        household.pass(.hours(3))
        let events = try household.ask(nil, try Self.miss(household, anna))
        #expect(try events.first(as: AlertRaised.self).trip?.eta == trip.eta)
    }
}
