import QuartetClient
import QuartetClientTesting
import QuartetContactsContract
import QuartetNotificationsContract
import QuartetSessionContract
import QuartetVocabulary
import Testing

/// What an app developer writes, with the world that the package gives them.
@Suite(.timeLimit(.minutes(10)))
struct WorldTests {
    @Test("a ping reaches somebody who was cut off for two hours, once, with its notification (P36, T28, S10, S27)")
    func ping() async throws {
        let world = QuartetWorld(seed: 7)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        #expect(anna.contacts.contacts.value.person(by: bob.id)?.name == "Bob")
        world.cut(bob, for: .hours(2))
        try await anna.contacts.sendPing(bob.id)
        #expect(bob.contacts.contacts.incomingPings.isEmpty)
        await world.settle()
        #expect(bob.contacts.contacts.incomingPings.map(\.account) == [anna.id])
        #expect(bob.notifications.notifications.unreadNotifications.map(\.kind).contains(.pingReceived))
        try await bob.contacts.respondToPing(anna.id)
        await world.settle()
        #expect(anna.contacts.contacts.outgoingPings.isEmpty)
        #expect(anna.notifications.notifications.history.contains { $0.kind == .pingAnswered })
    }

    @Test("a missed check-in alarms the responders when it is due, and a check-in ends it (P36, S28, S29)")
    func checkIn() async throws {
        let world = QuartetWorld(seed: 8)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        try await anna.user.setCheckInInterval(.hours(1))
        try await anna.user.checkIn()
        await world.settle()
        let due = try #require(anna.user.user.checkIn?.due)
        await world.advance(by: .minutes(59))
        func alarms() -> Int {
            bob.notifications.notifications.history.count { $0.kind == .dependentCheckInMissed && $0.cleared == nil }
        }
        #expect(alarms() == 0)
        await world.advance(by: .minutes(2))
        #expect(world.now > due && alarms() == 1)
        try await anna.user.checkIn()
        await world.settle()
        #expect(bob.contacts.contacts.value.person(by: anna.id)?.checkIn?.last == anna.user.user.checkIn?.last)
    }

    @Test("a check-in that is too early for a daily time says so in its result, and from when on one counts (P36, A6)")
    func early() async throws {
        let world = QuartetWorld(seed: 9)
        let (anna, _) = try await world.people("anna", "bob")
        let minute = Int((world.now.microseconds / 60_000_000 + 20 * 60) % 1440)
        try await anna.user.setDailyCheckIns(
            DailyTimes(times: [minute], weekdays: Weekday.allCases, zone: "UTC"))
        let early = try #require(try await anna.user.checkInWithResult())
        #expect(early.isEarly == true && early.opens == early.due - .hours(6))
        await world.advance(by: .hours(15))
        let counted = try #require(try await anna.user.checkInWithResult())
        #expect(counted.isEarly == nil && counted.due == early.due + .days(1))
    }

    @Test("a responder who hears later hears when it is their turn, and is shown so beforehand (P36, A10)")
    func tiers() async throws {
        let world = QuartetWorld(seed: 8)
        let (anna, bob, carl) = try await world.people("anna", "bob", "carl")
        for responder in [bob, carl] { try await world.befriend(anna, responder) }
        try await anna.user.setCheckInInterval(.hours(1))
        try await anna.contacts.setResponderTiers([.init(after: .minutes(15), responders: [carl.id])])
        try await anna.user.checkIn()
        await world.settle()
        let order = anna.contacts.contacts.value.hearingOrder
        #expect(order.map(\.responders) == [[bob.id], [carl.id]] && order.last?.after == .minutes(15))
        func hears(_ responder: WorldPerson) -> Bool {
            responder.notifications.notifications.history.contains { $0.kind == .dependentCheckInMissed }
        }
        await world.advance(by: .minutes(61))
        #expect(hears(bob) && !hears(carl))
        await world.advance(by: .minutes(16))
        #expect(hears(carl))
    }

    @Test("what another device has changed since isn't replaced, if the app says what it has seen (P36, T26)")
    func staleVersions() async throws {
        let world = QuartetWorld(seed: 9)
        let (phone, bob) = try await world.people("anna", "bob")
        try await world.befriend(phone, bob)
        let tablet = try await world.device(of: phone)
        let morning = DailyTimes(times: [480], weekdays: Weekday.allCases, zone: "UTC")
        let evening = DailyTimes(times: [1200], weekdays: Weekday.allCases, zone: "UTC")
        #expect(phone.user.user.checkIn?.version == nil && tablet.user.user.checkIn?.version == nil)
        try await phone.user.replaceDailyCheckIns(morning, 0)
        await #expect {
            try await tablet.user.replaceDailyCheckIns(evening, 0)
        } throws: {
            ($0 as? QuartetError)?.code == .staleVersion
        }
        await world.settle()
        let seen = try #require(tablet.user.user.checkIn?.version)
        #expect(seen == 1 && tablet.user.user.checkIn?.daily == morning)
        try await tablet.user.replaceDailyCheckIns(evening, seen)

        let soon = [ResponderTier(after: .minutes(5), responders: [bob.id])]
        let late = [ResponderTier(after: .minutes(30), responders: [bob.id])]
        try await phone.contacts.replaceResponderTiers(soon, 0)
        await #expect {
            try await tablet.contacts.replaceResponderTiers(late, 0)
        } throws: {
            ($0 as? QuartetError)?.code == .staleVersion
        }
        await world.settle()
        #expect(tablet.contacts.contacts.responderTiers == soon && tablet.contacts.contacts.responderTiersVersion == 1)
        try await tablet.contacts.replaceResponderTiers(late, 1)
        await world.settle()
        #expect(phone.contacts.contacts.responderTiers == late && phone.user.user.checkIn?.daily == evening)
        // Who says nothing of what they saw replaces whatever there is.
        try await phone.user.setDailyCheckIns(morning)
        try await phone.contacts.setResponderTiers([])
        await world.settle()
        #expect(tablet.user.user.checkIn?.version == 3 && tablet.contacts.contacts.responderTiersVersion == 3)
    }

    @Test(
        """
        a drill reaches responders as a drill, an alarm takes it away, and its person reads whom it reached (P36, \
        A11)
        """)
    func drill() async throws {
        let world = QuartetWorld(seed: 8)
        let (anna, bob) = try await world.people("anna", "bob")
        #expect(try await anna.user.drillReport() == nil)
        await #expect(throws: QuartetError.self, "nobody would hear of it") { try await anna.user.runDrill() }
        try await world.befriend(anna, bob)
        try await anna.user.runDrill()
        await world.settle()
        func drills() -> [QuartetNotification] {
            bob.notifications.notifications.history.filter { $0.details.isOfDrill }
        }
        let drill = try #require(anna.user.user.drill)
        #expect(drill.isOn && drills().map(\.details.drill) == [drill.id] && drills().map(\.kind) == [.system])
        #expect(bob.contacts.contacts.value.person(by: anna.id)?.alertRaised == nil)
        try await bob.notifications.markRead(drills()[0].id)
        await world.settle()
        let unanswered = try #require(try await anna.user.drillReport())
        #expect(unanswered.responders.allSatisfy { $0.notified != nil && $0.answered == nil }, "reading is no answer")
        try await bob.notifications.answerDrill(drills()[0].id)
        await world.settle()
        #expect(drills()[0].answered != nil)
        let report = try #require(try await anna.user.drillReport())
        #expect(report.drill == drill && report.responders.map(\.account) == [bob.id])
        #expect(report.responders.allSatisfy { $0.notified != nil && $0.answered != nil })
        await #expect(throws: QuartetError.self, "one a day") { try await anna.user.runDrill() }

        try await anna.user.raiseAlert()
        await world.settle()
        #expect(anna.user.user.drill?.end == .alarm && drills().allSatisfy { $0.cleared != nil })
        #expect(bob.contacts.contacts.value.person(by: anna.id)?.alertRaised != nil)
        #expect(bob.notifications.notifications.unreadNotifications.map(\.kind).contains(.dependentAlertRaised))
    }

    @Test("a reminder shows at once on every device, comes when it is due, and not if it was taken back (P36, S39)")
    func reminders() async throws {
        let world = QuartetWorld(seed: 39)
        let (anna, bob) = try await world.people("anna", "bob")
        let due = world.now + .hours(2)
        let (tea, bonsai) = (ScheduleReminder(text: "Tea", due: due), ScheduleReminder(text: "Bonsai", due: due))
        for reminder in [tea, bonsai] { try await anna.notifications.scheduleReminder(reminder) }
        await world.settle()
        #expect(Set(anna.notifications.notifications.reminders.map(\.id)) == [tea.id, bonsai.id])
        #expect(bob.notifications.notifications.reminders.isEmpty)
        #expect(try await anna.notifications.cancelReminder(bonsai.id))
        #expect(anna.notifications.notifications.reminders.map(\.details.reminder) == ["Tea"])
        await #expect(throws: QuartetError.self, "it is too late") {
            try await anna.notifications.scheduleReminder(ScheduleReminder(text: "Tea", due: world.now - .hours(1)))
        }
        #expect(anna.notifications.notifications.reminders.map(\.id) == [tea.id], "what is refused goes")
        await world.advance(by: .hours(3))
        let told = anna.notifications.notifications.history.filter(\.details.isReminder)
        #expect(told.map(\.id) == [tea.id] && told.map(\.details.reminder) == ["Tea"] && told[0].isUnread)
        #expect(anna.notifications.notifications.reminders.isEmpty)
        #expect(try await !anna.notifications.cancelReminder(tea.id), "it has come")
    }

    @Test("a ping that isn't answered warns, then raises an alert, which an answer ends (P36, A4)")
    func unansweredPing() async throws {
        let world = QuartetWorld(seed: 12)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        try await anna.contacts.setPingEscalation(SetPingEscalation(after: .minutes(30)))
        try await bob.contacts.sendPing(anna.id)
        await world.settle()
        let due = try #require(anna.contacts.contacts.value.contact(by: bob.id)?.incomingPingDue)
        let sent = try #require(anna.contacts.contacts.value.contact(by: bob.id)?.incomingPing)
        #expect(bob.contacts.contacts.value.contact(by: anna.id)?.outgoingPingDue == due)
        func warnings() -> [QuartetNotification] {
            anna.notifications.notifications.history.filter { $0.kind == .checkInMissed && $0.details.pinged != nil }
        }
        await world.advance(by: .minutes(27))
        #expect(warnings().map(\.details.graceEnds) == [due] && anna.user.user.alertRaised == nil)
        await world.advance(by: .minutes(4))
        #expect(anna.user.user.unanswered?.pings.map(\.contact) == [bob.id])
        #expect(warnings().allSatisfy { $0.cleared != nil })
        #expect(bob.contacts.contacts.value.person(by: anna.id)?.unanswered == PersonPings(pinged: sent))
        let told = bob.notifications.notifications.history.first { $0.kind == .dependentAlertRaised }?.details
        #expect(told?.pinged == sent && told?.pinger == nil)
        try await anna.contacts.respondToPing(bob.id)
        await world.settle()
        #expect(anna.user.user.alertRaised == nil && anna.user.user.unanswered == nil)
        #expect(bob.contacts.contacts.value.person(by: anna.id)?.alertRaised == nil)
    }

    @Test("a change whose answer is lost is made once, and one made without network is made later (S22, R14)")
    func lostAnswers() async throws {
        let world = QuartetWorld(seed: 9)
        let anna = try await world.person("anna")
        world.loseAnswers(to: anna, count: 3)
        var profile = anna.user.user.profile
        for number in 1...5 {
            let base = profile
            profile.emergencyNote = "\(number)"
            let edit = Edit(base: base, edit: profile)
            if number == 4 { world.cut(anna, for: .minutes(10)) }
            let call = Task { try await anna.user.updateProfile(edit) }
            await world.settle()
            _ = await call.result
        }
        #expect(anna.user.user.emergencyNote == "5" && anna.connection.outbox.items.value.isEmpty)
    }

    @Test("a call returns though its app is cut off, and what it couldn't send happens later (P36)")
    func cutOff() async throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let world = QuartetWorld(seed: seed)
            let (anna, bob) = try await world.people("anna", "bob")
            try await world.befriend(anna, bob)
            let before = world.now
            world.cut(anna, for: .minutes(30))
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await anna.contacts.sendPing(bob.id) }
            // She knows that she is cut off, so nothing was tried again.
            #expect(world.now == before)
            await #expect(throws: QuartetError.offline) { try await anna.session.clearAllReceivedPings(false) }
            #expect(world.now > before && world.now < before + .minutes(1))
            #expect(bob.contacts.contacts.incomingPings.isEmpty)
            await world.advance(by: .minutes(20))
            #expect(bob.contacts.contacts.incomingPings.isEmpty)
            await world.settle()
            #expect(bob.contacts.contacts.incomingPings.map(\.account) == [anna.id])
        }
    }

    @Test("a call whose answers are lost returns once one arrives, and does what it does once (P36)")
    func lostOwnAnswers() async throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            let world = QuartetWorld(seed: seed)
            let (anna, bob) = try await world.people("anna", "bob")
            try await world.befriend(anna, bob)
            let before = world.now
            world.loseAnswers(to: anna, count: 2)
            try await anna.contacts.sendPing(bob.id)
            #expect(world.now > before)
            await world.settle()
            #expect(bob.notifications.notifications.history.count { $0.kind == .pingReceived } == 1)
        }
    }

    @Test("time that a test lets pass is exact, and things happen at their time (P36)")
    func exactTime() async throws {
        let world = QuartetWorld(seed: 13)
        let anna = try await world.person("anna")
        try await anna.user.setCheckInInterval(.hours(1))
        await world.settle()
        let (due, before) = (try #require(anna.user.user.checkIn?.due), world.now)
        let almost = Interval((due - before).duration - .microseconds(1))
        await world.advance(by: almost)
        #expect(world.now == before + almost && anna.user.user.checkIn?.missed == false)
        await world.advance(by: Interval(.microseconds(1)))
        #expect(world.now == due && anna.user.user.checkIn?.missed == true)
    }

    @Test("hours in which nothing happens cost nothing: time passes from one thing to the next (P36)")
    func quietHours() async throws {
        let world = QuartetWorld(seed: 14)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        await world.advance(by: .minutes(5))
        let before = world.steps
        await world.advance(by: .hours(20))
        #expect(world.steps - before < 20)
    }

    @Test("people play in a group session by the server's rules (P16, P21, P22, P36)")
    func group() async throws {
        let world = QuartetWorld(seed: 10)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        let id = try await anna.groups.create(
            CreateGroupSessionRequest(
                activity: GroupSessionActivity(identifier: "org.example.four", title: "Four"), seats: 1))
        try await anna.groups.invite(id, [bob.id])
        await world.settle()
        #expect(bob.groups.groups.invitations.map(\.group) == [id])
        let (hers, his) = (try anna.groups.open(id), try bob.groups.open(id))
        try await bob.groups.join(id)
        try await anna.groups.claimSeat(id, 0)
        await #expect { try await bob.groups.claimSeat(id, 0) } throws: { ($0 as? QuartetError)?.code == .seatTaken }
        await #expect { try await bob.groups.startGame(StartGame(group: id)) } throws: {
            ($0 as? QuartetError)?.code == .notHost
        }
        try await anna.groups.startGame(StartGame(group: id, state: .object([:]), lead: .seconds(0)))
        await world.settle()
        for app in [hers, his] {
            #expect(app.state.game?.version == 1 && app.state.value.occupant(of: 0) == anna.id)
        }
        try await anna.groups.end(id)
        await world.settle()
        #expect(his.state.standing == .invalidated(.ended) && bob.groups.groups.count == 0)
    }

    @Test("all received pings are answered in one operation, as the server does it (S14, P36)")
    func operation() async throws {
        let world = QuartetWorld(seed: 11)
        let (anna, bob, carla) = try await world.people("anna", "bob", "carla")
        for other in [bob, carla] {
            try await world.befriend(anna, other)
            try await other.contacts.sendPing(anna.id)
        }
        await world.settle()
        let answered = try await anna.session.clearAllReceivedPings(true)
        await world.settle()
        #expect(answered.contacts.count == 2 && answered.isCheckedIn == true)
        #expect(anna.contacts.contacts.incomingPings.isEmpty && bob.contacts.contacts.outgoingPings.isEmpty)
    }

    @Test("nobody is told what they aren't to see: a contact without a role to it sees no check-in (S27, P36)")
    func visibility() async throws {
        let world = QuartetWorld(seed: 12)
        let (anna, bob) = try await world.people("anna", "bob")
        try await anna.contacts.add(
            AddContactRequest(code: bob.contacts.contacts.code, isMyResponder: true, iAmResponder: false))
        await world.settle()
        let seenByAnna = try #require(anna.contacts.contacts.value.person(by: bob.id))
        let seenByBob = try #require(bob.contacts.contacts.value.person(by: anna.id))
        #expect(seenByAnna.checkIn == nil && seenByBob.checkIn != nil)
    }

    @Test("the same seed gives the same people and the same times, another seed others (T28)")
    func seeds() async throws {
        func run(_ seed: UInt64) async throws -> (people: [AccountID], end: Instant) {
            let world = QuartetWorld(seed: seed)
            let (anna, bob) = try await world.people("anna", "bob")
            try await world.befriend(anna, bob)
            world.loseAnswers(to: anna, count: 3)
            try await anna.contacts.sendPing(bob.id)
            world.cut(bob, for: .seconds(10))
            await world.settle()
            return ([anna.id, bob.id], world.now)
        }
        let (first, again, other) = (try await run(1), try await run(1), try await run(2))
        #expect(first.people == again.people && first.end == again.end)
        #expect(Set(first.people).isDisjoint(with: other.people) && first.end != other.end)
    }
}
