import QuartetContactsContract
import QuartetContactsRules
import QuartetContractSupport
import QuartetVocabulary
import StoreKit
import TestKit
import Testing

@Suite("Contacts: pings that raise an alert when they aren't answered")
struct PingWatchTests {
    /// Anna, whose pings from Ben and Cleo may raise an alert after half an hour.
    private struct Scene {
        var people = People()
        let (anna, ben, cleo): (AccountID, AccountID, AccountID)

        init(after: Interval? = .minutes(30)) throws {
            (anna, ben, cleo) = (try people.person(), try people.person(), try people.person())
            for responder in [ben, cleo] { try people.add(responder, anna, iAmResponder: true) }
            if let after { try people.ask(anna, SetPingEscalation(after: after)) }
        }

        /// Fires the timer now.
        @discardableResult
        mutating func judge() throws -> [ContactsEvent] {
            try people.ask(nil, JudgePings(account: anna, due: people.time))
        }

        /// Lets time pass, and fires the timer whenever it is due.
        mutating func run(_ interval: Interval) throws {
            let end = people.time + interval
            for _ in 0..<2000 {
                guard let due = people.rows.accounts[anna]?.nextPing, due <= end else {
                    people.time = end
                    return
                }
                people.time = max(people.time, due)
                try judge()
            }
            Issue.record("the timer is set again and again")
        }

        mutating func settle(isRaised: Bool = true) throws {
            let pings = try #require(unanswered.last).pings
            try people.ask(
                nil, SettleUnansweredPings(account: anna, pings: pings, isRaised: isRaised, at: people.time))
        }

        var events: [PingEscalationEvent] {
            people.log.compactMap { if case .pingEscalation(let event) = $0.event { event } else { nil } }
        }
        var warned: [PingWarned] {
            events.compactMap { if case .pingWarned(let event) = $0 { event } else { nil } }
        }
        var unanswered: [PingsUnanswered] {
            events.compactMap { if case .pingsUnanswered(let event) = $0 { event } else { nil } }
        }
        var answered: [UnansweredPingsAnswered] {
            events.compactMap { if case .unansweredPingsAnswered(let event) = $0 { event } else { nil } }
        }
        var ended: [PingWarningEnded] {
            events.compactMap { if case .pingWarningEnded(let event) = $0 { event } else { nil } }
        }
    }

    @Test("five minutes before she is warned, then the ping counts as unanswered, once; both see when (A4)")
    func due() throws {
        var scene = try Scene()
        let sent = scene.people.time
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        #expect(scene.people.contact(scene.anna, scene.ben)?.incomingPingDue == sent + .minutes(30))
        #expect(scene.people.contact(scene.ben, scene.anna)?.outgoingPingDue == sent + .minutes(30))
        try scene.run(.minutes(24))
        #expect(scene.warned.isEmpty)
        try scene.run(.minutes(1))
        #expect(scene.warned.map(\.due) == [sent + .minutes(30)] && scene.unanswered.isEmpty)
        try scene.run(.minutes(5))
        #expect(scene.unanswered.map(\.pings) == [[UnansweredPing(contact: scene.ben, sent: sent)]])
        try scene.settle()
        try scene.run(.days(3))
        #expect(scene.unanswered.count == 1 && scene.warned.count == 1 && scene.ended.count == 1)
    }

    @Test("nothing comes of a ping unless she has chosen it, and of one sent before she did (A4)")
    func off() throws {
        var scene = try Scene(after: nil)
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, SetPingEscalation(after: .minutes(15)))
        try scene.people.ask(scene.anna, SetPingEscalation(contact: scene.cleo, after: .seconds(0)))
        try scene.people.ask(scene.cleo, SendPing(contact: scene.anna))
        try scene.run(.days(2))
        #expect(scene.warned.isEmpty && scene.unanswered.isEmpty)
        // The ping keeps what was chosen when it was sent.
        try scene.people.ask(scene.anna, RespondToPing(contact: scene.ben))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, SetPingEscalation(after: nil))
        try scene.run(.minutes(15))
        #expect(scene.unanswered.count == 1)
    }

    @Test("an answer, a cancellation, a check-in or the end of the role ends it, and takes the warning back (A4)")
    func ends() throws {
        var start = try Scene()
        try start.people.ask(start.ben, SendPing(contact: start.anna))
        try start.run(.minutes(26))
        let (anna, ben) = (start.anna, start.ben)
        func end(_ who: AccountID, _ command: any CommandBody) throws {
            var scene = start
            try scene.people.ask(who, command)
            try scene.run(.days(2))
            #expect(scene.unanswered.isEmpty && scene.ended.count == 1, "\(type(of: command).type)")
        }
        try end(anna, RespondToPing(contact: ben))
        try end(anna, RespondToAllPings())
        try end(anna, ClearReceivedPings())
        try end(ben, CancelPing(contact: anna))
        try end(ben, RemoveContact(contact: anna))
        try end(anna, BlockContact(contact: ben))
        try end(ben, CloseAccount())
        try end(anna, RelayAlert(kind: .checkedIn, occurred: start.people.time))
        // One made before the ping says nothing.
        var earlier = start
        try earlier.people.ask(anna, RelayAlert(kind: .checkedIn, occurred: start.people.time - .hours(1)))
        try earlier.run(.minutes(10))
        #expect(earlier.unanswered.count == 1)
    }

    @Test("several that are due at once are one alert (A4)")
    func several() throws {
        var scene = try Scene()
        for responder in [scene.ben, scene.cleo] { try scene.people.ask(responder, SendPing(contact: scene.anna)) }
        try scene.run(.minutes(30))
        #expect(scene.unanswered.map { $0.pings.map(\.contact) } == [[scene.ben, scene.cleo].sorted()])
    }

    @Test("after an outage she is warned first, and has her five minutes (A4)")
    func outage() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        scene.people.pass(.hours(3))
        try scene.judge()
        #expect(scene.unanswered.isEmpty && scene.warned.map(\.due) == [scene.people.time + .minutes(5)])
        try scene.run(.minutes(4))
        #expect(scene.unanswered.isEmpty)
        try scene.run(.minutes(1))
        #expect(scene.unanswered.count == 1)
    }

    @Test("a responder's pings raise one alert a day; one that raised none doesn't count (A4)")
    func daily() throws {
        for isRaised in [true, false] {
            var scene = try Scene()
            try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
            try scene.run(.minutes(30))
            try scene.settle(isRaised: isRaised)
            let raised = scene.people.time
            try scene.people.ask(scene.anna, RespondToPing(contact: scene.ben))
            try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
            try scene.run(.minutes(30))
            #expect(scene.unanswered.count == (isRaised ? 1 : 2))
            guard isRaised else { continue }
            #expect(scene.people.contact(scene.anna, scene.ben)?.incomingPingDue == raised + .days(1))
            try scene.run(.hours(24))
            #expect(Set(scene.unanswered.map(\.pings)).count == 2, "it waited, and wasn't lost")
        }
    }

    @Test("as long as it isn't known what came of it, it is said again (A4)")
    func again() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.run(.minutes(30))
        try scene.run(.minutes(15))
        #expect(scene.unanswered.count == 2)
    }

    @Test("session hears of an answer to a ping that was found unanswered, or to a later one of that person (A4)")
    func answers() throws {
        var scene = try Scene()
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.run(.minutes(30))
        try scene.people.ask(scene.ben, CancelPing(contact: scene.anna))
        try scene.people.ask(scene.cleo, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, RespondToPing(contact: scene.cleo))
        #expect(scene.answered.isEmpty)
        scene.people.pass(.minutes(1))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        try scene.people.ask(scene.anna, RespondToAllPings())
        #expect(scene.answered.map(\.contacts) == [[scene.ben]])
    }

    @Test("what falls due in quiet hours does so at their end (A4)")
    func quietHours() throws {
        let minute = Interval.minutes(1)
        let day = Instant(microseconds: 20_000 * Interval.days(1).microseconds)
        let night = QuietHours(from: 22 * 60, to: 7 * 60)
        for (hour, end) in [(21, 21), (22, 31), (23, 31), (24, 31), (30, 31), (31, 31)] as [(Int64, Int64)] {
            #expect(night.end(for: day + .hours(hour)) == day + .hours(end), "\(hour)")
        }
        #expect(QuietHours(from: 60, to: 120).end(for: day + .hours(1)) == day + .hours(2))
        var random = SeededRandom(seed: 11)
        for _ in 0..<500 {
            let from = Int(random.next() % 1440)
            let quiet = QuietHours(from: from, to: (from + 1 + Int(random.next() % 1438)) % 1440)
            let time = day + Interval(microseconds: Int64(random.next() % 172_800) * 1_000_000)
            let end = quiet.end(for: time)
            #expect(end >= time && end < time + .days(1) && quiet.end(for: end) == end)
            // Every minute of it is quiet.
            if end > time { #expect(quiet.end(for: end - minute) == end) }
        }
        var scene = try Scene()
        let due = scene.people.time + .minutes(30)
        let of = Int(due.microseconds % Interval.days(1).microseconds / minute.microseconds)
        let quiet = QuietHours(from: of, to: (of + 90) % 1440)
        try scene.people.ask(scene.anna, SetPingQuietHours(quietHours: quiet))
        try scene.people.ask(scene.ben, SendPing(contact: scene.anna))
        #expect(scene.people.contact(scene.ben, scene.anna)?.outgoingPingDue == quiet.end(for: due))
        try scene.run(.hours(1))
        #expect(scene.warned.isEmpty)
        try scene.run(.hours(2))
        #expect(scene.unanswered.first?.at == quiet.end(for: due))
    }

    @Test(
        "an answer or a cancellation that waits holds it back, for a minute at most; one from before the ping doesn't (A4)"
    )
    func holds() throws {
        var start = try Scene()
        let sent = start.people.time
        try start.people.ask(start.ben, SendPing(contact: start.anna))
        try start.run(.minutes(29))
        start.people.pass(.minutes(1))
        let due = start.people.time
        func held(_ recorded: Instant, isCancelled: Bool) throws -> Int {
            var scene = start
            for second in 0..<90 {
                scene.people.time = due + .seconds(Int64(second))
                let waiting = WaitingCommand(recordedAt: recorded, seenAt: scene.people.time)
                if isCancelled {
                    scene.people.rows.waitingCancellations = [scene.ben: waiting]
                } else {
                    scene.people.rows.waitingAnswers = [scene.anna: waiting]
                }
                try scene.judge()
                if !scene.unanswered.isEmpty { return second }
            }
            return 90
        }
        for isCancelled in [true, false] {
            #expect(try held(due, isCancelled: isCancelled) == 60)
            #expect(try held(sent, isCancelled: isCancelled) == 60)
            #expect(try held(sent - .seconds(1), isCancelled: isCancelled) == 0)
            #expect(try held(due + .seconds(1), isCancelled: isCancelled) == 0)
        }
    }

    @Test("only responders are chosen for, and in whole minutes from 15 to 24 hours (A4)")
    func refused() throws {
        var scene = try Scene()
        let (anna, ben) = (scene.anna, scene.ben)
        #expect(try scene.people.rejection(ben, SetPingEscalation(contact: anna, after: .hours(1))) == .notContact)
        #expect(
            try scene.people.rejection(anna, SetPingEscalation(contact: scene.people.id(), after: nil)) == .notContact)
        for after in [Interval.minutes(14), .seconds(901), .minutes(1441), .seconds(-60)] {
            #expect(throws: Rejection.self) { try SetPingEscalation(after: after).validate() }
        }
        for after in [Interval.seconds(0), .minutes(15), .hours(24)] { try SetPingEscalation(after: after).validate() }
        for hours in [QuietHours(from: 0, to: 0), .init(from: -1, to: 0), .init(from: 0, to: 1440)] {
            #expect(throws: Rejection.self) { try SetPingQuietHours(quietHours: hours).validate() }
        }
        // Nothing changes twice.
        #expect(try scene.people.ask(anna, SetPingEscalation(after: .minutes(30))).isEmpty)
        #expect(try scene.people.ask(anna, SetPingQuietHours(quietHours: nil)).isEmpty)
        // Who becomes a responder again has nothing chosen.
        try scene.people.ask(anna, SetPingEscalation(contact: ben, after: .hours(1)))
        try scene.people.ask(ben, UpdateContact(contact: anna, expectedVersion: 1, nickname: "A"))
        #expect(scene.people.contact(anna, ben)?.pingEscalation == .hours(1))
    }

    /// Whatever happens: nothing is found unanswered that wasn't warned of five minutes before, was answered, cancelled, or sent before a
    /// check-in; and what is left open and chosen is found at last.
    @Test("random histories lose no ping, and raise none without a warning (A4)", arguments: 0..<60)
    func random(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed) &* 7919 + 1)
        var scene = try Scene()
        var open: [AccountID: Instant] = [:]
        var checkedIn = Instant(microseconds: 0)
        for _ in 0..<60 {
            let responder = random.next() % 2 == 0 ? scene.ben : scene.cleo
            scene.people.pass(.seconds(1))
            switch random.next() % 7 {
            case 0, 1:
                if try scene.people.rejection(responder, SendPing(contact: scene.anna)) == nil {
                    open[responder] = open[responder] ?? scene.people.time
                }
            case 2:
                try scene.people.ask(scene.anna, RespondToPing(contact: responder))
                open[responder] = nil
            case 3:
                try scene.people.ask(responder, CancelPing(contact: scene.anna))
                open[responder] = nil
            case 4 where random.next() % 3 == 0:
                checkedIn = scene.people.time
                try scene.people.ask(scene.anna, RelayAlert(kind: .checkedIn, occurred: checkedIn))
            default:
                let before = scene.unanswered.count
                try scene.run(.minutes(Int64(random.next() % 40) + 1))
                for found in scene.unanswered.dropFirst(before) {
                    for ping in found.pings {
                        #expect(open[ping.contact] == ping.sent && ping.sent > checkedIn)
                        let warning = scene.warned.last { $0.contact == ping.contact && $0.sent == ping.sent }
                        #expect(warning.map { $0.at + .minutes(5) <= found.at } == true)
                    }
                    if random.next() % 2 == 0 { try scene.settle(isRaised: random.next() % 2 == 0) }
                }
            }
        }
        try scene.run(.days(2))
        for (responder, sent) in open where sent > checkedIn {
            #expect(scene.unanswered.contains { $0.pings.contains { ($0.contact, $0.sent) == (responder, sent) } })
        }
    }
}
