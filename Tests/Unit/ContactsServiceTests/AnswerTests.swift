import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

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
        #expect(scene.hold?.hold.until == nil && scene.hold?.hold.closes == nil)
        try scene.people.relay(.alertCleared, scene.alarm, of: scene.anna)
        #expect(try refusal(scene.cleo) == .notFound)
    }

    @Test("on it holds for at most two hours of each responder, counted from when they pressed it (A2)")
    func longestOnIt() throws {
        var scene = try Scene()
        scene.people.pass(.minutes(10))
        let start = scene.people.time
        try scene.answer(scene.ben, .onIt, minutes: 30, pressed: start - .minutes(10))
        #expect(scene.hold?.hold.until == start + .minutes(20))
        // Of three hours and more of renewals, two hours hold.
        for _ in 0..<8 {
            scene.people.pass(.minutes(25))
            try scene.answer(scene.ben, .onIt, minutes: 30)
        }
        let used = try #require(scene.people.rows.recipients[.init(scene.anna, scene.alarm, scene.ben)]?.used)
        #expect(used == .hours(2) && (scene.hold?.hold.until ?? start) <= scene.people.time)
        // Another responder has their own.
        try scene.answer(scene.cleo, .onIt, minutes: 120)
        #expect(scene.hold?.hold.until == scene.people.time + .hours(2))
    }

    @Test(
        "whoever says that help is needed outranks everybody, whatever the order, and all are told again at once (A2)")
    func needsHelp() throws {
        for helpFirst in [true, false] {
            var scene = try Scene()
            func help() throws {
                let events = try scene.answer(scene.cleo, .needsHelp)
                let alerted = events.compactMap {
                    if case .responderAlerted(let event) = $0 { event.account } else { nil }
                }
                #expect(alerted == [scene.ben])
            }
            if helpFirst { try help() }
            try scene.answer(scene.ben, .onIt)
            try scene.answer(scene.ben, .safe)
            if !helpFirst {
                #expect(scene.hold?.hold.closes == scene.people.time + .days(1))
                try help()
            }
            #expect(scene.hold?.hold.closes == nil && scene.hold?.hold.until == nil)
            // Once it isn't said any more, an older "safe" doesn't close anything: it must be said again.
            scene.people.pass(.hours(30))
            try scene.answer(scene.cleo, .cannot)
            #expect(scene.hold?.hold.closes == nil)
            try scene.answer(scene.ben, .safe)
            #expect(scene.hold?.hold.closes == scene.people.time + .days(1))
        }
    }

    @Test(
        "what says that somebody is safe holds repetitions back for a day in all, and closes the alarm a day after the last (A2)"
    )
    func safeAgain() throws {
        var scene = try Scene()
        let first = scene.people.time
        try scene.answer(scene.ben, .safe)
        #expect(scene.hold?.hold.closes == first + .days(1) && scene.hold?.hold.safeUntil == first + .days(1))
        scene.people.pass(.hours(20))
        try scene.answer(scene.ben, .cannot)
        #expect(scene.hold?.hold == AnswerHold())
        scene.people.pass(.hours(20))
        // Whoever took it back and says it again gives everybody a day to deny it, and silence for nobody.
        for _ in 0..<2 {
            try scene.answer(scene.ben, .safe)
            #expect(scene.hold?.hold.closes == scene.people.time + .days(1))
            #expect(scene.hold?.hold.safeUntil == first + .days(1))
            scene.people.pass(.hours(5))
        }
    }

    @Test("an answer that was given before the one that stands, and comes late, changes nothing (A2)")
    func late() throws {
        var scene = try Scene()
        scene.people.pass(.hours(1))
        let early = scene.people.time - .minutes(50)
        try scene.answer(scene.ben, .needsHelp, pressed: scene.people.time - .minutes(20))
        #expect(try scene.answer(scene.ben, .safe, pressed: early).isEmpty)
        #expect(scene.seen(by: scene.cleo) == [scene.ben: .needsHelp])
        // When it was given counts for whoever calls for help again meanwhile.
        try scene.answer(scene.cleo, .cannot)
        try scene.answer(scene.ben, .safe)
        let since = scene.people.time - .minutes(40)
        var other = try Scene()
        other.people.pass(.hours(1))
        try other.answer(other.ben, .safe, pressed: since)
        #expect(other.hold?.hold.safeSince == since)
    }

    @Test(
        "an alarm is closed for a safe of a day ago if nothing else was answered since; then it can't be answered (A2)")
    func closing() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .safe)
        let version = try #require(scene.hold?.version)
        var denied = scene
        try denied.answer(denied.cleo, .needsHelp)
        #expect(try denied.people.ask(denied.anna, DecideClosing(alarm: denied.alarm, version: version)).isEmpty)
        let events = try scene.people.ask(scene.anna, DecideClosing(alarm: scene.alarm, version: version))
        let decided = try events.first(as: AlarmClosingDecided.self)
        #expect(decided.version == version && decided.account == scene.anna)
        let answer = AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .needsHelp)
        #expect(try scene.people.rejection(scene.cleo, answer) == .notFound)
        // She called for help again, so it goes on.
        try scene.people.ask(scene.anna, ForgetAnswers(alarm: scene.alarm, before: scene.people.time + .seconds(1)))
        try scene.answer(scene.cleo, .needsHelp)
    }

    @Test("whoever calls for help again is not taken to be safe, nor looked after by those who answered before (A2)")
    func callingAgain() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt, minutes: 120)
        scene.people.pass(.minutes(5))
        let call = scene.people.time
        scene.people.pass(.minutes(5))
        try scene.answer(scene.cleo, .onIt, minutes: 30)
        let events = try scene.people.ask(scene.anna, ForgetAnswers(alarm: scene.alarm, before: call))
        #expect(try events.first(as: AlarmHoldChanged.self).hold.until == scene.people.time + .minutes(30))
        for account in [scene.anna, scene.ben, scene.cleo] { #expect(scene.seen(by: account) == [scene.cleo: .onIt]) }
        // Ben was believed to be on it: all hear of the alarm again at once.
        let told = events.compactMap { if case .responderAlerted(let event) = $0 { event.account } else { nil } }
        #expect(Set(told) == [scene.ben, scene.cleo])
        // Who stands at the door a minute later is heard, too.
        var door = scene
        door.people.pass(.minutes(1))
        let heard = try door.answer(door.cleo, .needsHelp)
        #expect(heard.contains { if case .responderAlerted = $0 { true } else { false } })
        // What was pressed before and comes only now counts for nothing.
        #expect(try scene.answer(scene.ben, .safe, pressed: call - .seconds(1)).isEmpty)
        // Two hours are two hours: the ten minutes count.
        try scene.answer(scene.ben, .onIt, minutes: 120)
        #expect(scene.hold?.hold.until == scene.people.time + .minutes(110))
        // That help is needed isn't forgotten.
        try scene.answer(scene.cleo, .needsHelp)
        scene.people.pass(.minutes(1))
        try scene.people.ask(scene.anna, ForgetAnswers(alarm: scene.alarm, before: scene.people.time))
        #expect(scene.seen(by: scene.anna) == [scene.cleo: .needsHelp])
    }

    @Test(
        "all that somebody may want to deny is notified, however often they answered; being on it only if it is so (A2)"
    )
    func news() throws {
        var scene = try Scene()
        func isNews(_ events: [ContactsEvent]) -> Bool {
            events.compactMap(\.acknowledged).contains { $0.isNews == true }
        }
        for _ in 0..<5 { try scene.answer(scene.ben, .cannot) }
        scene.people.pass(.minutes(1))
        #expect(try isNews(scene.answer(scene.ben, .safe)))
        // Whoever corrects that says so to all.
        scene.people.pass(.minutes(10))
        #expect(try isNews(scene.answer(scene.ben, .onIt)))
        #expect(try isNews(scene.answer(scene.cleo, .needsHelp)))
        scene.people.pass(.minutes(10))
        try scene.answer(scene.cleo, .cannot)
        // It was denied, so it is said anew.
        #expect(try isNews(scene.answer(scene.ben, .safe)))
        var late = try Scene()
        late.people.pass(.hours(1))
        #expect(try !isNews(late.answer(late.ben, .onIt, pressed: late.people.time - .minutes(59))))
    }

    @Test("an alarm takes fifty answers of those who are on it or can't; that help is needed is never refused (A2)")
    func crowd() throws {
        var scene = try Scene()
        scene.people.rows.limits.alarmAnswers = 1
        try scene.answer(scene.ben, .cannot)
        let refused = AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .onIt)
        #expect(try scene.people.rejection(scene.cleo, refused) == .limitReached)
        try scene.answer(scene.cleo, .needsHelp)
    }

    @Test("who is no responder any more sees nobody's answer, and all again as a responder (A2)")
    func formerResponder() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .onIt)
        try scene.answer(scene.cleo, .safe)
        func setResponder(_ isResponder: Bool) throws {
            let version = try #require(scene.people.contact(scene.anna, scene.ben)?.version)
            try scene.people.ask(
                scene.anna, UpdateContact(contact: scene.ben, expectedVersion: version, isMyResponder: isResponder))
        }
        // Both ways, so that the relation goes on.
        let mine = try #require(scene.people.contact(scene.ben, scene.anna)?.version)
        try scene.people.ask(scene.ben, UpdateContact(contact: scene.anna, expectedVersion: mine, isMyResponder: true))
        try setResponder(false)
        #expect(scene.seen(by: scene.ben).isEmpty && scene.seen(by: scene.cleo) == [scene.cleo: .safe])
        try scene.answer(scene.cleo, .onIt)
        #expect(scene.seen(by: scene.ben).isEmpty && scene.seen(by: scene.anna) == [scene.cleo: .onIt])
        try setResponder(true)
        #expect(scene.seen(by: scene.ben) == [scene.cleo: .onIt])
        #expect(scene.people.alerted(by: scene.alarm) == [scene.ben, scene.cleo])
    }

    @Test("whom a responder has blocked doesn't see their answer (A2)")
    func blocked() throws {
        var scene = try Scene()
        try scene.people.ask(scene.cleo, BlockContact(contact: scene.ben))
        try scene.answer(scene.cleo, .onIt)
        #expect(scene.seen(by: scene.ben).isEmpty && scene.seen(by: scene.anna) == [scene.cleo: .onIt])
        try scene.answer(scene.ben, .cannot)
        #expect(scene.seen(by: scene.ben) == [scene.ben: .cannot])
        // Who is blocked later no longer sees it once it is answered anew.
        #expect(scene.seen(by: scene.cleo)[scene.ben] == .cannot)
        try scene.people.ask(scene.ben, BlockContact(contact: scene.cleo))
        try scene.answer(scene.ben, .onIt)
        #expect(scene.seen(by: scene.cleo) == [scene.cleo: .onIt])
    }

    @Test(
        "all are told again for help at most every quarter of an hour, and notified of an answer only if it is new (A2)"
    )
    func pace() throws {
        var scene = try Scene()
        func news(_ events: [ContactsEvent]) -> [AccountID] {
            events.compactMap(\.acknowledged).filter { $0.isNews == true }.map(\.account)
        }
        func isTold(_ events: [ContactsEvent]) -> Bool {
            events.contains { if case .responderAlerted = $0 { true } else { false } }
        }
        #expect(try news(scene.answer(scene.ben, .onIt)) == [scene.anna, scene.cleo])
        #expect(try news(scene.answer(scene.ben, .onIt)).isEmpty)
        #expect(try news(scene.answer(scene.cleo, .cannot)).isEmpty)
        #expect(try isTold(scene.answer(scene.ben, .needsHelp)))
        #expect(try !isTold(scene.answer(scene.cleo, .needsHelp)) && !isTold(scene.answer(scene.ben, .needsHelp)))
        scene.people.pass(.minutes(15))
        #expect(try isTold(scene.answer(scene.ben, .needsHelp)))
        // Who is believed to be safe isn't, so all are told again at once.
        scene.people.pass(.minutes(1))
        try scene.answer(scene.cleo, .cannot)
        scene.people.pass(.minutes(10))
        try scene.answer(scene.ben, .safe)
        #expect(try isTold(scene.answer(scene.cleo, .needsHelp)))
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
            #expect(hold.account == scene.anna && hold.hold == AnswerHold())
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

    @Test("that all can't do anything is said when the last who could leaves (A2)")
    func hopeless() throws {
        var scene = try Scene()
        try scene.answer(scene.ben, .cannot)
        let events = try scene.people.ask(scene.anna, RemoveContact(contact: scene.cleo))
        #expect(
            events.contains { if case .alarmUnanswered(let event) = $0 { event.reason == .allCannot } else { false } })
    }

    @Test(
        "a responder may change an answer five times, then once a minute; that help is needed may be said at once (A2)")
    func tooSoon() throws {
        var scene = try Scene()
        for answer in [AlarmAnswer.onIt, .cannot, .onIt, .cannot, .onIt] { try scene.answer(scene.ben, answer) }
        let refused = try scene.people.rejection(
            scene.ben, AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .cannot))
        #expect(refused == .tooSoon)
        try scene.answer(scene.ben, .needsHelp)
        // Whoever takes that back waits for longer.
        scene.people.pass(.minutes(9))
        #expect(
            try scene.people.rejection(
                scene.ben, AcknowledgeAlarm(contact: scene.anna, alarm: scene.alarm, answer: .cannot)) == .tooSoon)
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
