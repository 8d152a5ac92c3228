import ContractSupport
import SessionContract
import SessionRules
import StoreKit
import TestKit
import Testing
import Vocabulary

@Suite("Session: check-ins and alerts")
struct CheckInTests {
    private func isReminder(_ event: SessionEvent) -> Bool { if case .checkInReminded = event { true } else { false } }
    private func isMissed(_ event: SessionEvent) -> Bool { if case .checkInMissed = event { true } else { false } }
    private func isRepeat(_ event: SessionEvent, of kind: AlarmKind = .checkInMissed) -> Bool {
        if case .alarmRepeated(let event) = event { event.kind == kind } else { false }
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

    @Test("of a check-in and a miss that race, one happens, never both (S29)")
    func race() throws {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        let expire = try #require(household.rows.wantedTimers(of: anna).last)
        #expect(try household.rejection(nil, expire.command.body) == .notDue)
        household.pass(.hours(24))
        var other = household
        try household.ask(anna, CheckIn())
        #expect(try household.ask(nil, expire.command.body).isEmpty)
        #expect(try other.ask(nil, expire.command.body).count == 1)
        let late = try other.ask(anna, CheckIn()).first(as: CheckedIn.self)
        #expect(late.ended == expire.due)
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

    @Test("an alert goes on and off once each, is repeated a bounded number of times, and stops when it ends (S34)")
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
        // A timer that was set while more were allowed.
        let alarm = try #require(household.state(anna).alertAlarm)
        let late = RepeatAlarm(account: anna, alarm: alarm, kind: .alertRaised, repetition: 4)
        #expect(try household.ask(nil, late).isEmpty)
    }
}
