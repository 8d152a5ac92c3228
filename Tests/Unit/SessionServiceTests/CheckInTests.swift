import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: check-ins and alerts")
struct CheckInTests {
    private func isReminder(_ event: SessionEvent) -> Bool { if case .checkInReminded = event { true } else { false } }
    private func isMissed(_ event: SessionEvent) -> Bool { if case .checkInMissed = event { true } else { false } }
    /// One of those that come soon after one another.
    private func isRepeat(_ event: SessionEvent, of kind: AlarmKind = .checkInMissed) -> Bool {
        if case .alarmRepeated(let event) = event { event.kind == kind && event.isSlow == nil } else { false }
    }

    @Test("a check-in restarts the timer; another within 5 minutes is refused with how long to wait (S29)")
    func checkIn() throws {
        var household = Household()
        let anna = try household.person()
        household.pass(.hours(1))
        try household.ask(anna, CheckIn())
        #expect(household.state(anna).checkIn.due == household.time + .hours(24))
        household.pass(.seconds(50))
        do {
            try household.ask(anna, CheckIn())
            throw Unexpected("checked in twice")
        } catch let rejection as Rejection {
            #expect(rejection.code == .tooSoon && rejection.message.contains("4 minutes and 10 seconds"))
        }
        household.pass(.seconds(250))
        #expect(try household.ask(anna, CheckIn()).count == 1)
    }

    @Test("the timer starts with the account: someone who never checks in is reminded, then missed (S29, S32)")
    func neverCheckedIn() throws {
        var household = Household()
        let anna = try household.person()
        let due = household.time + .hours(24)
        #expect(household.state(anna).checkIn.due == due && household.state(anna).checkIn.last == nil)
        // Another interval counts from the account's beginning.
        household.pass(.hours(1))
        try household.ask(anna, SetCheckInInterval(interval: .hours(6)))
        #expect(household.state(anna).checkIn.due == due - .hours(18))
        try household.ask(anna, SetCheckInInterval(interval: .hours(24)))
        try household.run(.days(2), of: anna)
        #expect(household.log.filter { isReminder($0.event) }.count == 2)
        #expect(household.log.filter { isMissed($0.event) }.map(\.at) == [due])
        // The first check-in is the all-clear, and no earlier one keeps it waiting.
        let checkedIn = try household.ask(anna, CheckIn()).first(as: CheckedIn.self)
        #expect(checkedIn.ended == due && checkedIn.alarm != nil)
    }

    @Test("reminders come 2 h and 30 min before, then the miss, each once and on time (S31, S32)")
    func deadlines() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let due = household.time + .hours(24)
        try household.run(.days(3), of: anna)
        let reminders = household.log.filter { isReminder($0.event) }
        #expect(reminders.map(\.at) == [due - .hours(2), due - .minutes(30)])
        #expect(household.log.filter { isMissed($0.event) }.map(\.at) == [due])
        #expect(
            household.log.filter { isRepeat($0.event) }.map(\.at)
                == [due + .minutes(30), due + .minutes(60), due + .minutes(90)])
        let late = household.state(anna).checkIn
        #expect(late.missed && late.veryLateFrom == due + .hours(24))
        let checkedIn = try household.ask(anna, CheckIn()).first(as: CheckedIn.self)
        #expect(checkedIn.ended == due && !household.state(anna).checkIn.missed)
    }

    @Test("reminders come as chosen, except those due at the check-in itself (S31)")
    func chosenReminders() throws {
        for (leads, interval, count) in [
            ([.thirtyMinutes], .hours(24), 1), ([.twoHours], .hours(24), 1), ([], .hours(24), 0),
            ([.twoHours, .thirtyMinutes], .hours(1), 1), ([.thirtyMinutes, .twoHours], .hours(2), 1),
        ] as [([ReminderLead], Interval, Int)] {
            var household = Household()
            let anna = try household.person()
            _ = try household.rejection(anna, SetCheckInReminders(reminders: leads))
            _ = try household.rejection(anna, SetCheckInInterval(interval: interval))
            try household.ask(anna, CheckIn())
            try household.run(.days(2), of: anna)
            #expect(household.log.filter { isReminder($0.event) }.count == count)
        }
    }

    @Test("when nothing ran for a day, the miss is announced at once and stale reminders are dropped (S31)")
    func afterAPause() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let timers = household.rows.wantedTimers(of: anna)
        household.pass(.days(2))
        for timer in timers.reversed() + timers + timers { try household.ask(nil, timer.command.body) }
        #expect(household.log.filter { isReminder($0.event) }.isEmpty)
        #expect(household.log.filter { isMissed($0.event) }.map(\.at) == [household.time])
    }

    @Test("when both reminders are due, only the later one is sent (S31)")
    func lateReminder() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let timers = household.rows.wantedTimers(of: anna)
        household.pass(.minutes(24 * 60 - 10))
        for timer in timers.dropLast() { try household.ask(nil, timer.command.body) }
        let reminders = household.log.filter { isReminder($0.event) }.map(\.event)
        let reminded = try reminders.first(as: CheckInReminded.self)
        #expect(reminders.count == 1 && reminded.lead == .thirtyMinutes)
    }

    @Test(
        """
        a check-in counts from when it was recorded: after the deadline, the alarm begins and ends, whichever of the two \
        is handled first; in time, none begins (S29)
        """)
    func recorded() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let miss = try #require(household.rows.wantedTimers(of: anna).last)
        #expect(try household.rejection(nil, miss.command.body) == .notDue)
        household.pass(.minutes(24 * 60 + 2))

        var inTime = household
        let checkedIn = try inTime.ask(anna, CheckIn(), recordedAt: miss.due)
        #expect(
            checkedIn == [
                .checkedIn(CheckedIn(account: anna, due: miss.due + .hours(24), at: miss.due))
            ])
        #expect(try inTime.ask(nil, miss.command.body).isEmpty)
        // The pause before the next one counts from when it was recorded, too.
        func next(_ recorded: Instant) throws -> Int { try inTime.ask(anna, CheckIn(), recordedAt: recorded).count }
        #expect(throws: Rejection.self) { try next(miss.due + .seconds(110)) }
        inTime.pass(.minutes(4))
        #expect(try next(miss.due + .minutes(5)) == 1)

        let late = miss.due + .minutes(1)
        var first = household
        let alarm = try #require(try first.ask(anna, CheckIn(), recordedAt: late).first?.body as? CheckInMissed)
        #expect(alarm.deadline == miss.due)
        let ended = try #require(first.log.last?.event.body as? CheckedIn)
        #expect(ended.ended == miss.due && ended.alarm == alarm.alarm && ended.due == late + .hours(24))
        #expect(try first.ask(nil, miss.command.body).isEmpty)
        #expect(first.state(anna).checkIn.last == late && !first.state(anna).checkIn.missed)

        var second = household
        let missed = try second.ask(nil, miss.command.body).first(as: CheckInMissed.self)
        let then = try second.ask(anna, CheckIn(), recordedAt: late).first(as: CheckedIn.self)
        #expect(then.ended == miss.due && then.alarm == missed.alarm && then.due == late + .hours(24))
    }

    @Test(
        """
        a check-in that was recorded in time and waits holds the alarm back for a minute at most; one from after the \
        deadline doesn't (S29 S32)
        """)
    func hold() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let miss = try #require(household.rows.wantedTimers(of: anna).last)
        // Nothing ran for three minutes.
        household.pass(.minutes(24 * 60 + 3))
        func wait(since recorded: Instant, _ household: inout Household) {
            household.rows.waitingCheckIns = [anna: .init(recordedAt: recorded, seenAt: household.time)]
        }
        var late = household
        wait(since: miss.due + .seconds(1), &late)
        #expect(try late.ask(nil, miss.command.body).count == 1)

        wait(since: miss.due, &household)
        #expect(try household.ask(nil, miss.command.body).isEmpty)
        let begin = household.time
        #expect(household.rows.wantedTimers(of: anna).last?.due == begin + .seconds(1))
        var handled = household
        handled.pass(.seconds(1))
        try handled.ask(anna, CheckIn(), recordedAt: miss.due)
        #expect(handled.rows[anna]?.checkIn.hold == nil)
        #expect(handled.rows.wantedTimers(of: anna).last?.due == miss.due + .hours(24))
        // It was refused, has expired or was set aside.
        var gone = household
        gone.pass(.seconds(1))
        gone.rows.waitingCheckIns = [:]
        #expect(try gone.ask(nil, miss.command.body).count == 1)
        #expect(gone.rows[anna]?.checkIn.hold == nil)
        // A clock that goes back meanwhile doesn't make it longer.
        var back = household
        back.rows.waitingCheckIns = [anna: .init(recordedAt: miss.due, seenAt: begin - .minutes(30))]
        #expect(try back.ask(nil, miss.command.body).count == 1)

        household.pass(.seconds(59))
        wait(since: miss.due, &household)
        #expect(try household.ask(nil, miss.command.body).isEmpty)
        household.pass(.seconds(1))
        wait(since: miss.due, &household)
        #expect(try household.ask(nil, miss.command.body).count == 1)
        let ended = try household.ask(anna, CheckIn(), recordedAt: miss.due).first(as: CheckedIn.self)
        #expect(ended.ended == miss.due)
    }

    @Test(
        """
        however commands and timers are delayed for up to a minute, what is missed and ended follows from when check-ins \
        were recorded alone (S29)
        """)
    func interleavings() async throws {
        /// What happened, in order.
        func story(_ household: Household) -> [String] {
            household.log.compactMap { entry -> String? in
                switch entry.event {
                case .checkInMissed(let event): "missed \(event.deadline.microseconds)"
                case .checkedIn(let event):
                    "checked in until \(event.due.microseconds), ended \(event.ended.debugDescription)"
                default: nil
                }
            }
        }
        try await withRandom { random in
            for _ in 0..<40 {
                var prompt = Household()
                prompt.rows.limits.leastCheckInInterval = .minutes(6)
                let anna = try prompt.person()
                try prompt.ask(anna, SetCheckInInterval(interval: .minutes(6)))
                var delayed = prompt
                var waiting: [Instant] = []
                var (commandsFrom, timersFrom) = (prompt.time, prompt.time)
                for _ in 0..<2000 {
                    let isNew = random.oneIn(80)
                    let step = Interval.seconds(Int64.random(in: 1...5, using: &random))
                    // Promptly: a timer fires at its time, a check-in is handled when it is recorded.
                    let end = prompt.time + step
                    while let timer = prompt.rows.wantedTimers(of: anna).first, timer.due < end {
                        prompt.time = timer.due
                        try prompt.ask(nil, timer.command.body)
                    }
                    prompt.time = end
                    if isNew { _ = try prompt.rejection(anna, CheckIn()) }
                    // With each consumer away now and then.
                    delayed.pass(step)
                    if isNew { waiting.append(delayed.time) }
                    func handleCommands() throws {
                        guard commandsFrom <= delayed.time else { return }
                        for recorded in waiting {
                            do { try delayed.ask(anna, CheckIn(), recordedAt: recorded) } catch is Rejection {}
                        }
                        waiting = []
                    }
                    func handleTimers() throws {
                        guard timersFrom <= delayed.time else { return }
                        for timer in delayed.rows.wantedTimers(of: anna) where timer.due <= delayed.time {
                            delayed.rows.waitingCheckIns = [:]
                            if let first = waiting.first {
                                delayed.rows.waitingCheckIns[anna] = .init(recordedAt: first, seenAt: delayed.time)
                            }
                            try delayed.ask(nil, timer.command.body)
                        }
                    }
                    if random.oneIn(2) {
                        try handleCommands()
                        try handleTimers()
                    } else {
                        try handleTimers()
                        try handleCommands()
                    }
                    // Each does what waits before it is away the next time.
                    func away() -> Instant { delayed.time + .seconds(Int64.random(in: 1...50, using: &random)) }
                    if commandsFrom <= delayed.time, random.oneIn(30) { commandsFrom = away() }
                    if timersFrom <= delayed.time, random.oneIn(30) { timersFrom = away() }
                }
                // The last moments may not be decided yet.
                let (expected, told) = (story(prompt), story(delayed))
                let count = min(expected.count, told.count)
                try #require(count > 5 && max(expected.count, told.count) < count + 3)
                try #require(Array(told.prefix(count)) == Array(expected.prefix(count)))
            }
        }
    }

    @Test("an interval of 1 hour to 7 days moves the deadline, never into the past, and never ends a miss (S30)")
    func interval() throws {
        var household = Household()
        let anna = try household.person()
        for wrong in [
            Interval(microseconds: Interval.hours(1).microseconds - 1), .days(8), Interval(microseconds: .min),
        ] as [Interval] {
            #expect(try household.rejection(anna, SetCheckInInterval(interval: wrong)) == .invalidField)
        }
        try household.ask(anna, CheckIn())
        let begin = household.time
        household.pass(.hours(5))
        try household.ask(anna, SetCheckInInterval(interval: .hours(6)))
        #expect(household.state(anna).checkIn.due == begin + .hours(6))
        try household.ask(anna, SetCheckInInterval(interval: .hours(2)))
        #expect(household.state(anna).checkIn.due == household.time + .hours(2))
        try household.run(.hours(3), of: anna)
        let due = household.state(anna).checkIn.due
        try household.ask(anna, SetCheckInInterval(interval: .days(7)))
        #expect(household.state(anna).checkIn.missed && household.state(anna).checkIn.due == due)
        #expect(try household.ask(anna, SetCheckInInterval(interval: .days(7))).isEmpty)
    }

    @Test("intervals that are set in turn put a deadline off by seven days at most (S30)")
    func toggled() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let begin = household.time
        let longest = Interval.days(7)
        try household.ask(anna, SetCheckInInterval(interval: longest))
        household.pass(.minutes(7 * 24 * 60 - 30))
        // An hour from now would be after it, and seven days from then a week later.
        try household.ask(anna, SetCheckInInterval(interval: .hours(1)))
        #expect(household.state(anna).checkIn.due == begin + longest)
        try household.ask(anna, SetCheckInInterval(interval: longest))
        #expect(household.state(anna).checkIn.due == begin + longest)
    }

    @Test(
        "an alert goes on and off once each, is repeated soon a bounded number of times, and stops when it ends (S34)")
    func alert() throws {
        var household = Household()
        let anna = try household.person()
        #expect(try household.ask(anna, ClearAlert()).isEmpty)
        try household.ask(anna, RaiseAlert())
        let raised = household.time
        #expect(household.state(anna).alertRaised == raised)
        #expect(try household.ask(anna, RaiseAlert()).isEmpty)
        try household.run(.minutes(40), of: anna)
        let cleared = try household.ask(anna, ClearAlert()).first(as: AlertCleared.self)
        #expect(cleared.raised == raised && household.state(anna).alertRaised == nil)
        try household.run(.days(1), of: anna)
        #expect(household.log.filter { isRepeat($0.event, of: .alertRaised) }.count == 1)
        try household.ask(anna, RaiseAlert())
        try household.run(.days(1), of: anna)
        #expect(household.log.filter { isRepeat($0.event, of: .alertRaised) }.count == 4)
        // One that was done.
        let alarm = try #require(household.state(anna).alertAlarm)
        let late = RepeatAlarm(account: anna, alarm: alarm, kind: .alertRaised, repetition: 4)
        #expect(try household.ask(nil, late).isEmpty)
    }
}
