import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: pauses")
struct PauseTests {
    /// Somebody who checked in now, and a device of theirs.
    private static func person() throws -> (Household, AccountID, DeviceID) {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, CheckIn())
        return (household, anna, try #require(household.state(anna).devices.first?.id))
    }

    private static func bodies<Body>(_ household: Household, as type: Body.Type) -> [Body] {
        household.log.compactMap { $0.event.body as? Body }
    }

    @Test("nothing is due in a pause; it ends by itself, after a reminder, and the deadline is an interval later (A5)")
    func ends() throws {
        var (household, anna, phone) = try Self.person()
        let until = household.time + .days(10)
        let paused = try household.ask(anna, PauseCheckIns(until: until, by: phone)).first(as: CheckInsPaused.self)
        #expect(paused.due == until + .hours(24) && paused.former == nil)
        #expect(household.state(anna).checkIn.pausedUntil == until && household.state(anna).checkIn.due == paused.due)
        try household.run(.days(10), of: anna)
        let all = household.log.suffix(2).map(\.event.body)
        #expect(
            (all.first as? PauseReminded)?.at == until - .hours(1) && (all.first as? PauseReminded)?.due == paused.due)
        let resumed = try #require(all.last as? CheckInsResumed)
        #expect(resumed.at == until && resumed.due == paused.due && !resumed.isEarly)
        #expect(household.state(anna).checkIn.pausedUntil == nil)
        try household.run(.days(1), of: anna)
        #expect(Self.bodies(household, as: CheckInMissed.self).map(\.deadline) == [paused.due])
        #expect(Self.bodies(household, as: CheckInReminded.self).count == 2)
    }

    @Test("a check-in in a pause is shown and doesn't end it; from then on a pause may last for 30 days again (A5)")
    func checkIn() throws {
        var (household, anna, phone) = try Self.person()
        let until = household.time + .days(30)
        try household.ask(anna, PauseCheckIns(until: until, by: phone))
        household.pass(.days(20))
        let longer = PauseCheckIns(until: until + .days(10), by: phone)
        #expect(try household.rejection(anna, longer) == .limitReached)
        let checkedIn = try household.ask(anna, CheckIn()).first(as: CheckedIn.self)
        #expect(checkedIn.due == until + .hours(24) && household.state(anna).checkIn.last == household.time)
        #expect(household.state(anna).checkIn.pausedUntil == until)
        let paused = try household.ask(anna, longer).first(as: CheckInsPaused.self)
        #expect(paused.former == until && paused.until == until + .days(10))
        #expect(try household.ask(anna, longer).isEmpty)
    }

    @Test("pauses without a check-in between add up to 30 days at most, also those that were ended early (A5)")
    func adds() throws {
        var (household, anna, phone) = try Self.person()
        try household.ask(anna, SetCheckInInterval(interval: .days(7)))
        try household.ask(anna, PauseCheckIns(until: household.time + .days(30), by: phone))
        household.pass(.days(12))
        let resumed = try household.ask(anna, ResumeCheckIns()).first(as: CheckInsResumed.self)
        #expect(resumed.isEarly && resumed.due == household.time + .days(7))
        #expect(try household.ask(anna, ResumeCheckIns()).isEmpty)
        household.pass(.days(1))
        #expect(
            try household.rejection(anna, PauseCheckIns(until: household.time + .days(19), by: phone)) == .limitReached)
        try household.ask(anna, PauseCheckIns(until: household.time + .days(18), by: phone))
        try household.run(.days(18), of: anna)
        household.pass(.days(1))
        #expect(
            try household.rejection(anna, PauseCheckIns(until: household.time + .minutes(1), by: phone))
                == .limitReached)
        try household.ask(anna, CheckIn())
        try household.ask(anna, PauseCheckIns(until: household.time + .days(30), by: phone))
    }

    @Test("short pauses don't stand in for check-ins, and six in a day are enough for anybody (A5)")
    func short() throws {
        var (household, anna, phone) = try Self.person()
        try household.ask(anna, SetCheckInInterval(interval: .days(7)))
        let begin = household.time
        var refused: Rejection.Code?
        for _ in 0..<10 where refused == nil {
            try household.run(.days(6), of: anna)
            refused = try household.rejection(anna, PauseCheckIns(until: household.time + .seconds(1), by: phone))
        }
        #expect(refused == .limitReached && household.time > begin + .days(37))
        try household.ask(anna, CheckIn())
        for number in 1...6 {
            try household.ask(anna, PauseCheckIns(until: household.time + .days(Int64(number)), by: phone))
            try household.ask(anna, ResumeCheckIns())
        }
        let seventh = PauseCheckIns(until: household.time + .days(7), by: phone)
        #expect(try household.rejection(anna, seventh) == .tooSoon)
        household.pass(.days(1))
        #expect(try household.rejection(anna, seventh) == nil)
    }

    @Test("an alarm that was closed without a check-in leaves nothing to pause (A5)")
    func closed() throws {
        var (household, anna, phone) = try Self.person()
        try household.run(.hours(31 * 24 + 1), of: anna)
        #expect(!household.state(anna).checkIn.missed)
        let pause = PauseCheckIns(until: household.time + .hours(1), by: phone)
        #expect(try household.rejection(anna, pause) == .limitReached)
    }

    @Test("a pause whose end wasn't noticed counts, and its end is said before the next begins (A5)")
    func unnoticed() throws {
        var (household, anna, phone) = try Self.person()
        try household.ask(anna, SetCheckInInterval(interval: .days(7)))
        try household.ask(anna, PauseCheckIns(until: household.time + .days(20), by: phone))
        household.pass(.days(21))
        #expect(
            try household.rejection(anna, PauseCheckIns(until: household.time + .days(11), by: phone)) == .limitReached)
        let events = try household.ask(anna, PauseCheckIns(until: household.time + .days(10), by: phone))
        #expect(events.first?.body is CheckInsResumed && events.last?.body is CheckInsPaused && events.count == 2)
        // Nor does another interval move a deadline by it into the past.
        household.pass(.days(11))
        let set = try household.ask(anna, SetCheckInInterval(interval: .hours(1))).last?.body as? CheckInIntervalSet
        #expect(set?.due == household.time + .hours(1))
    }

    @Test("from the deadline until the person has checked in nothing pauses, a grace or not (A5)")
    func due() throws {
        for grace in [0, 10] as [Int64] {
            var (household, anna, phone) = try Self.person()
            try household.ask(anna, SetCheckInGrace(grace: .minutes(grace)))
            try household.run(.hours(24), of: anna)
            func pause() throws -> Rejection.Code? {
                try household.rejection(anna, PauseCheckIns(until: household.time + .days(1), by: phone))
            }
            #expect(try pause() == .checkInDue)
            try household.run(.minutes(5), of: anna)
            #expect(try pause() == .checkInDue)
            try household.run(.minutes(25), of: anna)
            #expect(household.state(anna).checkIn.missed)
            #expect(try pause() == .checkInDue)
            try household.ask(anna, CheckIn())
            #expect(try pause() == nil)
        }
    }

    @Test("where the account wants it, a pause takes a confirmation; ending one doesn't (A5)")
    func confirmed() throws {
        var (household, anna, _) = try Self.person()
        let phone = try household.confirmed(anna)
        try household.ask(anna, UpdateSecurity(isConfirmationRequired: true, by: phone))
        household.pass(.hours(1))
        let pause = PauseCheckIns(until: household.time + .days(1), by: phone)
        #expect(try household.rejection(anna, pause) == .confirmationRequired)
        _ = try household.confirmed(anna)
        try household.ask(anna, pause)
        household.pass(.hours(1))
        #expect(try household.ask(anna, ResumeCheckIns()).count == 1)
    }

    @Test("another interval in a pause moves the deadline after it, and not its end (A5)")
    func interval() throws {
        var (household, anna, phone) = try Self.person()
        let until = household.time + .days(3)
        try household.ask(anna, PauseCheckIns(until: until, by: phone))
        let set = try household.ask(anna, SetCheckInInterval(interval: .hours(2))).first(as: CheckInIntervalSet.self)
        #expect(set.due == until + .hours(2) && household.state(anna).checkIn.pausedUntil == until)
        try household.run(.days(3), of: anna)
        #expect(Self.bodies(household, as: CheckInsResumed.self).map(\.due) == [until + .hours(2)])
    }

    @Test("an end that nothing noticed in time is said before the check-in that comes then, or by the alarm (A5)")
    func late() throws {
        var (household, anna, phone) = try Self.person()
        try household.ask(anna, PauseCheckIns(until: household.time + .days(3), by: phone))
        household.pass(.days(3))
        household.pass(.hours(1))
        var checked = household
        let events = try checked.ask(anna, CheckIn())
        #expect(events.count == 2 && events.first?.body is CheckInsResumed && events.last?.body is CheckedIn)
        household.pass(.days(2))
        for timer in household.rows.wantedTimers(of: anna).reversed() { try household.ask(nil, timer.command.body) }
        #expect(household.state(anna).checkIn.missed && household.state(anna).checkIn.pausedUntil == nil)
    }

    @Test("what is asked for in the past, and a deadline that a process of an earlier release moves, is no pause (A5)")
    func none() throws {
        var (household, anna, phone) = try Self.person()
        #expect(try household.rejection(anna, PauseCheckIns(until: household.time, by: phone)) == .invalidField)
        try household.ask(anna, PauseCheckIns(until: household.time + .days(3), by: phone))
        household.rows[anna]?.checkIn.due = household.time + .hours(24)
        #expect(household.state(anna).checkIn.pausedUntil == nil)
        let names = household.rows.wantedTimers(of: anna).map { type(of: $0.command.body).type }
        #expect(names == ["RemindCheckIn", "RemindCheckIn", "MissCheckIn"])
    }

    @Test("a longer interval after a pause puts the deadline off, never forward (A5)")
    func after() throws {
        for isEarly in [false, true] {
            var (household, anna, phone) = try Self.person()
            try household.ask(anna, PauseCheckIns(until: household.time + .days(3), by: phone))
            try household.run(.hours(40), of: anna)
            try household.ask(anna, CheckIn())
            if isEarly { household.pass(.hours(20)) } else { try household.run(.hours(32), of: anna) }
            let end = household.time
            if isEarly { try household.ask(anna, ResumeCheckIns()) }
            household.pass(.hours(1))
            try household.ask(anna, SetCheckInInterval(interval: .hours(36)))
            #expect(household.state(anna).checkIn.due == end + .hours(36), "\(isEarly)")
            try household.ask(anna, SetCheckInInterval(interval: .hours(24)))
            #expect(household.state(anna).checkIn.due == end + .hours(24), "\(isEarly)")
        }
    }

    @Test("once a grace has begun, a pause that was asked for before is refused: it would be left standing (A5)")
    func graced() throws {
        var (household, anna, phone) = try Self.person()
        try household.ask(anna, SetCheckInGrace(grace: .minutes(15)))
        try household.run(.hours(24), of: anna)
        let pause = PauseCheckIns(until: household.time + .days(1), by: phone)
        #expect(throws: Rejection.self) {
            try household.ask(anna, pause, recordedAt: household.time - .seconds(1))
        }
        #expect(household.state(anna).checkIn.graceEnds != nil)
    }

    @Test("whether a pause is over is judged by the clock when the rules' time is ahead of it (A5)")
    func ahead() throws {
        var (household, anna, phone) = try Self.person()
        let until = household.time + .hours(2)
        try household.ask(anna, PauseCheckIns(until: until, by: phone))
        household.pass(.hours(3))
        let clock = until - .hours(1)
        var set = household
        #expect(try set.ask(anna, SetCheckInInterval(interval: .hours(48)), recordedAt: clock).count == 1)
        #expect(set.state(anna).checkIn.pausedUntil == until && set.state(anna).checkIn.due == until + .hours(48))
        var resumed = household
        let end = try resumed.ask(anna, ResumeCheckIns(), recordedAt: clock).first(as: CheckInsResumed.self)
        #expect(end.isEarly && end.due == clock + .hours(24))
        #expect(try household.ask(anna, CheckIn(), recordedAt: clock).count == 1)
        #expect(household.state(anna).checkIn.pausedUntil == until)
    }

    @Test("a pause whose end nothing noticed is over before the grace begins, and before the alarm (A5)")
    func order() throws {
        for grace in [0, 15] as [Int64] {
            var (household, anna, phone) = try Self.person()
            try household.ask(anna, SetCheckInGrace(grace: .minutes(grace)))
            try household.ask(anna, PauseCheckIns(until: household.time + .hours(2), by: phone))
            household.pass(.hours(26))
            let timers = household.rows.wantedTimers(of: anna)
            let miss = try #require(timers.compactMap { $0.command.body as? MissCheckIn }.first)
            let events = try household.ask(nil, miss)
            #expect(events.count == 2 && events.first?.body is CheckInsResumed)
        }
    }
}
