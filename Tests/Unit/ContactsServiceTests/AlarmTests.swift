import QuartetContactsContract
import QuartetContactsRules
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: alarms and their all-clear")
struct AlarmTests {
    @Test(
        "an alarm whose beginning failed, and is tried again after its end, alarms nobody; the next one does (A1)",
        arguments: [(AlertKind.alertRaised, AlertKind.alertCleared), (.checkInMissed, .checkedIn)])
    func endedBefore(_ begins: AlertKind, _ ends: AlertKind) throws {
        var people = People()
        let (anna, ben) = (try people.person(), try people.person())
        try people.add(anna, ben, isMyResponder: true, iAmResponder: true)
        let (late, next): (AlarmID, AlarmID) = (people.id(), people.id())
        try people.relay(ends, late, of: ben)
        for repetition in 0...1 { try people.relay(begins, late, of: ben, repetition: repetition) }
        #expect(people.alerted(by: late).isEmpty && people.endings(of: late).isEmpty)
        try people.relay(begins, next, of: ben)
        #expect(people.alerted(by: next) == [anna])
        // A late end of another alarm doesn't end this one.
        try people.relay(ends, late, of: ben)
        try people.relay(ends, next, of: ben)
        #expect(people.endings(of: late).isEmpty && people.endings(of: next).map(\.account) == [anna])
        #expect(people.rows.alarms.keys.isEmpty)
    }

    @Test(
        "a repetition or beginning that comes after the alarm's end alarms nobody, though others ended before it (A1)",
        arguments: [(AlertKind.alertRaised, AlertKind.alertCleared), (.checkInMissed, .checkedIn)])
    func repeatedAfterEnd(_ begins: AlertKind, _ ends: AlertKind) throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        var alarms: [AlarmID] = []
        for _ in 0..<3 {
            let alarm: AlarmID = people.id()
            alarms.append(alarm)
            try people.relay(begins, alarm, of: ben)
            people.pass(.seconds(1))
            try people.relay(ends, alarm, of: ben)
            for (late, repetition) in alarms.flatMap({ [($0, 0), ($0, 1)] }) {
                let events = try people.relay(begins, late, of: ben, repetition: repetition)
                #expect(events.count == 1 && people.endings(of: late).map(\.account) == [anna])
            }
            #expect(people.rows.alarms.keys.isEmpty && people.rows.recipients.keys.isEmpty)
            // One row for an account and kind, however many alarms.
            #expect(people.rows.endedAlarms.keys.count == 1)
            people.pass(.seconds(1))
        }
    }

    @Test(
        "what comes late of an older alarm ends no newer one, and doesn't alarm anybody (A1)",
        arguments: [AlertKind.alertRaised, .checkInMissed], [true, false])
    func olderAfterNewer(_ begins: AlertKind, _ olderEnded: Bool) throws {
        let ends: AlertKind = begins == .alertRaised ? .alertCleared : .checkedIn
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let older: AlarmID = people.id()
        people.pass(.seconds(1))
        if olderEnded { try people.relay(ends, older, of: ben) }
        let newer: AlarmID = people.id()
        try people.relay(begins, newer, of: ben)
        for repetition in 0...1 { try people.relay(begins, older, of: ben, repetition: repetition) }
        try people.relay(ends, older, of: ben)
        #expect(people.alerted(by: older).isEmpty && people.endings(of: newer).isEmpty)
        #expect(people.alerted(by: newer) == [anna])
        try people.relay(ends, newer, of: ben)
        #expect(people.endings(of: newer).map(\.account) == [anna])
        for late in [older, newer] { try people.relay(begins, late, of: ben, repetition: 2) }
        #expect(people.rows.alarms.keys.isEmpty && people.rows.recipients.keys.isEmpty)
    }

    @Test(
        "the end of a newer alarm, whose beginning failed, ends an older one, and its late beginning alarms nobody (A1)",
        arguments: [(AlertKind.alertRaised, AlertKind.alertCleared), (.checkInMissed, .checkedIn)])
    func newerEnd(_ begins: AlertKind, _ ends: AlertKind) throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let older: AlarmID = people.id()
        try people.relay(begins, older, of: ben)
        people.pass(.seconds(1))
        let newer: AlarmID = people.id()
        try people.relay(ends, newer, of: ben)
        #expect(people.endings(of: older).map(\.account) == [anna])
        try people.relay(begins, newer, of: ben)
        try people.relay(ends, older, of: ben)
        #expect(people.alerted(by: newer).isEmpty && people.endings(of: older).count == 1)
    }

    @Test("alarms of the same millisecond alarm everybody, each of them, whatever their ids (A1)")
    func sameMillisecond() throws {
        for seed in 1...20 as ClosedRange<UInt64> {
            var people = People(seed: seed)
            let (anna, ben) = try people.responderAndDependent()
            for _ in 0..<3 {
                let alarm: AlarmID = people.id()
                try people.relay(.alertRaised, alarm, of: ben)
                #expect(people.alerted(by: alarm) == [anna])
                try people.relay(.alertCleared, alarm, of: ben)
                #expect(people.endings(of: alarm).count == 1)
                // Its own repetition comes late.
                try people.relay(.alertRaised, alarm, of: ben, repetition: 1)
                #expect(people.rows.alarms.keys.isEmpty)
            }
        }
    }

    @Test("someone who becomes a responder after an alarm's end doesn't hear of it; a closed account keeps none (A1)")
    func endedForNewResponders() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let alarm: AlarmID = people.id()
        try people.relay(.alertRaised, alarm, of: ben)
        try people.relay(.alertCleared, alarm, of: ben)
        let carl = try people.person()
        try people.add(carl, ben, iAmResponder: true)
        try people.relay(.alertRaised, alarm, of: ben, repetition: 1)
        #expect(people.alerted(by: alarm) == [anna])
        try people.ask(ben, CloseAccount())
        #expect(people.rows.endedAlarms.keys.isEmpty)
    }

    @Test("everyone who was alarmed gets the all-clear, whatever their settings and role are by then (A1)")
    func allClear() throws {
        var people = People()
        let ben = try people.person()
        let (anna, carl, dora) = (try people.person(), try people.person(), try people.person())
        for responder in [anna, carl, dora] {
            try people.add(responder, ben, isMyResponder: true, iAmResponder: true)
        }
        // Dora doesn't want to hear of missed check-ins.
        try people.ask(dora, UpdateContact(contact: ben, expectedVersion: 1, notifyOnMissedCheckIn: false))
        let alarm: AlarmID = people.id()
        let deadline = people.time
        people.pass(.seconds(1))
        try people.relay(.checkInMissed, alarm, of: ben, deadline: deadline)
        #expect(people.alerted(by: alarm) == [anna, carl])

        // Anna turns everything off; Carl is no responder any more.
        try people.ask(
            anna,
            UpdateContact(contact: ben, expectedVersion: 1, notifyOnCheckIn: false, notifyOnMissedCheckIn: false))
        try people.ask(carl, UpdateContact(contact: ben, expectedVersion: 1, iAmResponder: false))
        people.pass(.minutes(1))
        try people.relay(.checkInMissed, alarm, of: ben, deadline: deadline, repetition: 1)
        #expect(people.endings(of: alarm).isEmpty)

        let events = try people.relay(.checkedIn, alarm, of: ben, deadline: deadline)
        let ended = people.endings(of: alarm)
        #expect(ended.map(\.account).sorted() == [anna, carl].sorted())
        #expect(
            ended.allSatisfy {
                $0.reason == .checkedIn && $0.dependent == ben && $0.deadline == deadline && $0.occurred == people.time
            })
        // To Dora it is a check-in like any other.
        #expect(
            events.contains(
                .responderAlerted(
                    .init(
                        account: dora, dependent: ben, kind: .checkedIn, occurred: people.time, deadline: deadline,
                        repetition: 0, at: people.time))))
        // Once.
        try people.relay(.checkedIn, alarm, of: ben, deadline: deadline)
        #expect(people.endings(of: alarm).count == 2)
    }

    @Test("an alert that a trip made is told as a late arrival, later too, until the dependent calls by hand (A7)")
    func lateArrival() throws {
        for forgets in [false, true] {
            var people = People()
            let (ben, anna, carl) = (try people.person(), try people.person(), try people.person())
            try people.add(anna, ben, iAmResponder: true)
            let (alarm, eta) = (people.id() as AlarmID, people.time)
            people.pass(.seconds(1))
            func told(_ events: [ContactsEvent]) -> [Instant?] {
                events.compactMap { if case .responderAlerted(let event) = $0 { event.deadline } else { nil } }
            }
            #expect(told(try people.relay(.alertRaised, alarm, of: ben, deadline: eta)) == [eta])
            let added = people.log.count
            try people.add(carl, ben, iAmResponder: true)
            #expect(told(people.log.dropFirst(added).map(\.event)) == [eta])
            let help = AcknowledgeAlarm(contact: ben, alarm: alarm, answer: .needsHelp)
            #expect(told(try people.ask(anna, help)) == [eta])

            people.pass(.minutes(1))
            if forgets {
                let forget = ForgetAnswers(alarm: alarm, before: people.time)
                #expect(told(try people.ask(ben, forget)) == [nil, nil])
                people.pass(.seconds(1))
                #expect(told(try people.ask(ben, ForgetAnswers(alarm: alarm, before: people.time))).isEmpty)
            } else {
                #expect(told(try people.relay(.alertRaised, alarm, of: ben)) == [nil, nil])
            }
            // What was late itself doesn't make it one again.
            let repeated = try people.relay(.alertRaised, alarm, of: ben, deadline: eta, repetition: 1)
            #expect(told(repeated) == [nil, nil])
        }
    }

    @Test("whoever hears of a late call for help hears when it was made, whenever they hear of it (S34)")
    func lateCall() throws {
        var people = People()
        let (ben, anna, carl) = (try people.person(), try people.person(), try people.person())
        try people.add(anna, ben, iAmResponder: true)
        people.pass(.hours(1))
        let (alarm, raised) = (people.id() as AlarmID, people.time)
        let made = raised - .minutes(20)
        let call = try #require(LateCall(pressed: made, received: raised))
        func told(_ events: some Sequence<ContactsEvent>) -> [[Instant?]] {
            events.compactMap {
                if case .responderAlerted(let event) = $0 { [event.pressed, event.occurred] } else { nil }
            }
        }
        func relay(_ repetition: Int) throws -> [ContactsEvent] {
            try people.ask(
                ben,
                RelayAlert(
                    kind: .alertRaised, alarm: alarm, occurred: raised, lateCall: call, repetition: repetition))
        }
        #expect(told(try relay(0)) == [[made, raised]])
        let added = people.log.count
        try people.add(carl, ben, iAmResponder: true)
        #expect(told(people.log.dropFirst(added).map(\.event)) == [[made, raised]])
        let help = AcknowledgeAlarm(contact: ben, alarm: alarm, answer: .needsHelp)
        #expect(told(try people.ask(anna, help)) == [[made, raised]])

        // Another call comes late; what is told from then on is about that one.
        people.pass(.minutes(30))
        let (again, received) = (people.time - .minutes(5), people.time)
        let newer = try #require(LateCall(pressed: again, received: received))
        try people.ask(ben, ForgetAnswers(alarm: alarm, before: again, lateCall: newer))
        try people.ask(ben, ForgetAnswers(alarm: alarm, before: made, lateCall: call))
        #expect(told(try relay(1)) == [[again, received], [again, received]])

        // One comes in time: what is told because of it has no time of an older call, also if a repetition of before comes after it.
        people.pass(.minutes(30))
        try people.ask(carl, AcknowledgeAlarm(contact: ben, alarm: alarm, answer: .safe))
        people.pass(.minutes(30))
        let missed = ForgetAnswers(alarm: alarm, before: people.time, isLate: true)
        var tripFirst = people
        #expect(told(try tripFirst.ask(ben, missed)) == [[again, received], [again, received]])
        let inTime = ForgetAnswers(alarm: alarm, before: people.time)
        #expect(told(try people.ask(ben, inTime)) == [[nil, raised], [nil, raised]])
        #expect(told(try relay(2)) == [[nil, raised], [nil, raised]])
        // A process of an earlier release lets the row be about the next alarm, which has no time of this one.
        people.pass(.seconds(1))
        let next: AlarmID = people.id()
        people.rows.alarms[AlarmKey(ben, .alert)]?.alarm = next
        let repeated = try people.relay(.alertRaised, next, of: ben, repetition: 1)
        #expect(told(repeated).map { $0[0] } == [nil, nil])
    }

    @Test(
        "a late call in an alert of a trip or a ping has its times, also if another of these was added before (A4, A7, S34)"
    )
    func lateCallToo() throws {
        for isTrip in [true, false] {
            for isRepeatedFirst in [true, false] {
                var people = People()
                let (ben, anna) = (try people.person(), try people.person())
                try people.add(anna, ben, iAmResponder: true)
                people.pass(.hours(1))
                let (alarm, raised) = (people.id() as AlarmID, people.time)
                let made = raised - .minutes(10)
                func told(_ events: [ContactsEvent]) -> [[Instant?]] {
                    events.compactMap {
                        guard case .responderAlerted(let event) = $0 else { return nil }
                        return [event.pressed, event.occurred, event.deadline, event.pinged]
                    }
                }
                let (deadline, pinged): (Instant?, Instant?) = isTrip ? (raised, nil) : (nil, raised)
                let relay = RelayAlert(
                    kind: .alertRaised, alarm: alarm, occurred: raised, deadline: deadline, pinged: pinged)
                #expect(told(try people.ask(ben, relay)) == [[nil, raised, deadline, pinged]])
                people.pass(.minutes(10))
                let added = people.time
                try people.ask(ben, ForgetAnswers(alarm: alarm, before: added, isLate: true))
                people.pass(.minutes(10))
                let call = try #require(LateCall(pressed: made, received: people.time))
                let help: [[Instant?]] = [[made, people.time, nil, nil]]
                let repeated = RelayAlert(
                    kind: .alertRaised, alarm: alarm, occurred: raised, lateCall: call, repetition: 1)
                if isRepeatedFirst { #expect(told(try people.ask(ben, repeated)) == help) }
                let forget = ForgetAnswers(alarm: alarm, before: added, lateCall: call)
                #expect(told(try people.ask(ben, forget)) == (isRepeatedFirst ? [] : help))
            }
        }
    }

    @Test(
        """
        an alarm ends at once, and once, for responders who are removed or blocked, and when the dependent closes the \
        account (A1)
        """)
    func removed() throws {
        for kind in [AlertKind.alertRaised, .checkInMissed] {
            var people = People()
            let ben = try people.person()
            let (anna, carl, dora) = (try people.person(), try people.person(), try people.person())
            for responder in [anna, carl, dora] {
                try people.add(responder, ben, isMyResponder: false, iAmResponder: true)
            }
            let alarm: AlarmID = people.id()
            try people.relay(kind, alarm, of: ben)
            try people.ask(anna, RemoveContact(contact: ben))
            try people.ask(ben, BlockContact(contact: carl))
            #expect(people.endings(of: alarm).map(\.account) == [anna, carl])
            try people.ask(ben, CloseAccount())
            #expect(people.endings(of: alarm).map(\.account) == [anna, carl, dora])
            #expect(people.endings(of: alarm).map(\.reason) == [.removed, .removed, .closed])
        }
    }

    @Test("someone who becomes a responder during an alarm hears of it at once, and then of its end (S32)")
    func catchUp() throws {
        for (kind, end) in [(AlertKind.alertRaised, AlertKind.alertCleared), (.checkInMissed, .checkedIn)] {
            var people = People()
            let (ben, anna, carl) = (try people.person(), try people.person(), try people.person())
            try people.add(carl, ben, isMyResponder: true, iAmResponder: false)
            let alarm: AlarmID = people.id()
            try people.relay(kind, alarm, of: ben)
            #expect(people.alerted(by: alarm).isEmpty)
            let begun = people.time
            people.pass(.minutes(1))
            // A repetition doesn't move the beginning; and someone whom Ben looks after needn't look after him.
            try people.relay(kind, alarm, of: ben, repetition: 1)
            try people.add(try people.person(), ben, isMyResponder: true, iAmResponder: false)
            #expect(people.alerted(by: alarm).isEmpty)
            let added = try people.add(anna, ben, isMyResponder: false, iAmResponder: true)
            #expect(
                added.contains(
                    .responderAlerted(
                        .init(
                            account: anna, dependent: ben, kind: kind, alarm: alarm, occurred: begun, repetition: 0,
                            at: people.time))))
            try people.ask(carl, RequestRoleChange(contact: ben))
            #expect(people.alerted(by: alarm) == [anna])
            try people.ask(ben, AcceptRoleChange(contact: carl))
            #expect(people.alerted(by: alarm) == [anna, carl])
            // Neither hears of it again because of something else.
            let before = people.log.count
            try people.ask(carl, UpdateContact(contact: ben, expectedVersion: 2, isMyResponder: false))
            #expect(!people.log[before...].contains { if case .responderAlerted = $0.event { true } else { false } })
            let ended = try people.relay(end, alarm, of: ben)
            #expect(Set(people.endings(of: alarm).map(\.account)) == [anna, carl])
            #expect(!ended.contains { if case .responderAlerted = $0 { true } else { false } }, "the end says it all")
        }
    }

    @Test("an alarm whose end never arrived ends when the next one begins (A1)")
    func superseded() throws {
        var people = People()
        let (anna, ben) = try people.responderAndDependent()
        let (first, second): (AlarmID, AlarmID) = (people.id(), people.id())
        try people.relay(.alertRaised, first, of: ben)
        try people.relay(.alertRaised, second, of: ben)
        #expect(people.endings(of: first).map(\.reason) == [.superseded])
        try people.relay(.alertCleared, first, of: ben)
        #expect(people.endings(of: second).isEmpty)
        try people.relay(.alertCleared, second, of: ben)
        #expect(people.endings(of: second).map(\.account) == [anna])
    }

    @Test(
        """
        after any commands, responders who want to hear of an alarm do at once, and exactly those hear of its end, \
        once (A1)
        """)
    func random() async throws {
        try await withRandom { random in
            for _ in 0..<20 {
                var people = People(seed: random.next())
                let accounts = try (0..<6).map { _ in try people.person() }
                for _ in 0..<600 {
                    people.pass(.seconds(Int64.random(in: 0...8, using: &random)))
                    let asker = accounts.randomElement(using: &random) ?? accounts[0]
                    let other = accounts.randomElement(using: &random) ?? accounts[0]
                    let command =
                        random.oneIn(3)
                        ? people.randomRelay(of: asker, using: &random)
                        : ContactsPropertyTests.command(to: other, of: asker, in: &people, using: &random)
                    // TierTests has those who hear later.
                    if command is SetResponderTiers { continue }
                    let events: [ContactsEvent]
                    do { events = try people.ask(asker, command) } catch is Rejection { continue }
                    try Self.check(events, people)
                    try Self.checkAlerted(people)
                }
                for (key, alarm) in people.alarmsOn {
                    try people.relay(key.kind == .alertRaised ? .alertCleared : .checkedIn, alarm, of: key.account)
                }
                try Self.checkEndings(people)
            }
        }
    }

    /// Only responders hear that a dependent is in trouble or well, and each hears of an alarm's end once.
    private static func check(_ events: [ContactsEvent], _ people: People) throws {
        var heard: Set<String> = []
        for event in events {
            switch event {
            case .responderAlerted(let event):
                try #require(people.contact(event.account, event.dependent)?.iAmResponder == true, "\(event)")
                if event.kind == .checkedIn {
                    try #require(heard.insert("\(event.account) \(event.dependent)").inserted)
                }
            case .alarmEnded(let event) where event.reason == .checkedIn:
                try #require(heard.insert("\(event.account) \(event.dependent)").inserted)
            default: continue
            }
        }
    }

    /// Every responder who wants to hear of an alarm that is on has heard of it, and not of its end.
    private static func checkAlerted(_ people: People) throws {
        for (key, alarm) in people.alarmsOn {
            let responders = people.rows.published(key.account).contacts.filter { card in
                guard card.isMyResponder, let seen = people.contact(card.account, key.account) else { return false }
                return key.kind == .alertRaised || seen.notifyOnMissedCheckIn
            }.map(\.account)
            try #require(people.hearing(of: alarm).isSuperset(of: responders))
        }
    }

    /// Of each alarm everybody heard first that it is on, and last, once, that it is over.
    private static func checkEndings(_ people: People) throws {
        var hearing: [String: Bool] = [:]
        for emission in people.log {
            switch emission.event {
            case .responderAlerted(let event):
                guard let alarm = event.alarm else { continue }
                hearing["\(alarm) \(event.account)"] = true
            case .alarmEnded(let event):
                try #require(hearing["\(event.alarm) \(event.account)"] == true, "an end without a beginning")
                hearing["\(event.alarm) \(event.account)"] = false
            case .contactsClosed(let event):
                // A removed contact hears nothing more.
                for key in hearing.keys where key.hasSuffix(" \(event.account)") { hearing[key] = false }
            default: continue
            }
        }
        try #require(!hearing.isEmpty && hearing.values.allSatisfy { !$0 }, "everybody who heard of an alarm")
        try #require(people.rows.alarms.keys.isEmpty && people.rows.recipients.keys.isEmpty)
    }
}
