import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: responders who hear of a missed check-in later than others")
struct TierTests {
    /// Anna, whose responders Ben, Cleo and Dora hear at once, a quarter of an hour later and an hour later.
    private struct Scene {
        var people = People()
        let anna: AccountID
        let (ben, cleo, dora): (AccountID, AccountID, AccountID)
        let alarm: AlarmID

        init() throws {
            anna = try people.person()
            (ben, cleo, dora) = (try people.person(), try people.person(), try people.person())
            for responder in [ben, cleo, dora] { try people.add(responder, anna, iAmResponder: true) }
            let tiers: [ResponderTier] = [
                .init(after: .minutes(15), responders: [cleo]), .init(after: .minutes(60), responders: [dora]),
            ]
            try people.ask(anna, SetResponderTiers(tiers: tiers))
            alarm = people.id()
        }

        mutating func miss(_ kind: AlertKind = .checkInMissed) throws { try people.relay(kind, alarm, of: anna) }

        mutating func answer(_ account: AccountID, _ answer: AlarmAnswer, minutes: Int? = nil) throws {
            try people.ask(
                account, AcknowledgeAlarm(contact: anna, alarm: alarm, answer: answer, minutes: minutes))
        }

        /// When each was first told.
        var told: [AccountID: Instant] { people.told(of: alarm) }
    }

    @Test("each tier hears when it is its turn, and everybody of a raised alert at once (A10)")
    func turns() throws {
        var scene = try Scene()
        let start = scene.people.time
        try scene.miss()
        try scene.people.run(.hours(2), of: scene.anna)
        #expect(
            scene.told == [
                scene.ben: start, scene.cleo: start + .minutes(15), scene.dora: start + .minutes(60),
            ])
        try scene.people.relay(.checkedIn, scene.alarm, of: scene.anna)
        #expect(Set(scene.people.endings(of: scene.alarm).map(\.account)) == [scene.ben, scene.cleo, scene.dora])
        var alert = try Scene()
        try alert.miss(.alertRaised)
        #expect(alert.told.count == 3)
        #expect(alert.people.rows.accounts[alert.anna]?.nextTier == nil)
    }

    @Test("whoever wasn't told before it was over hears neither of the alarm nor of its end (A10)")
    func over() throws {
        var scene = try Scene()
        try scene.miss()
        try scene.people.run(.minutes(20), of: scene.anna)
        try scene.people.relay(.checkedIn, scene.alarm, of: scene.anna)
        try scene.people.run(.hours(8), of: scene.anna)
        #expect(Set(scene.told.keys) == [scene.ben, scene.cleo])
        #expect(Set(scene.people.endings(of: scene.alarm).map(\.account)) == [scene.ben, scene.cleo])
    }

    @Test("who is on it holds the others back, four hours in all; a safe holds nobody back, and they hear of it (A10)")
    func holds() throws {
        var scene = try Scene()
        let start = scene.people.time
        try scene.miss()
        scene.people.pass(.minutes(5))
        try scene.answer(scene.ben, .onIt, minutes: 30)
        try scene.people.run(.hours(5), of: scene.anna)
        #expect(scene.told[scene.cleo] == start + .minutes(45) && scene.told[scene.dora] == start + .minutes(90))

        var long = try Scene()
        long.people.rows.limits.longestOnIt = .hours(20)
        try long.miss()
        for _ in 0..<10 {
            try long.answer(long.ben, .onIt, minutes: 120)
            try long.people.run(.hours(1), of: long.anna)
        }
        let began = try #require(long.told[long.ben])
        #expect(long.told[long.cleo] == began + .hours(4) + .minutes(15))
        #expect(long.told[long.dora] == began + .hours(4) + .minutes(60))

        var safe = try Scene()
        try safe.miss()
        try safe.answer(safe.ben, .onIt, minutes: 30)
        safe.people.pass(.minutes(10))
        try safe.answer(safe.ben, .safe)
        try safe.people.run(.hours(2), of: safe.anna)
        #expect(try #require(safe.told[safe.cleo]) == began + .minutes(25))
        #expect(safe.people.rows.published(safe.cleo).alarmAnswers?.map(\.answer) == [.safe])
    }

    @Test(
        "it is the next tier's turn when nobody of the one before is left, and everybody's when nobody can help (A10)")
    func nobodyLeft() throws {
        // All who were told can't do anything.
        var scene = try Scene()
        try scene.miss()
        try scene.answer(scene.ben, .cannot)
        try scene.people.run(.seconds(0), of: scene.anna)
        #expect(scene.told.count == 3)
        #expect(!scene.people.log.contains { if case .alarmUnanswered = $0.event { true } else { false } })
        for responder in [scene.cleo, scene.dora] { try scene.answer(responder, .cannot) }
        #expect(scene.people.log.contains { if case .alarmUnanswered = $0.event { true } else { false } })

        // The first is removed.
        var left = try Scene()
        try left.miss()
        left.people.pass(.minutes(5))
        try left.people.ask(left.anna, RemoveContact(contact: left.ben))
        try left.people.run(.seconds(0), of: left.anna)
        #expect(left.told[left.cleo] == left.people.time && left.told[left.dora] == nil)

        // Nobody hears at once, because they don't want to.
        var deaf = try Scene()
        let version = try #require(deaf.people.contact(deaf.ben, deaf.anna)?.version)
        try deaf.people.ask(
            deaf.ben, UpdateContact(contact: deaf.anna, expectedVersion: version, notifyOnMissedCheckIn: false))
        try deaf.miss()
        #expect(Array(deaf.told.keys) == [deaf.cleo])

        // Nothing has reached the first for long.
        var away = try Scene()
        let seen = try #require(away.people.side(of: away.ben, with: away.anna))
        try #require(seen.showsReach)
        away.people.pass(.days(40))
        try away.people.ask(away.ben, LapseReach(account: away.ben))
        try away.miss()
        #expect(Set(away.told.keys) == [away.ben, away.cleo])
        // Whoever answers is there.
        try away.answer(away.ben, .onIt, minutes: 60)
        try away.people.run(.minutes(59), of: away.anna)
        #expect(away.told[away.dora] == nil)
    }

    @Test("help needed, and the repetition after which it is said that nobody is on it, reach everybody (A10)")
    func everybody() throws {
        var scene = try Scene()
        try scene.miss()
        try scene.answer(scene.ben, .onIt, minutes: 120)
        try scene.answer(scene.ben, .needsHelp)
        #expect(scene.told.count == 3)

        var slow = try Scene()
        slow.people.rows.limits.longestOnIt = .hours(20)
        try slow.miss()
        try slow.people.relay(.checkInMissed, slow.alarm, of: slow.anna, repetition: 1)
        #expect(slow.told.count == 1)
        try slow.people.ask(
            slow.anna,
            RelayAlert(
                kind: .checkInMissed, alarm: slow.alarm, occurred: slow.people.time, repetition: 4, isSlow: true))
        #expect(slow.told.count == 3 && slow.people.rows.accounts[slow.anna]?.nextTier == nil)
    }

    @Test("what is set while an alarm is on counts for the next one; no other change tells anybody early (A10)")
    func later() throws {
        var scene = try Scene()
        let start = scene.people.time
        try scene.miss()
        try scene.people.ask(scene.anna, SetResponderTiers(tiers: []))
        for (asker, other) in [(scene.cleo, scene.anna), (scene.anna, scene.dora)] {
            let version = try #require(scene.people.contact(asker, other)?.version)
            try scene.people.ask(asker, UpdateContact(contact: other, expectedVersion: version, nickname: "A"))
        }
        #expect(scene.told.count == 1)
        try scene.people.run(.hours(2), of: scene.anna)
        #expect(scene.told[scene.cleo] == start + .minutes(15) && scene.told[scene.dora] == start + .minutes(60))
        try scene.people.relay(.checkedIn, scene.alarm, of: scene.anna)
        let next: AlarmID = scene.people.id()
        try scene.people.relay(.checkInMissed, next, of: scene.anna)
        #expect(scene.people.told(of: next).count == 3)
    }

    @Test("whoever knows of it before it is their turn may answer, and is then one of those who were told (A10, A2)")
    func early() throws {
        var scene = try Scene()
        try scene.miss()
        try scene.answer(scene.ben, .onIt, minutes: 120)
        let dora = scene.dora
        let events = try scene.people.ask(
            dora, AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .needsHelp))
        #expect(try events.first(as: AlarmAcknowledged.self).responder == dora)
        #expect(scene.told.count == 3)
        #expect(scene.people.rows.published(dora).alarmAnswers?.count == 2)
        try scene.people.relay(.checkedIn, scene.alarm, of: scene.anna)
        #expect(scene.people.endings(of: scene.alarm).count == 3)
        // Who doesn't want to hear of it wasn't told, and isn't.
        var deaf = try Scene()
        let version = try #require(deaf.people.contact(deaf.dora, deaf.anna)?.version)
        try deaf.people.ask(
            deaf.dora, UpdateContact(contact: deaf.anna, expectedVersion: version, notifyOnMissedCheckIn: false))
        try deaf.miss()
        let answer = AcknowledgeAlarm(contact: deaf.anna, alarm: deaf.alarm, answer: .needsHelp)
        #expect(try deaf.people.rejection(deaf.dora, answer) == .notFound)
    }

    @Test("who was taken out by a process that knows no tiers is dropped with the next choice (A10)")
    func leftBehind() throws {
        var scene = try Scene()
        let tiers = scene.people.rows.published(scene.anna).responderTiers ?? []
        try scene.people.ask(scene.anna, RemoveContact(contact: scene.cleo))
        scene.people.rows.accounts[scene.anna]?.responderTiers = tiers
        let events = try scene.people.ask(
            scene.anna, SetResponderTiers(tiers: tiers.moving(scene.dora, to: .minutes(5))))
        #expect(
            try events.first(as: ResponderTiersSet.self).tiers == [.init(after: .minutes(5), responders: [scene.dora])])
    }

    @Test("only responders are taken; whoever stops being one is taken out, and hears at once as one again (A10)")
    func membership() throws {
        var scene = try Scene()
        let eve = try scene.people.person()
        let tiers = scene.people.rows.published(scene.anna).responderTiers ?? []
        #expect(
            try scene.people.rejection(scene.anna, SetResponderTiers(tiers: tiers.moving(eve, to: .minutes(5))))
                == .notContact)
        #expect(try scene.people.ask(scene.anna, SetResponderTiers(tiers: tiers)).isEmpty)
        try scene.miss()
        try scene.people.ask(scene.anna, RemoveContact(contact: scene.dora))
        #expect(scene.people.rows.published(scene.anna).responderTiers == [tiers[0]])
        try scene.people.add(scene.dora, scene.anna, iAmResponder: true)
        #expect(Set(scene.told.keys) == [scene.ben, scene.dora])
        try scene.people.ask(scene.cleo, CloseAccount())
        #expect(scene.people.rows.published(scene.anna).responderTiers == nil)
    }

    @Test("tiers that were chosen for what has changed since are refused, whoever changed it (T26, A10)")
    func stale() throws {
        var scene = try Scene()
        func state() -> ContactsState { scene.people.rows.published(scene.anna) }
        let tiers = state().responderTiers ?? []
        #expect(state().responderTiersVersion == 1)
        let first = SetResponderTiers(tiers: tiers.moving(scene.ben, to: .minutes(5)), expectedVersion: 1)
        try scene.people.ask(scene.anna, first)
        // Another device had read the same.
        let second = SetResponderTiers(tiers: tiers.moving(scene.ben, to: .minutes(9)), expectedVersion: 1)
        #expect(throws: Rejection.staleVersion(expected: 1, current: 2)) {
            try scene.people.ask(scene.anna, second)
        }
        #expect(state().responderTiers?.first?.after == .minutes(5))
        try scene.people.ask(scene.anna, RemoveContact(contact: scene.dora))
        #expect(throws: Rejection.staleVersion(expected: 2, current: 3)) {
            try scene.people.ask(scene.anna, SetResponderTiers(tiers: [], expectedVersion: 2))
        }
        try scene.people.ask(scene.anna, SetResponderTiers(tiers: [], expectedVersion: 3))
        #expect(try scene.people.ask(scene.anna, SetResponderTiers(tiers: [])).isEmpty)
        #expect(state().responderTiers == nil && state().responderTiersVersion == 4)
    }

    @Test("tiers have their order, their limits and nobody twice (A10)")
    func validation() {
        let (ben, cleo) = (AccountID.new(), AccountID.new())
        func code(_ tiers: [(Int64, [AccountID])]) -> Rejection.Code? {
            do {
                try SetResponderTiers(tiers: tiers.map { .init(after: .seconds($0.0), responders: $0.1) }).validate()
                return nil
            } catch {
                return error.code
            }
        }
        #expect(code([]) == nil && code([(60, [ben]), (3600, [cleo])]) == nil)
        for wrong: [(Int64, [AccountID])] in [
            [(59, [ben])], [(3601, [ben])], [(60, [])], [(60, [ben, ben])], [(60, [ben]), (61, [ben])],
            [(60, [ben]), (60, [cleo])], [(61, [ben]), (60, [cleo])],
            (1...5).map { (Int64($0 * 60), [AccountID.new()]) },
        ] { #expect(code(wrong) == .invalidField, "\(wrong)") }
    }

    @Test("a responder is moved among tiers, and no tier is empty (A10)")
    func moving() {
        let (ben, cleo) = (AccountID.new(), AccountID.new())
        let one = [ResponderTier]().moving(ben, to: .minutes(15))
        let two = one.moving(cleo, to: .minutes(5))
        #expect(two.map(\.after) == [.minutes(5), .minutes(15)])
        #expect(two.moving(cleo, to: .minutes(15)).map(\.responders) == [[ben, cleo].sorted()])
        #expect(two.moving(cleo, to: .seconds(0)) == one && one.moving(ben, to: .minutes(15)) == one)
        #expect(one.moving(ben, to: .seconds(0)).isEmpty)
    }

    // MARK: Whatever happens

    @Test(
        """
        whatever people do, nobody hears before their turn without a reason, everybody hears within an hour and the time in \
        which somebody was on it, and all who heard, and nobody else, hear how it ended (A10, A1)
        """)
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<Soak.count(150, long: 3000) { try Self.play(&random) }
        }
    }

    /// One alarm, judged by what was set and what was recorded, not by the rules.
    private static func play(_ random: inout SeededRandom) throws {
        var people = People(seed: random.next())
        let anna = try people.person()
        let responders = try (0..<5).map { _ in try people.person() }
        for responder in responders { try people.add(responder, anna, iAmResponder: true) }
        var tiers: [ResponderTier] = []
        var delays: [AccountID: Interval] = [:]
        for responder in responders {
            let delay = Interval.minutes([0, 0, 1, 15, 60].randomElement(using: &random) ?? 0)
            delays[responder] = delay
            tiers = tiers.moving(responder, to: delay)
        }
        if !tiers.isEmpty { try people.ask(anna, SetResponderTiers(tiers: tiers)) }
        let alarm: AlarmID = people.id()
        let start = people.time
        try people.relay(.checkInMissed, alarm, of: anna)
        let isFirstEmpty = !delays.values.contains(.seconds(0))
        // What lets somebody hear before their turn, and what may hold them back.
        var (hasReason, isHeld) = (isFirstEmpty, false)
        var gone: Set<AccountID> = []
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            try people.run(.minutes(Int64.random(in: 0...40, using: &random)), of: anna)
            let someone = responders.randomElement(using: &random) ?? responders[0]
            switch Int.random(in: 0..<10, using: &random) {
            case 0...5 where !gone.contains(someone):
                let answer = AlarmAnswer.allCases.randomElement(using: &random) ?? .cannot
                let command = AcknowledgeAlarm(
                    contact: anna, alarm: alarm, answer: answer,
                    minutes: answer == .onIt ? Int.random(in: 5...120, using: &random) : nil)
                // Who answers before their turn was told, so to say.
                if people.told(of: alarm)[someone] == nil { hasReason = true }
                guard try people.rejection(someone, command) == nil else { continue }
                if answer == .cannot || answer == .needsHelp { hasReason = true }
                if answer == .onIt { isHeld = true }
            case 6 where !gone.contains(someone):
                try people.ask(anna, RemoveContact(contact: someone))
                gone.insert(someone)
                hasReason = true
            case 7: try people.ask(anna, SetResponderTiers(tiers: []))
            default: break
            }
        }
        try people.run(.hours(6), of: anna)
        let told = people.told(of: alarm)
        for responder in responders {
            guard let delay = delays[responder] else { continue }
            let turn = start + delay
            if let time = told[responder] {
                try #require(hasReason || time >= turn, "\(responder) heard before their turn")
                try #require(time <= turn + (isHeld ? .hours(4) : .seconds(0)), "\(responder) heard late")
            } else {
                try #require(gone.contains(responder), "\(responder) never heard")
            }
        }
        try people.relay(.checkedIn, alarm, of: anna)
        try people.run(.hours(6), of: anna)
        try #require(people.told(of: alarm) == told && people.hearing(of: alarm).isEmpty)
        try #require(people.endings(of: alarm).map(\.account).sorted() == told.keys.sorted())
    }
}

extension People {
    /// When each heard of an alarm first.
    fileprivate func told(of alarm: AlarmID) -> [AccountID: Instant] {
        log.reduce(into: [:]) { told, entry in
            guard case .responderAlerted(let event) = entry.event, event.alarm == alarm else { return }
            told[event.account] = told[event.account] ?? entry.at
        }
    }

    /// Lets time pass, and fires the timers of tiers when they are due.
    fileprivate mutating func run(_ interval: Interval, of account: AccountID) throws {
        let end = time + interval
        for _ in 0..<100 {
            let due = rows.wantedTimers(of: account).filter { $0.command.body is BeginNextTier }.map(\.due).first
            guard let due, due <= end else {
                time = end
                return
            }
            time = max(time, due)
            try ask(account, BeginNextTier(account: account, due: due))
        }
        Issue.record("a timer is set again and again")
    }
}
