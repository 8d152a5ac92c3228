import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: check-ins at daily times")
struct DailyCheckInTests {
    /// 2026-06-15 00:00 UTC, a Monday.
    static let monday = Instant(microseconds: 1_781_481_600_000_000)

    /// Somebody who checked in at midnight and then chose times.
    static func person(
        _ times: [Int], on weekdays: [Weekday] = Weekday.allCases, in zone: String = "UTC"
    ) throws -> (Household, AccountID) {
        var household = Household()
        household.time = monday - .days(1)
        let anna = try household.person()
        household.time = monday
        try household.ask(anna, CheckIn())
        try household.ask(anna, SetDailyCheckIns(times: times, weekdays: weekdays, zone: zone))
        return (household, anna)
    }

    static func bodies<Body>(_ household: Household, as type: Body.Type) -> [Body] {
        household.log.compactMap { $0.event.body as? Body }
    }

    static func at(_ hour: Int64, _ minute: Int64 = 0, day: Int64 = 0) -> Instant {
        monday + .days(day) + .hours(hour) + .minutes(minute)
    }

    static func checkIn(_ household: inout Household, _ account: AccountID, at time: Instant) throws
        -> CheckedIn
    {
        household.time = time
        let events = try household.ask(account, CheckIn())
        guard let checkedIn = events.last?.body as? CheckedIn else { throw Unexpected(events) }
        return checkedIn
    }

    @Test(
        "a check-in counts from six hours before, or half the way from the one before; an earlier one is shown and moves nothing (A6)"
    )
    func window() throws {
        var (household, anna) = try Self.person([8 * 60, 11 * 60])
        // They checked in at midnight, before anything counts.
        var state = household.state(anna).checkIn
        #expect(state.due == Self.at(8) && state.opens == Self.at(2) && state.interval == .hours(21))
        let early = try Self.checkIn(&household, anna, at: Self.at(1, 59))
        #expect(early.isEarly == true && early.due == Self.at(8) && early.opens == Self.at(2))
        #expect(household.state(anna).checkIn.last == Self.at(1, 59))
        // It counted for nothing, so the next one needn't wait; but one that counted is followed by a rest.
        let counted = try Self.checkIn(&household, anna, at: Self.at(2))
        #expect(counted.isEarly == nil && counted.due == Self.at(11) && counted.opens == Self.at(9, 30))
        household.time = Self.at(2, 1)
        #expect(try household.rejection(anna, CheckIn()) == .tooSoon)
        let again = try Self.checkIn(&household, anna, at: Self.at(9, 29))
        #expect(again.isEarly == true && again.due == Self.at(11))
        let next = try Self.checkIn(&household, anna, at: Self.at(9, 30))
        #expect(next.due == Self.at(8, day: 1))
        state = household.state(anna).checkIn
        #expect(state.isEarly(at: household.time) && !state.isEarly(at: Self.at(2, day: 1)))
        #expect(Self.bodies(household, as: CheckInMissed.self).isEmpty)
    }

    @Test(
        "a late one ends the alarm, and counts for the next time if it is in its window (A6)", arguments: [false, true])
    func late(isInWindow: Bool) throws {
        var (household, anna) = try Self.person([8 * 60, 11 * 60])
        try household.run(.minutes(481), of: anna)
        #expect(household.state(anna).checkIn.missed && household.state(anna).checkIn.opens == nil)
        let time = isInWindow ? Self.at(10) : Self.at(9)
        let checkedIn = try Self.checkIn(&household, anna, at: time)
        #expect(checkedIn.ended == Self.at(8) && checkedIn.alarm != nil)
        #expect(checkedIn.due == (isInWindow ? Self.at(8, day: 1) : Self.at(11)))
    }

    @Test(
        "an alarm or a grace that began while the clock was ahead is ended by a check-in, however early it is by the clock (A6)",
        arguments: [0, 30] as [Int64])
    func ahead(grace: Int64) throws {
        var (household, anna) = try Self.person([11 * 60])
        try household.ask(anna, SetCheckInGrace(grace: .minutes(grace)))
        household.time = Self.at(11)
        try household.ask(nil, MissCheckIn(account: anna, deadline: Self.at(11)))
        #expect(household.state(anna).checkIn.missed == (grace == 0))
        // It is four o'clock: the clock was set right.
        let checkedIn = try household.ask(anna, CheckIn(), recordedAt: Self.at(4)).first(as: CheckedIn.self)
        #expect(checkedIn.isEarly == nil && checkedIn.due == Self.at(11, day: 1))
        #expect((grace == 0 ? checkedIn.ended : checkedIn.graced) == Self.at(11))
        let state = household.state(anna).checkIn
        #expect(!state.missed && state.graceEnds == nil && state.last == Self.at(4) && state.due == checkedIn.due)
    }

    @Test("no reminder comes before a check-in counts (A6)")
    func reminders() throws {
        var (household, anna) = try Self.person([8 * 60, 11 * 60])
        try household.run(.minutes(478), of: anna)
        #expect(Self.bodies(household, as: CheckInReminded.self).map(\.at) == [Self.at(6), Self.at(7, 30)])
        _ = try Self.checkIn(&household, anna, at: Self.at(7, 59))
        try household.run(.hours(3), of: anna)
        #expect(Self.bodies(household, as: CheckInReminded.self).map(\.at).suffix(1) == [Self.at(10, 30)])
        #expect(Self.bodies(household, as: CheckInReminded.self).count == 3)
    }

    @Test("a change leaves what is due within twelve hours, and says which of its times is past (A6)")
    func change() throws {
        var (household, anna) = try Self.person([9 * 60, 11 * 60, 15 * 60, 22 * 60])
        household.time = Self.at(7, 30)
        let set = try household.ask(
            anna, SetDailyCheckIns(times: [6 * 60 + 30, 12 * 60], weekdays: [.monday, .friday], zone: "UTC")
        )
        .first(as: DailyCheckInsSet.self)
        #expect(set.due == Self.at(9) && set.opens == Self.at(3, 30) && set.skipped == Self.at(6, 30))
        #expect(set.interval == .minutes(90 * 60 + 30))
        var due = set.due
        var all: [Instant] = []
        while due < Self.at(0, day: 5) {
            all.append(due)
            due = try Self.checkIn(&household, anna, at: due).due
        }
        // Of eleven, twelve is too near; after the twelve hours only the new times are left.
        #expect(all == [Self.at(9), Self.at(11), Self.at(15), Self.at(6, 30, day: 4), Self.at(12, day: 4)])
        #expect(Self.bodies(household, as: CheckInMissed.self).isEmpty)
    }

    @Test(
        "what is due within twelve hours stays when daily times take an interval's place, and the other way round (A6)")
    func interval() throws {
        var household = Household()
        household.time = Self.monday
        let anna = try household.person()
        try household.ask(anna, SetCheckInInterval(interval: .hours(11)))
        let times = SetDailyCheckIns(times: [20 * 60], weekdays: [.sunday], zone: "UTC")
        let set = try household.ask(anna, times).first(as: DailyCheckInsSet.self)
        #expect(set.due == Self.at(11) && set.opens == Self.at(5) && set.interval == .days(7))
        #expect(try household.ask(anna, times).isEmpty)
        let checkedIn = try Self.checkIn(&household, anna, at: Self.at(11))
        #expect(checkedIn.due == Self.at(20, day: 6))
        household.time = Self.at(10, day: 6)
        let back = try household.ask(anna, SetCheckInInterval(interval: .days(7))).first(as: CheckInIntervalSet.self)
        #expect(back.due == Self.at(20, day: 6) && household.state(anna).checkIn.daily == nil)
        #expect(household.state(anna).checkIn.opens == nil)
        // Further away, it goes.
        _ = try Self.checkIn(&household, anna, at: Self.at(20, day: 6))
        try household.ask(anna, times)
        let last = try household.ask(anna, SetCheckInInterval(interval: .days(2))).first(as: CheckInIntervalSet.self)
        #expect(last.due == Self.at(20, day: 8))
    }

    @Test(
        "a deadline that has passed, its grace and its alarm stay, whatever is chosen (A6)",
        arguments: [0, 30] as [Int64])
    func passed(grace: Int64) throws {
        var (household, anna) = try Self.person([8 * 60])
        try household.ask(anna, SetCheckInGrace(grace: .minutes(grace)))
        try household.run(.minutes(485), of: anna)
        let set = try household.ask(anna, SetDailyCheckIns(times: [20 * 60], weekdays: [.sunday], zone: "UTC"))
            .first(as: DailyCheckInsSet.self)
        // While nobody else knows, what was said of it is still so.
        #expect(set.due == Self.at(8) && set.opens == (grace > 0 ? Self.at(2) : nil) && set.skipped == nil)
        try household.run(.minutes(30), of: anna)
        #expect(Self.bodies(household, as: CheckInMissed.self).map(\.deadline) == [Self.at(8)])
        #expect(try Self.checkIn(&household, anna, at: Self.at(9)).due == Self.at(20, day: 6))
    }

    @Test(
        "newer data of a zone move a deadline that is twelve hours away or more, and the person is told; none is alarmed of the past (A6)"
    )
    func zones() throws {
        // Clocks are set forward by a day: as far as they ever were at once.
        for (hour, isMoved) in [(10, false), (30, true)] as [(Int64, Bool)] {
            var (household, anna) = try Self.person([10 * 60], on: [.tuesday])
            let before = household.state(anna).checkIn
            #expect(before.due == Self.at(10, day: 1))
            household.time = Self.at(10, day: 1) - .hours(hour)
            household.rows.zones.add(ZoneRules(first: 24 * 3600), "UTC", version: 2)
            household.rows.limits.zones.number = 2
            household.rows.limits.zones.since = household.time
            try household.run(.seconds(1), of: anna)
            let moved = Self.bodies(household, as: DailyCheckInsMoved.self)
            guard isMoved else {
                #expect(moved.isEmpty && household.state(anna).checkIn == before)
                continue
            }
            // It would be ten o'clock of this Monday, for which it isn't too late.
            #expect(moved.map(\.due) == [Self.at(10)] && moved.map(\.former) == [Self.at(10, day: 1)])
            #expect(moved.first?.skipped == nil)
        }
        var (household, anna) = try Self.person([10 * 60], on: [.tuesday])
        household.time = Self.at(12)
        household.rows.zones.add(ZoneRules(first: 24 * 3600), "UTC", version: 2)
        household.rows.limits.zones.number = 2
        try household.run(.seconds(1), of: anna)
        let moved = try #require(Self.bodies(household, as: DailyCheckInsMoved.self).first)
        #expect(moved.skipped == Self.at(10) && moved.due == Self.at(10, day: 7) && moved.isByZone == true)
        try household.run(.days(1), of: anna)
        #expect(Self.bodies(household, as: CheckInMissed.self).isEmpty)
        #expect(household.rows.wantedTimers(of: anna).allSatisfy { !($0.command.body is ReviewDailyCheckIns) })
    }

    @Test("a rule that changes between two versions of the zones leaves all that is due within twelve hours (A6)")
    func versions() throws {
        // Jordan said in October 2022 that its clocks wouldn't be set back that month.
        let before = try Zones.rules(posix: "EET-2EEST,M2.5.4/24,M10.5.5/1", first: 0)
        let after = ZoneRules(first: 3 * 3600)
        /// 2022-10-27 20:00 UTC, two hours before the change that didn't come.
        let evening = Instant(microseconds: 1_666_900_800_000_000)
        var household = Household()
        household.rows.zones.add(before, "Asia/Amman", version: 1)
        household.time = evening - .hours(1)
        let anna = try household.person()
        try household.ask(anna, SetCheckInInterval(interval: .hours(1)))
        try household.ask(
            anna, SetDailyCheckIns(times: [7 * 60, 9 * 60, 19 * 60], weekdays: Weekday.allCases, zone: "Asia/Amman"))
        household.time = evening
        #expect(try household.ask(anna, CheckIn()).first(as: CheckedIn.self).due == evening + .hours(9))
        household.rows.zones.add(after, "Asia/Amman", version: 2)
        household.rows.limits.zones.number = 2
        try household.run(.seconds(1), of: anna)
        #expect(Self.bodies(household, as: DailyCheckInsMoved.self).isEmpty)
        var all: [Instant] = []
        var due = try #require(household.state(anna).checkIn.due)
        while due < evening + .days(2) {
            all.append(due)
            due = try Self.checkIn(&household, anna, at: due).due
        }
        // Seven and nine of the next morning by the clocks of before, and from then on by those of after.
        #expect(all == [9, 11, 20, 32, 34, 44].map { evening + .hours($0) })
    }

    @Test(
        "after a pause the first daily time is due; a check-in in it that counts moves that, and the pause goes on (A6)"
    )
    func pause() throws {
        var (household, anna) = try Self.person([8 * 60, 20 * 60])
        let phone = try #require(household.state(anna).devices.first?.id)
        household.time = Self.at(3)
        let paused = try household.ask(anna, PauseCheckIns(until: Self.at(7, day: 3), by: phone))
            .first(as: CheckInsPaused.self)
        #expect(paused.due == Self.at(8, day: 3) && paused.opens == Self.at(2, day: 3))
        #expect(household.state(anna).checkIn.pausedUntil == Self.at(7, day: 3))
        let early = try Self.checkIn(&household, anna, at: Self.at(7, day: 1))
        #expect(early.due == Self.at(8, day: 3) && early.isEarly == true)
        #expect(household.state(anna).checkIn.pausedUntil == Self.at(7, day: 3))
        // Other times don't end it.
        let set = try household.ask(anna, SetDailyCheckIns(times: [9 * 60], weekdays: Weekday.allCases, zone: "UTC"))
            .first(as: DailyCheckInsSet.self)
        #expect(set.due == Self.at(9, day: 3) && set.skipped == nil)
        #expect(household.state(anna).checkIn.pausedUntil == Self.at(7, day: 3))
        try household.run(.hours(44), of: anna)
        let counted = try Self.checkIn(&household, anna, at: Self.at(4, day: 3))
        #expect(counted.due == Self.at(9, day: 4) && household.state(anna).checkIn.pausedUntil == Self.at(7, day: 3))
        try household.run(.hours(4), of: anna)
        #expect(household.state(anna).checkIn.pausedUntil == nil)
        #expect(Self.bodies(household, as: CheckInsResumed.self).map(\.due) == [Self.at(9, day: 4)])
        // Ended early, it is the next one.
        try household.ask(anna, PauseCheckIns(until: Self.at(10, day: 6), by: phone))
        household.time = Self.at(8, 58, day: 4)
        let resumed = try household.ask(anna, ResumeCheckIns()).first(as: CheckInsResumed.self)
        #expect(resumed.isEarly && resumed.due == Self.at(9, day: 4))
        #expect(household.state(anna).checkIn.opens == Self.at(3, day: 4))
    }

    @Test("an alarm that was closed without the person leaves them the whole time for the next one (A6)")
    func closed() throws {
        var (household, anna) = try Self.person([8 * 60])
        try household.run(.hours(9), of: anna)
        try household.ask(anna, SetDailyCheckIns(times: [10 * 60], weekdays: Weekday.allCases, zone: "UTC"))
        try household.run(.hours(719), of: anna)
        let closed = try #require(Self.bodies(household, as: AlarmClosed.self).first)
        // For that of the same day a check-in would have counted for hours.
        #expect(closed.at == Self.at(8, day: 30) && closed.due == Self.at(10, day: 31))
        #expect(closed.opens == Self.at(4, day: 31) && household.state(anna).checkIn.opens == closed.opens)
    }

    @Test("what a process of an earlier release made of a deadline is put right; an interval that it set is one (A6)")
    func earlierRelease() throws {
        var (household, anna) = try Self.person([8 * 60])
        // It knows only the interval.
        household.rows[anna]?.checkIn.due = Self.at(7, day: 1)
        household.rows[anna]?.checkIn.last = Self.at(7)
        household.time = Self.at(7)
        #expect(household.state(anna).checkIn.opens == nil && household.state(anna).checkIn.daily != nil)
        let review = try #require(
            household.rows.wantedTimers(of: anna).first { $0.command.body is ReviewDailyCheckIns })
        #expect(review.due <= household.time)
        try household.ask(nil, review.command.body)
        let moved = try #require(Self.bodies(household, as: DailyCheckInsMoved.self).first)
        #expect(moved.due == Self.at(8, day: 1) && moved.former == Self.at(7, day: 1) && moved.skipped == nil)
        #expect(moved.isByZone == nil)
        #expect(household.rows.wantedTimers(of: anna).allSatisfy { !($0.command.body is ReviewDailyCheckIns) })
        household.rows[anna]?.checkIn.interval = .hours(5)
        household.rows[anna]?.checkIn.due = Self.at(12)
        #expect(household.state(anna).checkIn.daily == nil && household.state(anna).checkIn.opens == nil)
        #expect(try household.rejection(anna, SetCheckInInterval(interval: .hours(6))) == nil)
    }

    @Test(
        "a look that waited for long, or comes just before a daily time, makes nothing due that is past or at once (A6)"
    )
    func lateReview() throws {
        var (household, anna) = try Self.person([8 * 60, 12 * 60, 20 * 60])
        // A process of an earlier release took a check-in.
        household.rows[anna]?.checkIn.last = Self.at(9, 58)
        household.rows[anna]?.checkIn.due = Self.at(21, 58)
        var late = household
        late.time = Self.at(15)
        late.rows.clock = late.time
        try late.ask(nil, ReviewDailyCheckIns(account: anna), recordedAt: Self.at(10))
        let moved = try #require(Self.bodies(late, as: DailyCheckInsMoved.self).first)
        #expect(moved.due == Self.at(20) && moved.skipped == Self.at(12))
        try late.run(.hours(4), of: anna)
        #expect(Self.bodies(late, as: CheckInMissed.self).isEmpty)
        #expect(Self.bodies(late, as: CheckInReminded.self).map(\.deadline) == [Self.at(20)])

        household.time = Self.at(20) - .seconds(10)
        try household.ask(nil, ReviewDailyCheckIns(account: anna))
        #expect(household.state(anna).checkIn.due == Self.at(21, 58))
        try household.run(.hours(1), of: anna)
        #expect(Self.bodies(household, as: CheckInMissed.self).isEmpty)
        #expect(try Self.checkIn(&household, anna, at: Self.at(21)).due == Self.at(8, day: 1))
    }

    @Test(
        "a deadline of an earlier release stays if daily times before it passed without a check-in, and any check-in counts for it (A6)"
    )
    func standsForOthers() throws {
        for time in [Self.at(20, 30), Self.at(21, 57)] {
            var (household, anna) = try Self.person([8 * 60, 12 * 60, 20 * 60])
            household.rows[anna]?.checkIn.last = Self.at(9, 58)
            household.rows[anna]?.checkIn.due = Self.at(21, 58)
            household.time = time
            try household.ask(nil, ReviewDailyCheckIns(account: anna))
            #expect(household.state(anna).checkIn.due == Self.at(21, 58))
            var other = household
            #expect(try Self.checkIn(&other, anna, at: Self.at(21, 57)).due == Self.at(8, day: 1))
            let miss = household.rows.wantedTimers(of: anna).first { $0.command.body is MissCheckIn }
            #expect(miss?.due == Self.at(21, 58))
            household.time = Self.at(21, 58)
            try household.ask(nil, try #require(miss).command.body)
            #expect(Self.bodies(household, as: CheckInMissed.self).map(\.deadline) == [Self.at(21, 58)])
        }
        // Somebody who has answered the one before goes on with daily times.
        var (household, anna) = try Self.person([8 * 60, 12 * 60, 20 * 60])
        household.rows[anna]?.checkIn.last = Self.at(19, 30)
        household.rows[anna]?.checkIn.due = Self.at(7, 30, day: 1)
        household.time = Self.at(20, 30)
        try household.ask(nil, ReviewDailyCheckIns(account: anna))
        #expect(household.state(anna).checkIn.due == Self.at(8, day: 1))

        // Before it, no check-in was too early.
        (household, anna) = try Self.person([18 * 60])
        household.rows[anna]?.checkIn.last = Self.at(10)
        household.rows[anna]?.checkIn.due = Self.at(10, day: 1)
        household.time = Self.at(17, 50)
        try household.ask(nil, ReviewDailyCheckIns(account: anna))
        #expect(household.state(anna).checkIn.due == Self.at(10, day: 1))
        let checkedIn = try Self.checkIn(&household, anna, at: Self.at(18))
        #expect(checkedIn.isEarly == nil && checkedIn.due == Self.at(18, day: 1))
    }

    @Test("newer data of a zone make nothing due at once (A6)")
    func notice() throws {
        for (time, due) in [(Self.at(14, 58), Self.at(9, day: 1)), (Self.at(12, 30), Self.at(15))] {
            var (household, anna) = try Self.person([8 * 60, 14 * 60])
            #expect(try Self.checkIn(&household, anna, at: Self.at(7, 30)).due == Self.at(14))
            #expect(try Self.checkIn(&household, anna, at: Self.at(11, 30)).due == Self.at(8, day: 1))
            household.time = time
            household.rows.zones.add(ZoneRules(first: -3600), "UTC", version: 2)
            household.rows.limits.zones.number = 2
            try household.ask(nil, ReviewDailyCheckIns(account: anna))
            let moved = try #require(Self.bodies(household, as: DailyCheckInsMoved.self).first)
            #expect(moved.due == due && moved.skipped == (due == Self.at(15) ? nil : Self.at(15)))
            try household.run(.hours(2), of: anna)
            #expect(Self.bodies(household, as: CheckInMissed.self).isEmpty)
        }
    }

    @Test("a look leaves out nothing that is past only by the rules' time, which is far ahead after a failover (A6)")
    func reviewAhead() throws {
        var (household, anna) = try Self.person([8 * 60, 12 * 60, 20 * 60])
        // A process of an earlier release took a check-in.
        household.rows[anna]?.checkIn.last = Self.at(9, 58)
        household.rows[anna]?.checkIn.due = Self.at(21, 58)
        household.time = Self.at(21)
        household.rows.clock = Self.at(10, 30)
        try household.ask(nil, ReviewDailyCheckIns(account: anna), recordedAt: Self.at(10))
        #expect(household.state(anna).checkIn.due == Self.at(20))
    }

    @Test("a zone that nobody knows is refused, and ten changes in a day are enough for anybody (A6)")
    func refused() throws {
        var (household, anna) = try Self.person([8 * 60])
        let nowhere = SetDailyCheckIns(times: [60], weekdays: [.monday], zone: "Europe/Nowhere")
        #expect(throws: DailyTimes.unknownZone) { try household.ask(anna, nowhere) }
        var empty = household
        empty.rows.zones = ZoneBook()
        empty.rows.limits.zones.number = 0
        #expect(throws: DailyTimes.noZones) { try empty.ask(anna, nowhere) }
        // Operators can ask for longer intervals.
        var rare = household
        rare.rows.limits.leastCheckInInterval = .hours(6)
        let near = SetDailyCheckIns(times: [8 * 60, 14 * 60 - 1], weekdays: [.monday], zone: "UTC")
        #expect(throws: DailyTimes.tooNear) { try rare.ask(anna, near) }
        // What is round the clock counts, too.
        let night = SetDailyCheckIns(times: [5 * 60, 23 * 60 + 1], weekdays: [.monday, .tuesday], zone: "UTC")
        #expect(throws: DailyTimes.tooNear) { try rare.ask(anna, night) }
        let far = SetDailyCheckIns(times: [8 * 60, 14 * 60], weekdays: [.monday], zone: "UTC")
        #expect(try rare.rejection(anna, far) == nil)
        for number in 1...9 {
            try household.ask(anna, SetDailyCheckIns(times: [number * 60], weekdays: [.monday], zone: "UTC"))
        }
        let tenth = SetDailyCheckIns(times: [10 * 60], weekdays: [.monday], zone: "UTC")
        #expect(try household.rejection(anna, tenth) == .tooSoon)
        // An interval in between doesn't change that.
        var between = household
        try between.ask(anna, SetCheckInInterval(interval: .hours(5)))
        #expect(try between.rejection(anna, tenth) == .tooSoon)
        household.pass(.days(1))
        #expect(try household.rejection(anna, tenth) == nil)
        for (times, weekdays, zone) in [
            ([], [.monday], "UTC"), ([1, 100, 200, 300, 400], [.monday], "UTC"), ([1440], [.monday], "UTC"),
            ([10, 69], [.monday], "UTC"), ([0, 1381], [.monday], "UTC"), ([60], [], "UTC"),
            ([60], [.monday, .monday], "UTC"), ([60], [.monday], ""), ([60], [.monday], "../../etc/passwd"),
        ] as [([Int], [Weekday], String)] {
            let command = SetDailyCheckIns(times: times, weekdays: weekdays, zone: zone)
            #expect(throws: Rejection.self, "\(command)") { try command.validate() }
        }
        try SetDailyCheckIns(times: [1380, 0], weekdays: [.sunday, .monday], zone: "America/Argentina/Buenos_Aires")
            .validate()
    }

    @Test("times that were chosen for what has changed since are refused, unless they replace anything (T26, A6)")
    func stale() throws {
        var (household, anna) = try Self.person([8 * 60])
        func times(_ hour: Int, expecting version: Int64?) -> SetDailyCheckIns {
            SetDailyCheckIns(times: [hour * 60], weekdays: [.monday], zone: "UTC", expectedVersion: version)
        }
        #expect(household.state(anna).checkIn.version == 1)
        try household.ask(anna, times(9, expecting: 1))
        // Another device had read the same.
        for hour in [9, 10] {
            #expect(throws: Rejection.staleVersion(expected: 1, current: 2)) {
                try household.ask(anna, times(hour, expecting: 1))
            }
        }
        #expect(household.state(anna).checkIn.daily?.times == [9 * 60])
        // An interval takes their place, and is read with them.
        try household.ask(anna, SetCheckInInterval(interval: .hours(30)))
        #expect(throws: Rejection.staleVersion(expected: 2, current: 3)) {
            try household.ask(anna, times(9, expecting: 2))
        }
        // Nor does it take the place of times that its person hasn't seen.
        let daily = times(9, expecting: nil).daily
        try household.ask(anna, times(9, expecting: nil))
        #expect(throws: Rejection.staleVersion(expected: 3, current: 4)) {
            try household.ask(anna, SetCheckInInterval(interval: .hours(30), expectedVersion: 3))
        }
        #expect(household.state(anna).checkIn.daily == daily)
        try household.ask(anna, SetCheckInInterval(interval: .hours(30), expectedVersion: 4))
        // Other settings are values of their own, and nothing is counted that changes nothing.
        try household.ask(anna, SetCheckInGrace(grace: .minutes(10)))
        try household.ask(anna, SetCheckInInterval(interval: .hours(30)))
        try household.ask(anna, times(9, expecting: 5))
        #expect(household.state(anna).checkIn.version == 6)
        // The newest wins over anything if it names no version.
        try household.ask(anna, times(11, expecting: nil))
        #expect(household.state(anna).checkIn.version == 7)
    }

    @Test(
        "others are told of exactly those daily times for which no check-in counted, whenever somebody checks in (A6)")
    func exactly() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(20, long: 200) {
                let zone = try #require(["UTC", "Europe/Berlin", "Pacific/Auckland"].randomElement(using: &random))
                var household = Household(seed: random.next())
                household.time = Self.monday + .days(Int64.random(in: 0...365, using: &random))
                let anna = try household.person()
                try household.ask(anna, SetCheckInInterval(interval: .hours(13)))
                let daily = DailySequenceTests.daily(zone, using: &random)
                let set = try household.ask(anna, SetDailyCheckIns(daily)).first(as: DailyCheckInsSet.self)
                // By the clocks of somebody else.
                let days = household.time.microseconds / 86_400_000_000
                let oracle = try #require(ZoneOracle(zone))
                let all = DailySequenceTests.expected(daily, oracle, days: days - 9..<days + 150)
                func opens(_ index: Int) -> Instant {
                    all[index] - min(.hours(6), Interval(microseconds: (all[index] - all[index - 1]).microseconds / 2))
                }
                var next = try #require(all.firstIndex(of: set.due))
                var (missed, isOn) = ([Instant](), false)
                for _ in 0..<60 where next + 4 < all.count {
                    let near = all[next] - .minutes(Int64.random(in: -60...500, using: &random))
                    try household.run(max(near - household.time, .minutes(6)), of: anna)
                    if !isOn, all[next] <= household.time { (missed, isOn) = (missed + [all[next]], true) }
                    if random.oneIn(3) { continue }
                    try household.ask(anna, CheckIn())
                    if isOn {
                        isOn = false
                        while opens(next) <= household.time { next += 1 }
                    } else if opens(next) <= household.time {
                        next += 1
                    }
                    try #require(household.state(anna).checkIn.due == all[next])
                    try #require(household.replicas[anna] == household.state(anna))
                }
                #expect(Self.bodies(household, as: CheckInMissed.self).map(\.deadline) == missed)
            }
        }
    }

    @Test("whatever is changed, and however the zones change, no deadline less than twelve hours away is removed (A6)")
    func safe() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(40, long: 400) {
                var household = Household(seed: random.next())
                household.time = Self.monday + .days(Int64.random(in: 0...365, using: &random))
                let anna = try household.person()
                for _ in 0..<8 {
                    let due = try Self.walk(household, anna)
                    let zones = ["UTC", "Europe/Berlin", "Pacific/Auckland"]
                    if random.oneIn(3) {
                        let version = household.rows.limits.zones.number
                        let swap = household.rows.zones
                        for (zone, other) in zip(zones, zones.shuffled(using: &random)) {
                            let rules = try #require(swap[other, version])
                            household.rows.zones.add(rules, zone, version: version + 1)
                        }
                        household.rows.limits.zones.number = version + 1
                        household.rows.limits.zones.since = household.time
                        // They are looked at at some time.
                        if random.oneIn(2) { try household.ask(nil, ReviewDailyCheckIns(account: anna)) }
                    } else {
                        let zone = zones.randomElement(using: &random) ?? "UTC"
                        try household.ask(anna, SetDailyCheckIns(DailySequenceTests.daily(zone, using: &random)))
                    }
                    let now = try Self.walk(household, anna)
                    try #require(due.allSatisfy(now.contains), "\(due) became \(now)")
                    // Everybody checks in in time.
                    let pass = Interval.minutes(Int64.random(in: 1...400, using: &random))
                    let end = household.time + pass
                    while let next = household.state(anna).checkIn.due, next <= end {
                        _ = try Self.checkIn(&household, anna, at: next)
                    }
                    household.time = end
                }
            }
        }
    }

    /// The next deadlines, if somebody checks in at each.
    static func walk(
        _ household: Household, _ anna: AccountID, for length: Interval = .hours(12)
    ) throws -> [Instant] {
        var copy = household
        let end = copy.time + length
        var all: [Instant] = []
        while let due = copy.state(anna).checkIn.due, due < end {
            all.append(due)
            _ = try checkIn(&copy, anna, at: due)
        }
        return all
    }
}
