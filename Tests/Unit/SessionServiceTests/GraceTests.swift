import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: a grace after the deadline")
struct GraceTests {
    /// Somebody who checked in now and has this grace, and the deadline.
    private static func person(_ grace: Interval) throws -> (Household, AccountID, Instant) {
        var household = Household()
        let anna = try household.person()
        try household.ask(anna, SetCheckInGrace(grace: grace))
        try household.ask(anna, CheckIn())
        return (household, anna, household.time + .hours(24))
    }

    private static func miss(_ household: Household, _ anna: AccountID) throws -> MissCheckIn {
        let timers = household.rows.wantedTimers(of: anna).compactMap { $0.command.body as? MissCheckIn }
        return try #require(timers.first)
    }

    @Test("only the person hears of the deadline; the alarm comes when the grace is over, and says so (A3)")
    func over() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        try household.run(.hours(24), of: anna)
        let began = try #require(household.log.last?.event.body as? CheckInGraceBegan)
        #expect(began.deadline == due && began.ends == due + .minutes(10) && household.log.last?.at == due)
        #expect(household.state(anna).checkIn.graceEnds == began.ends && !household.state(anna).checkIn.missed)
        #expect(household.state(anna).checkIn.othersHear(at: household.time) == began.ends)
        try household.run(.minutes(10), of: anna)
        let missed = try #require(household.log.last?.event.body as? CheckInMissed)
        #expect(missed.deadline == due && missed.graceEnded == began.ends && household.log.last?.at == began.ends)
        let state = household.state(anna).checkIn
        #expect(state.missed && state.graceEnds == nil && state.grace == .minutes(10) && state.due == due)
    }

    @Test("a check-in within the grace ends it unnoticed, however soon it comes after the one before (A3)")
    func unnoticed() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        household.rows.limits.checkInCooldown = .hours(48)
        try household.run(.minutes(24 * 60 + 9), of: anna)
        let checkedIn = try household.ask(anna, CheckIn())
        let next = household.time + .hours(24)
        #expect(checkedIn == [.checkedIn(CheckedIn(account: anna, due: next, graced: due, at: due + .minutes(9)))])
        #expect(
            household.state(anna).checkIn.graceEnds == nil
                && household.state(anna).checkIn.othersHear(at: household.time) == next + .minutes(10))
    }

    @Test("nothing that is set after the deadline changes when others hear, whether the timer has fired or not (A3)")
    func fixed() throws {
        for (before, after) in [(0, 60), (10, 60), (10, 0)] as [(Int64, Int64)] {
            for hasFired in [true, false] {
                var (household, anna, due) = try Self.person(.minutes(before))
                let hear = due + .minutes(before)
                if hasFired { try household.run(.hours(24), of: anna) } else { household.pass(.hours(24)) }
                let changes: [any CommandBody] = [
                    SetCheckInGrace(grace: .minutes(after)), SetCheckInInterval(interval: .days(7)),
                    SetCheckInReminders(reminders: []), SetCheckInInterval(interval: .hours(1)),
                    SetCheckInGrace(grace: .minutes(before)), SetCheckInGrace(grace: .minutes(after)),
                ]
                for change in changes { try household.ask(anna, change) }
                try household.run(.hours(2), of: anna)
                let missed = household.log.filter { $0.event.body is CheckInMissed }
                #expect(missed.map(\.at) == [hear], "\(before) to \(after), \(hasFired)")
                let began = household.log.filter { $0.event.body is CheckInGraceBegan }
                #expect(began.count == (before > 0 ? 1 : 0), "\(before) to \(after), \(hasFired)")
                // From the next deadline on it counts.
                try household.ask(anna, CheckIn())
                #expect(
                    household.state(anna).checkIn.othersHear(at: household.time)
                        == household.state(anna).checkIn.due.map { $0 + .minutes(after) })
            }
        }
    }

    @Test("before the deadline it can be changed, and counts at once (A3)")
    func before() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        household.pass(.hours(23))
        #expect(try household.ask(anna, SetCheckInGrace(grace: .minutes(10))).isEmpty)
        try household.ask(anna, SetCheckInGrace(grace: .minutes(60)))
        try household.run(.hours(2), of: anna)
        #expect((household.log.last?.event.body as? CheckInMissed)?.graceEnded == due + .minutes(60))
    }

    @Test(
        "a check-in that was recorded within the grace keeps the alarm away, handled late or not; one after it ends it (A3)"
    )
    func recorded() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        try household.run(.hours(24), of: anna)
        let miss = try Self.miss(household, anna)
        household.pass(.minutes(11))
        var inTime = household
        inTime.rows.waitingCheckIns = [anna: .init(recordedAt: due + .minutes(10), seenAt: inTime.time)]
        #expect(try inTime.ask(nil, miss).isEmpty)
        #expect(try inTime.ask(anna, CheckIn(), recordedAt: due + .minutes(10)).count == 1)
        #expect(!inTime.log.contains { $0.event.body is CheckInMissed })

        let late = try household.ask(anna, CheckIn(), recordedAt: due + .minutes(10) + .seconds(1))
        let missed = try #require(late.first?.body as? CheckInMissed)
        #expect(missed.graceEnded == due + .minutes(10))
        #expect((late.last?.body as? CheckedIn)?.ended == due && late.count == 2)
    }

    @Test(
        "a check-in that waits at the deadline has a minute then, and one that waits at the grace's end has another (A3)"
    )
    func holds() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        household.pass(.hours(24))
        let miss = try Self.miss(household, anna)
        household.rows.waitingCheckIns = [anna: .init(recordedAt: due, seenAt: household.time)]
        #expect(try household.ask(nil, miss).isEmpty)
        household.pass(.minutes(1))
        household.rows.waitingCheckIns = [anna: .init(recordedAt: due, seenAt: household.time)]
        #expect(try household.ask(nil, miss).first?.body is CheckInGraceBegan)
        household.pass(.minutes(9))
        household.rows.waitingCheckIns = [anna: .init(recordedAt: due, seenAt: household.time)]
        #expect(try household.ask(nil, miss).isEmpty)
        household.rows.waitingCheckIns = [:]
        #expect(try household.ask(nil, miss).first?.body is CheckInMissed)
    }

    @Test("when nothing ran until the grace was over, others hear at once (A3)")
    func outage() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        household.pass(.hours(25))
        let events = try household.ask(nil, try Self.miss(household, anna))
        #expect((events.first?.body as? CheckInMissed)?.graceEnded == due + .minutes(10) && events.count == 1)
    }

    @Test("a timer that a process of an earlier release sets for the deadline begins no alarm, and is set again (A3)")
    func early() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        try household.run(.minutes(24 * 60 + 1), of: anna)
        let miss = try Self.miss(household, anna)
        household.rows.woken = []
        // Nor does it use up the minute of a check-in that waits.
        household.rows.waitingCheckIns = [anna: .init(recordedAt: due, seenAt: household.time)]
        #expect(try household.ask(nil, miss).isEmpty)
        #expect(household.rows[anna]?.checkIn.hold == nil)
        #expect(household.rows.changedTimers[.account(anna)]?.map(\.due) == [due + .minutes(10)])
    }

    @Test(
        "the grace goes by the clock when the rules' time is ahead of it, so others don't hear before the minute that was said (A3)"
    )
    func ahead() throws {
        var (household, anna, due) = try Self.person(.minutes(10))
        household.pass(.minutes(24 * 60 + 20))
        let miss = try Self.miss(household, anna)
        var early = household
        #expect(try early.ask(anna, SetCheckInGrace(grace: .minutes(60)), recordedAt: due - .minutes(5)).count == 1)
        #expect(try household.ask(nil, miss, recordedAt: due).first?.body is CheckInGraceBegan)
        #expect(try household.ask(nil, miss, recordedAt: due + .minutes(9)).isEmpty)
        #expect(try household.ask(nil, miss, recordedAt: due + .minutes(10)).first?.body is CheckInMissed)
    }
}
