import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: drills")
struct DrillTests {
    private static func refusal(_ household: Household, of account: AccountID) -> Rejection? {
        var household = household
        do {
            try run(in: &household, account)
            return nil
        } catch { return error as? Rejection }
    }

    @discardableResult
    private static func run(
        in household: inout Household, _ account: AccountID, recordedAt: Instant? = nil
    ) throws -> [SessionEvent] {
        let device = try #require(household.state(account).devices.first?.id)
        return try household.ask(account, RunDrill(by: device), recordedAt: recordedAt)
    }

    private static func names(_ household: Household, from start: Int) -> [String] {
        household.log.dropFirst(start).map { type(of: $0.event.body).type }
    }

    @Test("a drill is over by itself after an hour, is no alarm, and the next one may begin a day after the last (A11)")
    func alone() throws {
        var household = Household()
        let anna = try household.person()
        let start = household.log.count
        let began = try Self.run(in: &household, anna).first(as: DrillBegan.self)
        #expect(began.began == household.time && began.ends == household.time + .hours(1))
        let state = household.state(anna)
        #expect(state.drill == DrillState(id: began.drill, began: began.began, ends: began.ends))
        #expect(state.alertRaised == nil && !state.checkIn.missed)
        let refused = Self.refusal(household, of: anna)
        #expect(refused?.code == .tooSoon && refused?.retryAfter == .days(1))

        try household.run(.minutes(59), of: anna)
        #expect(household.state(anna).drill?.isOn == true)
        try household.run(.hours(1), of: anna)
        let ended = DrillState(
            id: began.drill, began: began.began, ends: began.ends, ended: began.ends, end: .over)
        #expect(household.state(anna).drill == ended)
        #expect(Self.names(household, from: start) == ["DrillBegan", "DrillEnded"], "nothing is repeated")

        try household.ask(anna, CheckIn())
        try household.run(.hours(22), of: anna)
        #expect(Self.refusal(household, of: anna)?.code == .tooSoon)
        try household.ask(anna, CheckIn())
        household.pass(.minutes(1))
        #expect(Self.refusal(household, of: anna) == nil)
    }

    @Test("four drills in 30 days wear nobody out; a fifth waits until the first is 30 days ago (A11)")
    func most() throws {
        var household = Household()
        let anna = try household.person()
        let first = household.time
        for day in 0..<5 {
            try household.ask(anna, CheckIn())
            guard day < 4 else { break }
            try Self.run(in: &household, anna)
            try household.run(.minutes(24 * 60 - 1), of: anna)
            household.pass(.minutes(1))
        }
        let refused = Self.refusal(household, of: anna)
        #expect(refused?.code == .tooSoon && refused?.retryAfter == .days(26))
        #expect(household.state(anna).drill?.next == first + .days(30))
        for _ in 0..<26 {
            try household.run(.minutes(24 * 60 - 1), of: anna)
            household.pass(.minutes(1))
            try household.ask(anna, CheckIn())
        }
        #expect(Self.refusal(household, of: anna) == nil)
    }

    /// What may come while a drill is on, though it began long before every deadline of which was known.
    enum Interruption: CaseIterable {
        case alert, checkIn, grace, trip, tripGrace
    }

    @Test(
        """
        an alert, a missed check-in and a deadline or a trip's end that passed, though others don't hear yet, each end a drill \
        at once, and nothing of the alarm says drill (A11)
        """,
        arguments: Interruption.allCases)
    func ended(_ interruption: Interruption) throws {
        var household = Household()
        let anna = try household.person()
        if interruption == .grace { try household.ask(anna, SetCheckInGrace(grace: .minutes(30))) }
        household.pass(.minutes(10))
        let drill = try Self.run(in: &household, anna).first(as: DrillBegan.self).drill
        switch interruption {
        case .checkIn, .grace: try household.ask(anna, SetCheckInInterval(interval: .hours(1)))
        case .trip: try household.ask(anna, StartTrip(name: "Lake", eta: household.time + .minutes(50)))
        case .tripGrace:
            try household.ask(anna, StartTrip(name: "Lake", eta: household.time + .minutes(50), grace: .minutes(30)))
        case .alert: break
        }
        let start = household.log.count
        if interruption == .alert {
            #expect(try household.ask(anna, RaiseAlert()).first?.body is AlertRaised, "it is the result")
        } else {
            try household.run(.minutes(51), of: anna)
        }
        let (name, end): (String, DrillEnd) =
            switch interruption {
            case .alert, .trip: ("AlertRaised", .alarm)
            case .checkIn: ("CheckInMissed", .alarm)
            case .grace: ("CheckInGraceBegan", .deadline)
            case .tripGrace: ("TripGraceBegan", .deadline)
            }
        let names = Self.names(household, from: start).filter { !$0.hasSuffix("Reminded") }
        #expect(names == [name, "DrillEnded"], "the alarm goes first")
        let ended = try #require(household.log.last?.event.body as? DrillEnded)
        #expect(ended.drill == drill && ended.end == end)
        #expect(household.state(anna).drill?.end == end)
        #expect(!household.rows.wantedTimers(of: anna).contains { $0.command.body is EndDrill })
    }

    @Test(
        "a drill that an earlier release left on when it began an alarm is ended by what follows, and as by the alarm (A11)"
    )
    func left() throws {
        for isRepeated in [true, false] {
            var household = Household()
            let anna = try household.person()
            let drill = try Self.run(in: &household, anna).first(as: DrillBegan.self)
            try household.ask(anna, RaiseAlert())
            household.rows[anna]?.drill = DrillState(id: drill.drill, began: drill.began, ends: drill.ends)
            if isRepeated {
                household.pass(.minutes(1))
                let events = try household.ask(anna, RaiseAlert(pressed: household.time))
                #expect(events.last?.body is DrillEnded, "it was raised again")
            } else {
                household.pass(.hours(1))
                try household.ask(nil, EndDrill(account: anna, drill: drill.drill))
            }
            #expect(household.rows[anna]?.drill?.end == .alarm)
        }
    }

    @Test("a drill that waited for more than a minute isn't begun, whatever has passed meanwhile (A11)")
    func late() throws {
        var household = Household()
        let anna = try household.person()
        let asked = household.time
        household.pass(.seconds(61))
        do {
            try Self.run(in: &household, anna, recordedAt: asked)
            Issue.record("it began")
        } catch let rejection as Rejection { #expect(rejection.code == .expired) }
        try Self.run(in: &household, anna, recordedAt: household.time - .minutes(1))
    }

    @Test("where the account wants it, a drill takes a confirmation (A11)")
    func confirmed() throws {
        var household = Household()
        let anna = try household.person()
        let phone = try household.confirmed(anna)
        try household.ask(anna, UpdateSecurity(isConfirmationRequired: true, by: phone))
        household.pass(.hours(1))
        #expect(Self.refusal(household, of: anna)?.code == .confirmationRequired)
        _ = try household.confirmed(anna)
        #expect(Self.refusal(household, of: anna) == nil)
    }

    @Test("an alert that has to wait, of which nobody hears yet, ends a drill too (A11)")
    func endedByQuietAlert() throws {
        var household = Household()
        let anna = try household.person()
        for _ in 0..<3 {
            try household.ask(anna, RaiseAlert())
            try household.ask(anna, ClearAlert())
        }
        try Self.run(in: &household, anna)
        #expect(try household.ask(anna, RaiseAlert()).first(as: AlertRaised.self).waitsUntil != nil)
        #expect(household.state(anna).drill?.end == .alarm)
    }

    @Test(
        """
        nobody runs a drill during an alarm, nor from 75 minutes before a deadline or the end of a trip on, though others don't \
        hear yet (A11)
        """)
    func refused() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, SetCheckInGrace(grace: .minutes(10)))
        var alert = household
        try alert.ask(anna, RaiseAlert())
        #expect(Self.refusal(alert, of: anna)?.code == .alarmOn)
        try alert.ask(anna, ClearAlert())
        #expect(Self.refusal(alert, of: anna) == nil)

        var away = household
        let eta = away.time + .hours(2)
        try away.ask(anna, StartTrip(name: "Lake", eta: eta, grace: .minutes(30)))
        try away.run(.minutes(45), of: anna)
        #expect(Self.refusal(away, of: anna) == nil)
        away.pass(.seconds(1))
        #expect(Self.refusal(away, of: anna)?.code == .deadlineNear)
        try away.run(.seconds(4439), of: anna)
        away.pass(.minutes(1))
        #expect(Self.refusal(away, of: anna)?.code == .tripMissed, "though the timer hasn't come")
        try away.run(.minutes(1), of: anna)
        #expect(Self.refusal(away, of: anna)?.code == .tripMissed)
        try away.run(.minutes(30), of: anna)
        #expect(Self.refusal(away, of: anna)?.code == .alarmOn)

        try household.run(.minutes(24 * 60 - 75), of: anna)
        #expect(Self.refusal(household, of: anna) == nil)
        household.pass(.seconds(1))
        #expect(Self.refusal(household, of: anna)?.code == .deadlineNear, "somebody may see it at the deadline")
        try household.run(.seconds(4439), of: anna)
        household.pass(.minutes(1))
        #expect(Self.refusal(household, of: anna)?.code == .checkInDue, "though the timer hasn't come")
        try household.run(.minutes(1), of: anna)
        #expect(Self.refusal(household, of: anna)?.code == .checkInDue)
        try household.run(.minutes(10), of: anna)
        #expect(household.state(anna).checkIn.missed && Self.refusal(household, of: anna)?.code == .alarmOn)
    }

    @Test("a timer that comes early is refused, and one of an earlier drill changes nothing (A11)")
    func timers() throws {
        var household = Household()
        let anna = try household.person()
        let drill = try Self.run(in: &household, anna).first(as: DrillBegan.self).drill
        #expect(throws: Rejection.self) { try household.ask(nil, EndDrill(account: anna, drill: drill)) }
        try household.ask(nil, EndDrill(account: anna, drill: household.id()))
        #expect(household.state(anna).drill?.isOn == true)
        try household.run(.hours(1), of: anna)
        #expect(try household.ask(nil, EndDrill(account: anna, drill: drill)).isEmpty)
    }

    @Test(
        """
        whatever happens, no drill begins during an alarm or within 75 minutes of a deadline, none outlives the beginning of an \
        alarm or of a grace, and at most one begins a day, and four in 30 days (A11)
        """)
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(30, long: 300) {
                var household = Household(seed: random.next())
                let anna = try household.person()
                let phone = try #require(household.state(anna).devices.first?.id)
                for _ in 0..<200 {
                    household.pass(.minutes(Int64.random(in: 0...300, using: &random)))
                    let command: any CommandBody =
                        switch Int.random(in: 0...9, using: &random) {
                        case 0...2: RunDrill(by: phone)
                        case 3: RaiseAlert()
                        case 4: ClearAlert()
                        case 5:
                            StartTrip(
                                name: "Lake", eta: household.time + .minutes(Int64.random(in: 5...90, using: &random)))
                        case 6: SetCheckInInterval(interval: .hours(Int64.random(in: 1...24, using: &random)))
                        case 7: SetCheckInGrace(grace: .minutes([0, 20].randomElement(using: &random) ?? 0))
                        default: CheckIn()
                        }
                    let before = household.state(anna)
                    do {
                        try household.ask(anna, command)
                        if command is RunDrill {
                            let deadlines = [before.checkIn.due, before.trip?.eta].compactMap(\.self)
                            try #require(deadlines.allSatisfy { $0 >= household.time + .minutes(75) })
                        }
                    } catch is Rejection {}
                    if random.oneIn(2) { try Self.runTimers(&household, anna) }
                    let state = household.state(anna)
                    try #require(household.replicas[anna] == state)
                    let isAlarm = state.alertRaised != nil || state.checkIn.missed
                    let isGrace = state.checkIn.graceEnds != nil || state.trip?.graceEnds != nil
                    try #require(!(isAlarm || isGrace) || state.drill?.isOn != true, "a drill is on during an alarm")
                }
                try Self.check(household.log.map(\.event))
            }
        }
    }

    /// Fires what is due. A reminder that comes too late changes nothing.
    private static func runTimers(_ household: inout Household, _ anna: AccountID) throws {
        for timer in household.rows.wantedTimers(of: anna) where timer.due <= household.time {
            do { try household.ask(nil, timer.command.body) } catch let error as Rejection {
                // Another timer has changed what this one was set for.
                try #require(error.code == .notDue)
            }
        }
    }

    /// By the events alone.
    private static func check(_ events: [SessionEvent]) throws {
        var (alarms, drill, begun): (Set<AlarmID>, DrillID?, [Instant]) = ([], nil, [])
        for event in events {
            switch event {
            case .alertRaised(let event): alarms.insert(event.alarm)
            case .checkInMissed(let event): alarms.insert(event.alarm)
            case .alertCleared(let event): alarms.remove(event.alarm)
            case .checkedIn(let event): if let alarm = event.alarm { alarms.remove(alarm) }
            case .alarmClosed(let event): alarms.remove(event.alarm)
            case .drill(.drillBegan(let event)):
                try #require(alarms.isEmpty, "a drill began during an alarm")
                if let last = begun.last { try #require(event.began >= last + .days(1)) }
                if let fourth = begun.suffix(4).first, begun.count >= 4 {
                    try #require(event.began >= fourth + .days(30))
                }
                drill = event.drill
                begun.append(event.began)
            case .drill(.drillEnded(let event)):
                try #require(event.drill == drill, "it ended twice, or wasn't on")
                drill = nil
                continue
            default: continue
            }
            // An alarm's beginning may be followed by the drill's end alone.
            if !alarms.isEmpty, drill != nil { try #require(isEnded(drill, after: event, in: events)) }
        }
    }

    private static func isEnded(_ drill: DrillID?, after event: SessionEvent, in events: [SessionEvent]) -> Bool {
        guard let start = events.firstIndex(of: event) else { return false }
        return events.dropFirst(start + 1).prefix(2).contains {
            if case .drill(.drillEnded(let ended)) = $0 { ended.drill == drill } else { false }
        }
    }
}
