import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: changes around daily times")
struct DailyChangeTests {
    private typealias Day = DailyCheckInTests

    /// Once a week, on Sunday at 20:00.
    private static let weekly = SetDailyCheckIns(times: [20 * 60], weekdays: [.sunday], zone: "UTC")

    @Test(
        "other times that are chosen in a grace or during an alarm leave what is due within twelve hours (A6)",
        arguments: [0, 60] as [Int64])
    func late(grace: Int64) throws {
        var (household, anna) = try Day.person([8 * 60, 11 * 60, 15 * 60])
        try household.ask(anna, SetCheckInGrace(grace: .minutes(grace)))
        try household.run(.minutes(510), of: anna)
        #expect(household.state(anna).checkIn.missed == (grace == 0))
        try household.ask(anna, Self.weekly)
        #expect(household.state(anna).checkIn.due == Day.at(8))
        let late = try Day.checkIn(&household, anna, at: Day.at(8, 40))
        #expect((late.ended ?? late.graced) == Day.at(8))
        // From when a check-in counts for it is as it was, too.
        #expect(late.due == Day.at(11) && late.opens == Day.at(9, 30))
        #expect(try Day.checkIn(&household, anna, at: Day.at(9, 29)).isEarly == true)
        #expect(try Day.checkIn(&household, anna, at: Day.at(11)).due == Day.at(15))
        #expect(try Day.checkIn(&household, anna, at: Day.at(15)).due == Day.at(20, day: 6))
    }

    @Test("so do those that are chosen hours later, and once more (A6)")
    func later() throws {
        var (household, anna) = try Day.person([8 * 60, 20 * 60])
        try household.run(.hours(13), of: anna)
        #expect(household.state(anna).checkIn.missed)
        try household.ask(anna, Self.weekly)
        try household.ask(anna, SetDailyCheckIns(times: [7 * 60], weekdays: [.saturday], zone: "UTC"))
        let late = try Day.checkIn(&household, anna, at: Day.at(13, 30))
        #expect(late.ended == Day.at(8) && late.due == Day.at(20) && late.opens == Day.at(14))
        #expect(try Day.checkIn(&household, anna, at: Day.at(20)).due == Day.at(7, day: 5))
    }

    @Test("a check-in ends an alarm during which other times were chosen, however early it is by the clock (A6)")
    func early() throws {
        var (household, anna) = try Day.person([11 * 60])
        try household.run(.hours(12), of: anna)
        try household.ask(anna, Self.weekly)
        let early = try household.ask(anna, CheckIn(), recordedAt: Day.at(4)).first(as: CheckedIn.self)
        #expect(early.isEarly == nil && early.alarm != nil && early.ended == Day.at(11))
        #expect(!household.state(anna).checkIn.missed && early.due > Day.at(11))
    }

    @Test("other times, a little later each day, put a deadline off to a week after the last check-in at most (A6)")
    func putOff() throws {
        var (household, anna) = try Day.person([20 * 60])
        let last = try #require(household.state(anna).checkIn.last)
        try household.run(.hours(7), of: anna)
        for day in 0..<12 {
            let tomorrow = Weekday.allCases[(day + 1) % 7]
            let command = SetDailyCheckIns(times: [20 * 60 + day], weekdays: [tomorrow], zone: "UTC")
            let set = try household.ask(anna, command).first(as: DailyCheckInsSet.self)
            #expect(set.due <= last + .days(7) + .hours(6))
            try household.run(.days(1), of: anna)
        }
        // What would be later than that was refused to one that was announced.
        #expect(Day.bodies(household, as: CheckInMissed.self).map(\.deadline) == [Day.at(20, 5, day: 6)])
    }

    @Test("a deadline that stays for that stays when the zone changes, too (A6)")
    func putOffByZone() throws {
        var (household, anna) = try Day.person([20 * 60])
        household.time = Day.at(7)
        func choose(_ weekday: Weekday) throws -> Instant {
            let command = SetDailyCheckIns(times: [20 * 60], weekdays: [weekday], zone: "Europe/Berlin")
            return try household.ask(anna, command).first(as: DailyCheckInsSet.self).due
        }
        #expect(try choose(.sunday) == Day.at(18, day: 6))
        household.time = Day.at(7, day: 5)
        #expect(try choose(.friday) == Day.at(18, day: 6))
        household.rows.zones.add(ZoneRules(first: 0), "Europe/Berlin", version: 2)
        household.rows.limits.zones.number = 2
        try household.ask(nil, ReviewDailyCheckIns(account: anna))
        #expect(household.state(anna).checkIn.due == Day.at(18, day: 6))
        #expect(try Day.checkIn(&household, anna, at: Day.at(18, day: 6)).due == Day.at(20, day: 11))
    }

    @Test(
        "a time for which a check-in has counted doesn't come back with a pause, however it ends (A6)",
        arguments: [false, true])
    func answered(isEndedEarly: Bool) throws {
        var (household, anna) = try Day.person([8 * 60, 20 * 60])
        let phone = try #require(household.state(anna).devices.first?.id)
        #expect(try Day.checkIn(&household, anna, at: Day.at(4)).due == Day.at(20))
        household.time = Day.at(5)
        let until = isEndedEarly ? Day.at(7, day: 2) : Day.at(7)
        let paused = try household.ask(anna, PauseCheckIns(until: until, by: phone)).first(as: CheckInsPaused.self)
        #expect(paused.due == (isEndedEarly ? Day.at(8, day: 2) : Day.at(20)))
        if isEndedEarly {
            household.time = Day.at(5, 30)
            let resumed = try household.ask(anna, ResumeCheckIns()).first(as: CheckInsResumed.self)
            #expect(resumed.due == Day.at(20) && resumed.opens == Day.at(14))
        }
        try household.run(.hours(6), of: anna)
        #expect(Day.bodies(household, as: CheckInMissed.self).isEmpty)
        #expect(household.state(anna).checkIn.due == Day.at(20))
    }

    @Test("one for which a check-in came too early does (A6)")
    func unanswered() throws {
        var (household, anna) = try Day.person([8 * 60, 19 * 60])
        let phone = try #require(household.state(anna).devices.first?.id)
        #expect(try Day.checkIn(&household, anna, at: Day.at(3)).opens == Day.at(13, 30))
        // By the new times alone, a check-in would count for it from one o'clock on.
        try household.ask(anna, SetDailyCheckIns(times: [19 * 60], weekdays: Weekday.allCases, zone: "UTC"))
        #expect(try Day.checkIn(&household, anna, at: Day.at(13, 15)).isEarly == true)
        household.time = Day.at(13, 20)
        let paused = try household.ask(anna, PauseCheckIns(until: Day.at(14), by: phone)).first(as: CheckInsPaused.self)
        #expect(paused.due == Day.at(19))
    }

    @Test(
        "newer data of a zone change nothing before the account was looked at, and then nothing within twelve hours (A6)"
    )
    func unreviewed() throws {
        // Jordan said in October 2022 that its clocks wouldn't be set back that month.
        let before = try Zones.rules(posix: "EET-2EEST,M2.5.4/24,M10.5.5/1", first: 0)
        let evening = Instant(microseconds: 1_666_900_800_000_000)
        var household = Household()
        household.rows.zones.add(before, "Asia/Amman", version: 1)
        household.time = evening - .hours(1)
        let anna = try household.person()
        try household.ask(anna, SetCheckInInterval(interval: .hours(1)))
        try household.ask(
            anna, SetDailyCheckIns(times: [7 * 60, 9 * 60, 19 * 60], weekdays: Weekday.allCases, zone: "Asia/Amman"))
        household.time = evening
        try household.ask(anna, CheckIn())
        household.rows.zones.add(ZoneRules(first: 3 * 3600), "Asia/Amman", version: 2)
        household.rows.limits.zones.number = 2
        // By the newer data, nine o'clock would be an hour before.
        #expect(try Day.checkIn(&household, anna, at: evening + .hours(9)).due == evening + .hours(11))
        try household.ask(nil, ReviewDailyCheckIns(account: anna))
        #expect(household.state(anna).checkIn.due == evening + .hours(11))
        #expect(try Day.checkIn(&household, anna, at: evening + .hours(11)).due == evening + .hours(20))
    }

    @Test(
        "a daily time that passes while the end of a pause or a choice of times waits to be handled begins no alarm (A6)"
    )
    func waited() throws {
        var (household, anna) = try Day.person([8 * 60, 20 * 60])
        let phone = try #require(household.state(anna).devices.first?.id)
        household.time = Day.at(3)
        try household.ask(anna, PauseCheckIns(until: Day.at(7, day: 3), by: phone))
        household.time = Day.at(8, 2)
        let resumed = try household.ask(anna, ResumeCheckIns(), recordedAt: Day.at(7, 58))
            .first(as: CheckInsResumed.self)
        #expect(resumed.due == Day.at(20))

        (household, anna) = try Day.person([21 * 60])
        household.time = Day.at(12, 2)
        let noon = SetDailyCheckIns(times: [12 * 60], weekdays: Weekday.allCases, zone: "UTC")
        let set = try household.ask(anna, noon, recordedAt: Day.at(11, 58)).first(as: DailyCheckInsSet.self)
        #expect(set.due == Day.at(21) && set.skipped == Day.at(12))
        try household.run(.hours(1), of: anna)
        #expect(Day.bodies(household, as: CheckInMissed.self).isEmpty)
    }

    @Test("what newer data of a zone or other times don't touch stays, also just beyond the twelve hours (A6)")
    func untouched() throws {
        var (household, anna) = try Day.person([20 * 60, 21 * 60 + 30], on: [.sunday])
        household.time = Day.at(8, 15, day: 6)
        let before = try Day.walk(household, anna, for: .days(14))
        #expect(before.prefix(2) == [Day.at(20, day: 6), Day.at(21, 30, day: 6)])
        for rules in [ZoneRules(first: 0), Self.later] {
            var reviewed = household
            reviewed.rows.zones.add(rules, "UTC", version: 2)
            reviewed.rows.limits.zones.number = 2
            try reviewed.ask(nil, ReviewDailyCheckIns(account: anna))
            #expect(try Day.walk(reviewed, anna, for: .days(14)) == before)
        }
        // Eight o'clock stays for once, and half past nine as it was.
        try household.ask(anna, SetDailyCheckIns(times: [21 * 60 + 30], weekdays: [.sunday], zone: "UTC"))
        #expect(
            try Day.walk(household, anna, for: .days(14))
                == [Day.at(20, day: 6), Day.at(21, 30, day: 6), Day.at(21, 30, day: 13)])
    }

    @Test("so it is for all times, however near to one another, and whenever that happens (A6)")
    func untouchedAtAnyTime() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(60, long: 600) {
                var times = [Int.random(in: 0..<1440, using: &random)]
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    times.append((times[times.count - 1] + Int.random(in: 60...119, using: &random)) % 1440)
                }
                let chosen = Weekday.allCases.filter { _ in Bool.random(using: &random) }
                let weekdays = chosen.isEmpty ? [.friday] : chosen
                var (household, anna) = try Day.person(times, on: weekdays)
                let now = Day.at(0, Int64.random(in: 1..<7 * 1440, using: &random))
                while let due = household.state(anna).checkIn.due, due <= now {
                    _ = try Day.checkIn(&household, anna, at: due)
                }
                household.time = now
                let before = try Day.walk(household, anna, for: .days(14))
                var reviewed = household
                reviewed.rows.zones.add(Self.later, "UTC", version: 2)
                reviewed.rows.limits.zones.number = 2
                try reviewed.ask(nil, ReviewDailyCheckIns(account: anna))
                try #require(try Day.walk(reviewed, anna, for: .days(14)) == before, "\(times) \(weekdays) \(now)")

                var more = household
                let other = try #require(Weekday.allCases.randomElement(using: &random))
                try more.ask(
                    anna, SetDailyCheckIns(times: times, weekdays: Array(Set(weekdays + [other])), zone: "UTC"))
                let added = try Day.walk(more, anna, for: .days(14))
                try #require(before.allSatisfy(added.contains), "\(times) \(weekdays) \(other) \(now)")

                let left = Array(times.dropFirst())
                try household.ask(anna, SetDailyCheckIns(times: left, weekdays: weekdays, zone: "UTC"))
                let fewer = try Day.walk(household, anna, for: .days(14))
                let stay = before.filter { left.contains(Int($0.microseconds / 60_000_000 % 1440)) }
                try #require(stay.allSatisfy(fewer.contains), "\(times) \(weekdays) \(now)")
            }
        }
    }

    @Test("nor does a deadline that stays because the first of other times would be too late for a week (A6)")
    func untouchedAWeekAhead() throws {
        var (household, anna) = try Day.person([20 * 60, 21 * 60 + 30], on: [.sunday])
        // The last check-in is longer ago than a week: an alarm was closed without one.
        try household.run(.days(37), of: anna)
        #expect(household.state(anna).checkIn.due == Day.at(20, day: 41))
        try household.ask(anna, SetDailyCheckIns(times: [21 * 60 + 30], weekdays: [.sunday], zone: "UTC"))
        #expect(
            try Day.walk(household, anna, for: .days(14))
                == [Day.at(20, day: 41), Day.at(21, 30, day: 41), Day.at(21, 30, day: 48)])
    }

    @Test("nor does what stays in an alarm remove a time that isn't touched (A6)")
    func untouchedInAlarm() throws {
        var (household, anna) = try Day.person([8 * 60, 20 * 60, 21 * 60 + 30])
        try household.run(.minutes(495), of: anna)
        try household.ask(anna, SetDailyCheckIns(times: [21 * 60 + 30], weekdays: Weekday.allCases, zone: "UTC"))
        #expect(try Day.checkIn(&household, anna, at: Day.at(8, 30)).due == Day.at(20))
        #expect(try Day.checkIn(&household, anna, at: Day.at(20)).due == Day.at(21, 30))
    }

    @Test(
        "data that change nothing of a zone, and days that are added, remove no deadline of two weeks, whatever the times (A6)"
    )
    func nothingGoes() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(40, long: 400) {
                var household = Household(seed: random.next())
                household.time = Day.monday + .days(Int64.random(in: 0...365, using: &random))
                let anna = try household.person()
                let zone = try #require(["UTC", "Europe/Berlin", "Pacific/Auckland"].randomElement(using: &random))
                // What some had chosen before may stay among these.
                let choices = Int.random(in: 1...2, using: &random)
                for _ in 0..<choices {
                    try household.ask(anna, SetDailyCheckIns(DailySequenceTests.daily(zone, using: &random)))
                    let end = household.time + .minutes(Int64.random(in: 1...2000, using: &random))
                    while let next = household.state(anna).checkIn.due, next <= end {
                        _ = try Day.checkIn(&household, anna, at: next)
                    }
                    household.time = end
                }
                let before = try Day.walk(household, anna, for: .days(14))
                // What is new of it is long past, or far ahead.
                let rule = [
                    "Europe/Berlin": "CET-1CEST,M3.5.0,M10.5.0/3", "Pacific/Auckland": "NZST-12NZDT,M9.5.0,M4.1.0/3",
                ][zone]
                let newer =
                    try rule.map { rule in
                        let rule = try ZoneRule(posix: Array(rule.utf8))
                        return ZoneRules(first: 1, transitions: [0], offsets: [0], rule: rule)
                    } ?? Self.later
                try #require(household.rows.zones[zone, 1] != newer)
                var reviewed = household
                reviewed.rows.zones.add(newer, zone, version: 2)
                reviewed.rows.limits.zones.number = 2
                try reviewed.ask(nil, ReviewDailyCheckIns(account: anna))
                let after = try Day.walk(reviewed, anna, for: .days(14))
                try #require(before.allSatisfy(after.contains), "\(before) became \(after)")
                // One that was too near to another one of before may come back.
                try #require(choices > 1 || after == before)
                let times = try #require(household.state(anna).checkIn.daily)
                let day = try #require(Weekday.allCases.randomElement(using: &random))
                // One may stay only because the first of the times was a week later.
                let kept = household.rows[anna]?.checkIn.daily?.kept ?? []
                let far = kept.filter { $0 >= household.time + DailySequence.safe }
                let weekdays = Weekday.allCases.filter { $0 == day || times.weekdays.contains($0) }
                try household.ask(anna, SetDailyCheckIns(times: times.times, weekdays: weekdays, zone: zone))
                let now = try Day.walk(household, anna, for: .days(14))
                try #require(before.allSatisfy { now.contains($0) || far.contains($0) }, "\(before) became \(now)")
            }
        }
    }

    /// UTC, until clocks are set forward in 2030.
    private static let later = ZoneRules(first: 0, transitions: [1_893_456_000], offsets: [3600])

    @Test("accounts are looked at one after the other, and none while a deadline has passed (A6)")
    func reviews() throws {
        var (household, anna) = try Day.person([8 * 60, 20 * 60])
        try household.ask(anna, SetCheckInGrace(grace: .minutes(30)))
        func review(_ household: Household) -> Instant? {
            household.rows.wantedTimers(of: anna).first { $0.command.body is ReviewDailyCheckIns }?.due
        }
        #expect(review(household) == nil)
        var version = household.rows.limits.zones
        (version.number, version.since, version.reviewing) = (2, Day.at(1), .hours(1))
        household.rows.limits.zones = version
        // Another zone is what the newer version is of.
        #expect(review(household) == nil)
        #expect(try household.ask(nil, ReviewDailyCheckIns(account: anna)).isEmpty)
        household.rows.zones.add(ZoneRules(first: 0), "UTC", version: 2)
        #expect(review(household) == version.review(of: anna))
        let all = (0..<50).map { _ in version.review(of: household.id()) }
        #expect(all.allSatisfy { $0 >= version.since && $0 < version.since + version.reviewing } && Set(all).count > 40)
        household.time = Day.at(8, 1)
        try household.ask(nil, MissCheckIn(account: anna, deadline: Day.at(8)))
        #expect(household.state(anna).checkIn.graceEnds == Day.at(8, 30) && review(household) == nil)
        // Before it was looked at, too, the next deadline is one of them.
        #expect(try Day.checkIn(&household, anna, at: Day.at(8, 10)).due == Day.at(20))
        #expect(review(household) == version.review(of: anna))
        try household.ask(nil, ReviewDailyCheckIns(account: anna))
        #expect(review(household) == nil && household.state(anna).checkIn.due == Day.at(20))
    }
}
