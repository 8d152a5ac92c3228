import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: who is on an alarm is asked whether they still are")
struct RenewalTests {
    /// Anna's alarm, of which Ben and Cleo were told.
    private struct Scene {
        var people = People()
        let (anna, ben, cleo): (AccountID, AccountID, AccountID)
        let alarm: AlarmID
        let start: Instant

        init() throws {
            (anna, ben, cleo) = (try people.person(), try people.person(), try people.person())
            for responder in [ben, cleo] { try people.add(responder, anna, iAmResponder: true) }
            alarm = people.id()
            start = people.time
            try people.relay(.alertRaised, alarm, of: anna)
        }

        mutating func answer(_ account: AccountID, _ answer: AlarmAnswer, minutes: Int? = nil) throws {
            try people.ask(
                account, AcknowledgeAlarm(contact: anna, alarm: alarm, answer: answer, minutes: minutes))
        }

        /// Lets time pass, and fires the timer when it is due.
        mutating func run(_ interval: Interval) throws {
            let end = people.time + interval
            for _ in 0..<100 {
                guard let due = people.rows.accounts[anna]?.nextRenewal, due <= end else {
                    people.time = end
                    return
                }
                people.time = max(people.time, due)
                try people.ask(nil, AskForRenewal(account: anna, due: due))
            }
            Issue.record("the timer is set again and again")
        }

        var asked: [RenewalAsked] {
            people.log.compactMap { if case .renewalAsked(let event) = $0.event { event } else { nil } }
        }

        var settled: [RenewalSettled] {
            people.log.compactMap { if case .renewalSettled(let event) = $0.event { event } else { nil } }
        }

        /// What was asked and isn't settled.
        var open: [AccountID] {
            asked.filter { one in !settled.contains { ($0.account, $0.asked) == (one.account, one.at) } }.map(\.account)
        }
    }

    @Test("five minutes before their time ends they alone are asked, once; when it ends, the question does (A2)")
    func asked() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 30)
        try scene.run(.minutes(24))
        #expect(scene.asked.isEmpty)
        try scene.run(.minutes(4))
        let asked = RenewalAsked(
            account: scene.ben, dependent: scene.anna, alarm: scene.alarm, until: scene.start + .minutes(30),
            at: scene.start + .minutes(25))
        #expect(scene.asked == [asked] && scene.open == [scene.ben])
        try scene.run(.hours(8))
        #expect(scene.asked == [asked] && scene.settled.map(\.at) == [scene.start + .minutes(30)])
        #expect(scene.people.rows.accounts[scene.anna]?.nextRenewal == nil)
    }

    @Test("an answer settles the question though its time is behind the question's, and they are asked anew (A2)")
    func clockBack() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 30)
        try scene.run(.minutes(28))
        #expect(scene.open == [scene.ben])
        // The partition of the one who answers may be behind after a failover.
        scene.people.time = scene.start + .minutes(24)
        try scene.answer(scene.ben, .onIt, minutes: 30)
        #expect(scene.open.isEmpty)
        try scene.run(.minutes(29))
        #expect(scene.open == [scene.ben] && scene.asked.count == 2)
    }

    @Test("of a short time they are asked after half of it, and never when less than a minute is left (A2)")
    func short() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 5)
        try scene.run(.minutes(5))
        #expect(scene.asked.map(\.at) == [scene.start + .seconds(150)])

        var late = try Scene()
        try late.answer(late.ben, .onIt, minutes: 30)
        late.people.pass(.seconds(29 * 60 + 1))
        try late.run(.hours(1))
        #expect(late.asked.isEmpty)
    }

    @Test(
        "another answer settles what was asked, a renewal is asked about again, and an end or a leaver settles it (A2)",
        arguments: [AlarmAnswer.onIt, .safe, .cannot, .needsHelp])
    func answered(_ answer: AlarmAnswer) throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 30)
        try scene.run(.minutes(26))
        #expect(scene.open == [scene.ben])
        try scene.answer(scene.ben, answer, minutes: answer == .onIt ? 30 : nil)
        #expect(scene.open.isEmpty && scene.settled.count == 1)
        try scene.run(.minutes(27))
        #expect(scene.asked.count == (answer == .onIt ? 2 : 1))
        try scene.people.relay(.alertCleared, scene.alarm, of: scene.anna)
        #expect(scene.open.isEmpty && scene.people.rows.accounts[scene.anna]?.nextRenewal == nil)
        try scene.run(.hours(3))
        #expect(scene.asked.count == (answer == .onIt ? 2 : 1))

        var left = try Scene()
        try left.answer(left.ben, .onIt, minutes: 30)
        try left.run(.minutes(26))
        try left.people.ask(left.anna, RemoveContact(contact: left.ben))
        #expect(left.settled.count == 1 && left.open.isEmpty)

        var called = try Scene()
        try called.answer(called.ben, .onIt, minutes: 30)
        try called.run(.minutes(26))
        try called.people.ask(called.anna, ForgetAnswers(alarm: called.alarm, before: called.people.time))
        #expect(called.settled.count == 1 && called.open.isEmpty)
    }

    @Test("nobody is asked while help is needed, or while somebody says that all is well (A2)")
    func overruled() throws {
        for answer in [AlarmAnswer.needsHelp, .safe] {
            var scene = try Scene()
            try scene.answer(scene.ben, .onIt, minutes: 30)
            try scene.run(.minutes(10))
            try scene.answer(scene.cleo, answer)
            try scene.run(.minutes(16))
            #expect(scene.asked.isEmpty)
            // Once that isn't said any more, it counts again.
            try scene.answer(scene.cleo, .cannot)
            try scene.run(.minutes(1))
            #expect(scene.open == [scene.ben])
            scene.people.pass(.seconds(10))
            scene.people.rows.limits.helpPause = .seconds(0)
            try scene.answer(scene.cleo, answer)
            #expect(scene.open.isEmpty)
        }
    }

    @Test("nobody is asked whose two hours are used up, or once all have been on it for four (A2)")
    func usedUp() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 120)
        try scene.run(.hours(3))
        #expect(scene.asked.isEmpty)

        var renewed = try Scene()
        for _ in 0..<5 {
            try renewed.answer(renewed.ben, .onIt, minutes: 30)
            try renewed.run(.minutes(28))
        }
        // The fifth time ends with the two hours.
        #expect(renewed.asked.count == 4)

        var long = try Scene()
        long.people.rows.limits.longestOnIt = .hours(20)
        for _ in 0..<2 {
            try long.answer(long.ben, .onIt, minutes: 120)
            try long.run(.minutes(120))
        }
        try long.answer(long.cleo, .onIt, minutes: 60)
        try long.run(.hours(2))
        #expect(long.asked.map(\.account) == [long.ben])
    }

    @Test("two alarms of one person, and two responders, are asked about each at its time (A2)")
    func several() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 60)
        try scene.answer(scene.cleo, .onIt, minutes: 20)
        let missed: AlarmID = scene.people.id()
        try scene.people.relay(.checkInMissed, missed, of: scene.anna)
        try scene.people.ask(
            scene.cleo, AcknowledgeAlarm(contact: scene.anna, alarm: missed, answer: .onIt, minutes: 40))
        try scene.run(.hours(2))
        #expect(scene.asked.map(\.alarm) == [scene.alarm, missed, scene.alarm])
        #expect(scene.asked.map(\.account) == [scene.cleo, scene.cleo, scene.ben])
        #expect(scene.open.isEmpty)
    }

    @Test("an answer that a process of an earlier release took leaves no question that is about another one (A2)")
    func earlier() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 30)
        try scene.run(.minutes(26))
        let key = RecipientKey(scene.anna, scene.alarm, scene.ben)
        let now = scene.people.time
        scene.people.rows.recipients[key]?.answered = now
        scene.people.rows.recipients[key]?.until = now + .minutes(30)
        try scene.run(.minutes(10))
        #expect(scene.settled.count == 1)
        try scene.run(.minutes(20))
        #expect(scene.asked.count == 2)
    }

    @Test("whatever is answered and however it ends, nobody is asked in vain, or asked about what is settled (A2)")
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(100, long: 2000) { try Self.play(&random) }
        }
    }

    /// One alarm, judged by what was recorded, not by the rules.
    private static func play(_ random: inout SeededRandom) throws {
        var scene = try Scene()
        for _ in 0..<Int.random(in: 1...15, using: &random) {
            try scene.run(.minutes(Int64.random(in: 0...40, using: &random)))
            let someone = Bool.random(using: &random) ? scene.ben : scene.cleo
            let answer: AlarmAnswer =
                random.oneIn(3) ? (AlarmAnswer.allCases.randomElement(using: &random) ?? .safe) : .onIt
            let minutes = answer == .onIt ? Int.random(in: 5...120, using: &random) : nil
            _ = try scene.people.rejection(
                someone, AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: answer, minutes: minutes))
            let standing = Dictionary(
                (scene.people.rows.published(scene.anna).alarmAnswers ?? []).map { ($0.responder, $0) }
            ) { $1 }
            try #require(Set(scene.open).count == scene.open.count)
            let isForHelp = standing.values.contains { $0.answer == .needsHelp }
            for one in scene.open {
                let given = try #require(standing[one])
                try #require(given.answer == .onIt && given.until.map { $0 > scene.people.time } == true && !isForHelp)
            }
        }
        for one in scene.asked {
            try #require(one.until >= one.at + .minutes(1) && one.until <= one.at + .minutes(5))
        }
        if Bool.random(using: &random) { try scene.people.relay(.alertCleared, scene.alarm, of: scene.anna) }
        try scene.run(.hours(12))
        try #require(scene.open.isEmpty && scene.people.rows.accounts[scene.anna]?.nextRenewal == nil)
    }
}
