import QuartetContractSupport
import QuartetSessionContract
import QuartetSessionRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Session: how alarms go on")
struct RepetitionTests {
    /// An account whose alarm has just begun.
    fileprivate struct Scene {
        var household: Household
        let anna: AccountID
        let alarm: AlarmID
        let kind: AlarmKind
        let begun: Instant
        var version = 0

        init(_ kind: AlarmKind) throws {
            household = Household()
            anna = try household.person()
            self.kind = kind
            switch kind {
            case .alertRaised: alarm = try household.ask(anna, RaiseAlert()).first(as: AlertRaised.self).alarm
            case .checkInMissed:
                try household.run(.days(1), of: anna)
                alarm = try #require(household.state(anna).checkIn.alarm)
            }
            begun = household.time
        }

        mutating func hold(until: Interval? = nil, closes: Interval? = nil) throws {
            let time = household.time
            let hold = AnswerHold(
                until: until.map { time + $0 }, untilSince: until.map { _ in time },
                safeUntil: closes.map { time + $0 }, safeSince: closes.map { _ in time },
                closes: closes.map { time + $0 })
            try take(hold)
        }

        mutating func take(_ hold: AnswerHold) throws {
            version += 1
            try household.ask(
                nil, HoldAlarm(account: anna, alarm: alarm, kind: kind, hold: hold, version: version))
        }

        /// Contacts' decision about the closing that was due last.
        mutating func decide(at time: Instant? = nil) throws -> [SessionEvent] {
            let due = try #require(closingDue.last)
            return try household.ask(
                nil,
                CloseAlarm(
                    account: anna, alarm: alarm, kind: kind, decided: due.version, decidedAt: time ?? household.time))
        }

        var closingDue: [AlarmClosingDue] {
            household.log.compactMap { if case .alarmClosingDue(let event) = $0.event { event } else { nil } }
        }

        /// When the alarm was repeated, since its beginning.
        var repetitions: [AlarmRepeated] {
            household.log.compactMap {
                if case .alarmRepeated(let event) = $0.event, event.alarm == alarm { event } else { nil }
            }
        }

        var times: [Interval] { repetitions.map { $0.at - begun } }

        var closed: AlarmClosed? {
            household.log.compactMap { if case .alarmClosed(let event) = $0.event { event } else { nil } }.first
        }

        var isOn: Bool {
            let state = household.state(anna)
            return kind == .alertRaised ? state.alertAlarm == alarm : state.checkIn.alarm == alarm
        }
    }

    @Test(
        "an alarm that nobody ends is repeated three times soon, then every six hours, and closed after 30 days (A2)",
        arguments: AlarmKind.allCases)
    func slow(kind: AlarmKind) throws {
        var scene = try Scene(kind)
        try scene.household.run(.days(1), of: scene.anna)
        let minutes: [Int64] = [30, 60, 90, 120, 480, 840, 1200]
        #expect(scene.times == minutes.map { .minutes($0) })
        #expect(scene.repetitions.map(\.isSlow) == [nil, nil, nil, true, true, true, true])
        try scene.household.run(.seconds(29 * 86_400 - 1), of: scene.anna)
        #expect(scene.isOn && scene.closed == nil)
        try scene.household.run(.seconds(2), of: scene.anna)
        let closed = try #require(scene.closed)
        #expect(closed.reason == .unanswered && closed.at - closed.since >= .days(30) && !scene.isOn)
        // A check-in that is missed again is another alarm.
        try scene.household.run(.days(2), of: scene.anna)
        #expect((scene.household.state(scene.anna).checkIn.alarm != nil) && !scene.isOn)
    }

    @Test("while somebody is on it the alarm isn't repeated, and then at once", arguments: AlarmKind.allCases)
    func held(kind: AlarmKind) throws {
        var scene = try Scene(kind)
        try scene.household.run(.minutes(20), of: scene.anna)
        try scene.hold(until: .minutes(60))
        // It was due before somebody answered.
        let late = RepeatAlarm(account: scene.anna, alarm: scene.alarm, kind: kind, repetition: 1)
        try scene.household.run(.minutes(20), of: scene.anna)
        #expect(try scene.household.ask(nil, late).isEmpty)
        try scene.household.run(.minutes(60), of: scene.anna)
        #expect(scene.times == [.minutes(80)])
        // Whoever no longer is on it holds nothing.
        try scene.hold(until: .minutes(60))
        try scene.hold()
        try scene.household.run(.minutes(31), of: scene.anna)
        #expect(scene.times == [.minutes(80), .minutes(110)])
        // What is about another alarm changes nothing.
        let (anna, time) = (scene.anna, scene.household.time)
        let other = HoldAlarm(
            account: anna, alarm: scene.household.id(), kind: kind,
            hold: AnswerHold(until: time + .hours(2), untilSince: time), version: 99)
        #expect(try scene.household.ask(nil, other).isEmpty)
        try scene.household.run(.minutes(31), of: scene.anna)
        #expect(scene.times.count == 3)
    }

    @Test(
        "all who are on it hold an alarm back for four hours at most, however they take turns",
        arguments: AlarmKind.allCases)
    func longestHold(kind: AlarmKind) throws {
        var scene = try Scene(kind)
        for _ in 0..<40 {
            try scene.hold(until: .minutes(20))
            try scene.household.run(.minutes(10), of: scene.anna)
        }
        let first = try #require(scene.times.first)
        #expect(first >= .hours(4) && first <= .minutes(250))
        // Once it is used up nothing holds it any more.
        let at = scene.repetitions.map(\.at)
        #expect(zip(at, at.dropFirst()).allSatisfy { $1 - $0 <= .minutes(31) } && at.count >= 4)
    }

    @Test(
        "a day after somebody said that they are safe contacts decides, and the alarm is closed, unless that is denied (A2)",
        arguments: AlarmKind.allCases)
    func saidSafe(kind: AlarmKind) throws {
        var scene = try Scene(kind)
        try scene.hold(closes: .days(1))
        try scene.household.run(.hours(23), of: scene.anna)
        #expect(scene.times.isEmpty && scene.isOn && scene.closingDue.isEmpty)
        var denied = scene
        try denied.hold()
        try denied.household.run(.hours(2), of: denied.anna)
        #expect(denied.isOn && denied.closingDue.isEmpty && denied.times.count >= 1)
        // Nobody is told again in the moment in which it is to be closed.
        try scene.household.run(.minutes(69), of: scene.anna)
        #expect(scene.isOn && scene.closingDue.map(\.version) == [1] && scene.times.isEmpty)
        // A denial of the last moment, of which contacts has said so before it decided.
        var late = scene
        try late.hold()
        #expect(try late.decide().isEmpty && late.isOn)
        // Until that is decided the alarm goes on.
        var waiting = scene
        try waiting.household.run(.hours(1), of: waiting.anna)
        #expect(waiting.isOn && waiting.times.count >= 1)
        // A decision that comes late, when somebody may have denied it since, is asked for anew.
        var slow = scene
        let decided = slow.household.time
        slow.household.pass(.minutes(8))
        #expect(try slow.decide(at: decided).isEmpty && slow.isOn)
        try slow.household.run(.seconds(1), of: slow.anna)
        #expect(slow.closingDue.count == 2)
        let interval = scene.household.state(scene.anna).checkIn.interval
        _ = try scene.decide()
        let closed = try #require(scene.closed)
        #expect(closed.reason == .saidSafe && !scene.isOn)
        #expect(closed.due == (kind == .checkInMissed ? closed.at + interval : nil))
        #expect(try scene.decide().isEmpty)
    }

    @Test("a hold that comes late changes nothing", arguments: AlarmKind.allCases)
    func lateHold(kind: AlarmKind) throws {
        var scene = try Scene(kind)
        let (anna, time) = (scene.anna, scene.household.time)
        try scene.hold(closes: .days(1))
        try scene.hold()
        let late = HoldAlarm(
            account: anna, alarm: scene.alarm, kind: kind,
            hold: AnswerHold(safeUntil: time + .days(1), safeSince: time, closes: time + .days(1)), version: 1)
        try scene.household.ask(nil, late)
        try scene.household.run(.minutes(31), of: anna)
        #expect(scene.times == [.minutes(30)])
    }

    @Test("whoever calls for help again isn't kept waiting by what was answered before, and has 30 days again")
    func callingAgain() throws {
        var scene = try Scene(.alertRaised)
        let anna = scene.anna
        scene.household.pass(.seconds(5))
        let before = scene.household.time
        try scene.hold(until: .hours(2), closes: .days(1))
        scene.household.pass(.minutes(40))
        try scene.household.ask(anna, RaiseAlert(pressed: scene.household.time))
        try scene.household.run(.seconds(1), of: anna)
        #expect(scene.times.count == 1)
        // Somebody else's answer brings back none of before.
        try scene.take(
            AnswerHold(
                until: before + .hours(2), untilSince: before, safeUntil: before + .days(1), safeSince: before,
                closes: before + .days(1)))
        try scene.household.run(.minutes(31), of: anna)
        #expect(scene.times.count == 2)
        // A call of an earlier app, which doesn't say when, counts as well while something holds the alarm back.
        var plain = scene
        try plain.hold(closes: .days(1))
        plain.household.pass(.minutes(1))
        try plain.household.ask(anna, RaiseAlert())
        try plain.household.run(.minutes(31), of: anna)
        #expect(plain.times.count == 3)
        // What is answered after it does hold.
        try scene.hold(until: .hours(1))
        try scene.household.run(.minutes(59), of: anna)
        #expect(scene.times.count == 2)

        try scene.household.run(.days(20), of: anna)
        try scene.household.ask(anna, RaiseAlert(pressed: scene.household.time))
        try scene.household.run(.days(29), of: anna)
        #expect(scene.isOn)
        try scene.household.run(.days(2), of: anna)
        #expect(scene.closed?.reason == .unanswered)
    }

    @Test("an alarm of long ago is closed, and nobody is told again before", arguments: AlarmKind.allCases)
    func abandoned(kind: AlarmKind) throws {
        var scene = try Scene(kind)
        scene.household.pass(.days(90))
        for timer in scene.household.rows.wantedTimers(of: scene.anna) {
            try scene.household.ask(nil, timer.command.body)
        }
        #expect(scene.closed?.reason == .unanswered && scene.times.isEmpty)
        let late = RepeatAlarm(account: scene.anna, alarm: scene.alarm, kind: kind, repetition: 1)
        #expect(try scene.household.ask(nil, late).isEmpty)
    }

    @Test("whatever responders answer, an alarm that is on is repeated in time, or closed (A2)")
    func neverSilent() async throws {
        try await withRandom { random in
            for kind in AlarmKind.allCases {
                for _ in 0..<Soak.count(10, long: 100) {
                    var scene = try Scene(kind)
                    for _ in 0..<200 {
                        try scene.household.run(.minutes(Int64.random(in: 1...300, using: &random)), of: scene.anna)
                        guard scene.isOn else { break }
                        if random.oneIn(3), !scene.closingDue.isEmpty { _ = try scene.decide() }
                        try scene.hold(
                            until: random.oneIn(2) ? .minutes(Int64.random(in: -10...600, using: &random)) : nil,
                            closes: random.oneIn(12) ? .hours(24) : nil)
                    }
                    let end = scene.closed?.at ?? scene.household.time
                    let heard = [scene.begun] + scene.repetitions.map(\.at) + [end]
                    for (one, next) in zip(heard, heard.dropFirst()) {
                        // Six hours, four of those who were on it, and as long as somebody said that all is well.
                        let silence = (next - one).microseconds - scene.saidSafe(from: one, to: next).microseconds
                        try #require(silence <= Interval.hours(6 + 4).microseconds, "\(one) \(next)")
                    }
                }
            }
        }
    }
}

extension RepetitionTests.Scene {
    /// For how long of a span of time it stood that the person is safe.
    fileprivate func saidSafe(from start: Instant, to end: Instant) -> Interval {
        let holds = household.history.compactMap { entry in
            (entry.command as? HoldAlarm).map { (entry.context.time, $0) }
        }
        let ends = holds.dropFirst().map(\.0) + [end]
        let spans = zip(holds, ends).filter { hold, _ in hold.1.hold.safeUntil != nil }
        return Interval(
            microseconds: spans.reduce(0) { sum, span in
                sum + max((min(span.1, end) - max(span.0.0, start)).microseconds, 0)
            })
    }
}
