import ContactsContract
import ContactsRules
import ContractSupport
import StoreKit
import TestKit
import Testing
import Vocabulary

@Suite("Contacts: what those who were told of an alarm answer")
struct AnswerTests {
    /// Anna's alarm, of which Ben and Cleo were told.
    private struct Scene {
        var people: People
        let anna: AccountID
        let ben: AccountID
        let cleo: AccountID
        let alarm: AlarmID

        init(_ kind: AlertKind = .alertRaised) throws {
            people = People()
            (anna, ben, cleo) = (try people.person(), try people.person(), try people.person())
            for responder in [ben, cleo] { try people.add(responder, anna, iAmResponder: true) }
            alarm = people.id()
            try people.relay(kind, alarm, of: anna)
        }

        @discardableResult
        mutating func answer(
            _ account: AccountID, _ answer: AlarmAnswer, minutes: Int? = nil, pressed: Instant? = nil
        ) throws -> [ContactsEvent] {
            try people.ask(
                account,
                AcknowledgeAlarm(contact: anna, alarm: alarm, answer: answer, minutes: minutes, pressed: pressed))
        }

        func seen(by account: AccountID) -> [AccountID: AlarmAnswer] {
            let given = people.rows.published(account).alarmAnswers ?? []
            return Dictionary(given.map { ($0.responder, $0.answer) }) { $1 }
        }

        /// What holds the repetitions back, as contacts said it last.
        var hold: AlarmHoldChanged? {
            people.log.compactMap { if case .alarmHoldChanged(let event) = $0.event { event } else { nil } }.last
        }
    }

    @Test("all who were told, and the person, see who is on it; who is told later, too; it is over with the alarm (A2)")
    func seen() throws {
        var scene = try Scene()
        let told = try scene.answer(scene.ben, .onIt)
        #expect(told.compactMap(\.acknowledged).map(\.account) == [scene.ben, scene.anna, scene.cleo])
        for account in [scene.anna, scene.ben, scene.cleo] { #expect(scene.seen(by: account) == [scene.ben: .onIt]) }
        let dora = try scene.people.person()
        try scene.people.add(dora, scene.anna, iAmResponder: true)
        #expect(scene.seen(by: dora) == [scene.ben: .onIt])
        try scene.answer(scene.cleo, .cannot)
        try scene.answer(scene.ben, .safe)
        #expect(scene.seen(by: dora) == [scene.ben: .safe, scene.cleo: .cannot])
        // Nobody's answer ended anything.
        #expect(scene.people.endings(of: scene.alarm).isEmpty)
        try scene.people.relay(.alertCleared, scene.alarm, of: scene.anna)
        for account in [scene.anna, scene.ben, scene.cleo, dora] { #expect(scene.seen(by: account).isEmpty) }
    }

    @Test("only who was told and is a responder answers, an alarm that is on (A2)")
    func refused() throws {
        var scene = try Scene()
        let dora = try scene.people.person()
        func refusal(_ account: AccountID) throws -> Rejection.Code? {
            try scene.people.rejection(
                account, AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .onIt))
        }
        #expect(try refusal(dora) == .notFound && refusal(scene.anna) == .notFound)
        let version = scene.people.contact(scene.ben, scene.anna)?.version ?? 0
        try scene.people.ask(
            scene.ben, UpdateContact(contact: scene.anna, expectedVersion: version, isMyResponder: true))
        try scene.answer(scene.ben, .onIt)
        let next = scene.people.contact(scene.ben, scene.anna)?.version ?? 0
        try scene.people.ask(
            scene.ben, UpdateContact(contact: scene.anna, expectedVersion: next, iAmResponder: false))
        #expect(try refusal(scene.ben) == .notDependent && scene.seen(by: scene.anna).isEmpty)
        #expect(scene.hold?.until == nil && scene.hold?.closes == nil)
        try scene.people.relay(.alertCleared, scene.alarm, of: scene.anna)
        #expect(try refusal(scene.cleo) == .notFound)
    }

    @Test("on it holds for at most two hours of each responder, counted from when they pressed it (A2)")
    func longestOnIt() throws {
        var scene = try Scene()
        scene.people.pass(.minutes(10))
        let start = scene.people.time
        try scene.answer(scene.ben, .onIt, minutes: 30, pressed: start - .minutes(10))
        #expect(scene.hold?.until == start + .minutes(20))
        // Of three hours and more of renewals, two hours hold.
        for _ in 0..<8 {
            scene.people.pass(.minutes(25))
            try scene.answer(scene.ben, .onIt, minutes: 30)
        }
        let used = try #require(scene.people.rows.recipients[.init(scene.anna, scene.alarm, scene.ben)]?.used)
        #expect(used == .hours(2) && (scene.hold?.until ?? start) <= scene.people.time)
        // Another responder has their own.
        try scene.answer(scene.cleo, .onIt, minutes: 120)
        #expect(scene.hold?.until == scene.people.time + .hours(2))
    }

    @Test("whoever says that help is needed outranks everybody, whatever the order, and all are told again at once (A2)")
    func needsHelp() throws {
        for helpFirst in [true, false] {
            var scene = try Scene()
            func help() throws {
                let events = try scene.answer(scene.cleo, .needsHelp)
                let alerted = events.compactMap { if case .responderAlerted(let event) = $0 { event.account } else { nil } }
                #expect(alerted == [scene.ben])
            }
            if helpFirst { try help() }
            try scene.answer(scene.ben, .onIt)
            try scene.answer(scene.ben, .safe)
            if !helpFirst {
                #expect(scene.hold?.closes == scene.people.time + .days(1))
                try help()
            }
            #expect(scene.hold?.closes == nil && scene.hold?.until == nil)
            // Once it isn't said any more, an older "safe" doesn't close anything: it must be said again.
            scene.people.pass(.hours(30))
            try scene.answer(scene.cleo, .cannot)
            #expect(scene.hold?.closes == nil)
            try scene.answer(scene.ben, .safe)
            #expect(scene.hold?.closes == scene.people.time + .days(1))
        }
    }

    @Test("saying again that somebody is safe doesn't put the end off (A2)")
    func safeAgain() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .safe)
        let closes = try #require(scene.hold?.closes)
        scene.people.pass(.hours(20))
        try scene.answer(scene.ben, .onIt)
        try scene.answer(scene.ben, .safe)
        #expect(scene.hold?.closes == closes)
    }

    @Test("the answer of somebody who is removed, or closes the account, no longer stands and holds nothing (A2)")
    func leavers() throws {
        for leaves: (AccountID, AccountID) -> (AccountID, any CommandBody) in [
            { ($0, RemoveContact(contact: $1)) }, { ($1, RemoveContact(contact: $0)) },
            { ($1, BlockContact(contact: $0)) }, { ben, _ in (ben, CloseAccount()) },
        ] {
            var scene = try Scene()
            try scene.answer(scene.ben, .onIt)
            let (asker, command) = leaves(scene.ben, scene.anna)
            try scene.people.ask(asker, command)
            for account in [scene.anna, scene.ben, scene.cleo] { #expect(scene.seen(by: account).isEmpty) }
            let hold = try #require(scene.hold)
            #expect(hold.account == scene.anna && hold.until == nil)
        }
    }

    @Test("that nobody answers is said once, as soon as all have said that they can't, and again after an answer (A2)")
    func unanswered() throws {
        var scene = try Scene(.checkInMissed)
        func isSaid(_ events: [ContactsEvent]) -> Bool {
            events.contains { if case .alarmUnanswered = $0 { true } else { false } }
        }
        func repeated() throws -> [ContactsEvent] {
            try scene.people.ask(
                scene.anna,
                RelayAlert(
                    kind: .checkInMissed, alarm: scene.alarm, occurred: scene.people.time, repetition: 4, isSlow: true))
        }
        #expect(try !isSaid(scene.people.relay(.checkInMissed, scene.alarm, of: scene.anna, repetition: 1)))
        #expect(try !isSaid(scene.answer(scene.ben, .cannot)))
        #expect(try isSaid(scene.answer(scene.cleo, .cannot)))
        #expect(try !isSaid(repeated()))
        try scene.answer(scene.ben, .onIt, minutes: 5)
        #expect(try !isSaid(repeated()))
        scene.people.pass(.minutes(6))
        #expect(try isSaid(repeated()))
    }

    @Test("a responder may change an answer five times, then once a minute; that help is needed may be said at once (A2)")
    func tooSoon() throws {
        var scene = try Scene()
        for answer in [AlarmAnswer.onIt, .cannot, .onIt, .cannot, .onIt] { try scene.answer(scene.ben, answer) }
        let refused = try scene.people.rejection(
            scene.ben, AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .cannot))
        #expect(refused == .tooSoon)
        try scene.answer(scene.ben, .needsHelp)
        scene.people.pass(.minutes(1))
        try scene.answer(scene.ben, .cannot)
    }

    @Test("an alarm that was closed without its person gives nobody the all-clear (A1)")
    func closed() throws {
        for (reason, kind) in [(AlarmEndReason.unanswered, AlertKind.alertCleared), (.saidSafe, .checkedIn)] {
            var scene = try Scene(kind == .checkedIn ? .checkInMissed : .alertRaised)
            let events = try scene.people.ask(
                scene.anna, RelayAlert(kind: kind, alarm: scene.alarm, occurred: scene.people.time, reason: reason))
            #expect(scene.people.endings(of: scene.alarm).map(\.reason) == [reason, reason])
            #expect(!events.contains { if case .responderAlerted = $0 { true } else { false } })
        }
    }
}

extension ContactsEvent {
    fileprivate var acknowledged: AlarmAcknowledged? {
        if case .alarmAcknowledged(let event) = self { event } else { nil }
    }
}
