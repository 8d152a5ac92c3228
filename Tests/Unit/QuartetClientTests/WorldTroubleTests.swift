import QuartetClient
import QuartetClientTesting
import QuartetNotificationsContract
import QuartetVocabulary
import Testing

/// What can go wrong in a world, as an app developer has it go wrong.
@Suite(.timeLimit(.minutes(10)))
struct WorldTroubleTests {
    @Test("a ping made offline is sent once by an app that was killed and started again (P36, S22)")
    func killedOffline() async throws {
        let world = QuartetWorld(seed: 21)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        world.cut(anna, for: .minutes(30))
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await anna.contacts.sendPing(bob.id) }
        await world.kill(anna)
        #expect(!anna.isRunning)
        await world.advance(by: .minutes(10))
        await world.restart(anna)
        #expect(anna.isRunning && anna.contacts.contacts.outgoingPings.map(\.account) == [bob.id])
        await world.settle()
        #expect(bob.notifications.notifications.history.count { $0.kind == .pingReceived } == 1)
    }

    @Test(
        "killed at any step of a change, an app makes it at most once and shows what the server has (P36, S22)")
    func killedAtAnyStep() async throws {
        for steps in 0...8 {
            let world = QuartetWorld(seed: 22)
            let (anna, bob) = try await world.people("anna", "bob")
            try await world.befriend(anna, bob)
            await world.kill(anna, afterSteps: steps)
            let ping = await world.begin { try? await anna.contacts.sendPing(bob.id) }
            await world.advance(by: .seconds(5))
            await world.restart(anna)
            await world.settle()
            await ping.value
            let received = bob.contacts.contacts.incomingPings.count
            #expect(received <= 1 && anna.contacts.contacts.outgoingPings.count == received)
            #expect(steps < 1 || received == 1, "\(steps)")
        }
    }

    @Test("two devices of one person show the same, and one that is signed out from the other hears of it (P36)")
    func devices() async throws {
        let world = QuartetWorld(seed: 23)
        let phone = try await world.person("anna")
        let tablet = try await world.device(of: phone)
        #expect(phone.id == tablet.id && phone.user.user.devices.count == 2)
        try await tablet.user.raiseAlert()
        await world.settle()
        #expect(phone.user.user.alertRaised != nil)
        try await tablet.session.signOut()
        await world.settle()
        #expect(phone.user.user.devices.count == 1 && tablet.connection.state == .needsAuthentication)
    }

    @Test("a device whose token was copied and used is signed out as it shows it, and keeps what waits (P36, R14)")
    func stolenToken() async throws {
        let world = QuartetWorld(seed: 24)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        try world.stealToken(of: anna)
        await #expect(throws: QuartetError.willBeSentWhenOnline) { try await anna.contacts.sendPing(bob.id) }
        await world.settle()
        #expect(anna.connection.state == .needsAuthentication && bob.contacts.contacts.incomingPings.isEmpty)
        try await anna.signIn()
        await world.settle()
        #expect(bob.contacts.contacts.incomingPings.count == 1)
    }

    @Test(
        "whatever happens to its first requests, a call for help arrives once (P36, S22)",
        arguments: [
            WorldTrouble.unreachable, .lostRequest, .lostAnswer, .slow(.seconds(20)), .foreignAnswer, .overloaded,
            .tooManyCommands, .undecided(.minutes(6)), .failed, .refusedToken,
        ])
    func troubles(_ trouble: WorldTrouble) async throws {
        let world = QuartetWorld(seed: 25)
        let (anna, bob) = try await world.people("anna", "bob")
        try await world.befriend(anna, bob)
        world.trouble(trouble, for: anna, count: 2)
        try? await anna.user.raiseAlert()
        await world.settle()
        #expect(anna.user.user.alertRaised != nil)
        #expect(bob.notifications.notifications.history.count { $0.kind == .dependentAlertRaised } == 1)
    }

    @Test(
        """
        a call for help or an all-clear whose first request hangs in its transport is sent again within a minute, and the first one \
        changes nothing when it arrives after what was done since (P36, S22)
        """, arguments: [true, false])
    func late(isCall: Bool) async throws {
        let world = QuartetWorld(seed: 28)
        let anna = try await world.person("anna")
        if !isCall { try await anna.user.raiseAlert() }
        world.trouble(.late(.minutes(2)), for: anna)
        await #expect(throws: QuartetError.willBeSentWhenOnline) {
            if isCall { try await anna.user.raiseAlert() } else { try await anna.user.clearAlert() }
        }
        await world.advance(by: .seconds(40))
        #expect(anna.connection.outbox.items.value.isEmpty && (anna.user.user.alertRaised != nil) == isCall)
        if isCall { try await anna.user.clearAlert() } else { try await anna.user.raiseAlert() }
        await world.advance(by: .minutes(3))
        #expect((anna.user.user.alertRaised == nil) == isCall)
    }

    @Test("a full disk and a locked device lose no call for help (P36)")
    func disk() async throws {
        let world = QuartetWorld(seed: 26)
        let anna = try await world.person("anna")
        world.fillDisk(of: anna, for: .minutes(3))
        await #expect { try await anna.user.setCheckInInterval(.hours(3)) } throws: { error in
            if case .notStored = error as? QuartetError { true } else { false }
        }
        world.lock(anna, for: .minutes(2))
        try? await anna.user.raiseAlert()
        await world.settle()
        #expect(anna.user.user.alertRaised != nil)
    }

    /// What had to be removed while the disk was full.
    enum Removal: CaseIterable { case accepted, acceptedWhileFull, refused }

    @Test(
        "what a full disk kept an app from removing is removed as soon as there is room (P36, S22)",
        arguments: Removal.allCases)
    func leftovers(_ removal: Removal) async throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            let world = QuartetWorld(seed: seed)
            let store = InMemoryLocalStore()
            let anna = try await world.person("anna", store: store)
            let bob = try await world.person("bob")
            try await world.befriend(anna, bob)
            if removal != .accepted { world.trouble(.slow(.seconds(5)), for: anna) }
            let contact = removal == .refused ? anna.id : bob.id
            await world.begin { try? await anna.contacts.sendPing(contact) }
            world.fillDisk(of: anna, for: .seconds(20))
            await world.advance(by: .minutes(2))
            await world.settle()
            #expect(store.load(anna.id).items.isEmpty)
        }
    }

    @Test("what the server may have as a former device's isn't said to be refused (P36, S22)")
    func formerDevice() async throws {
        let world = QuartetWorld(seed: 27)
        let anna = try await world.person("anna")
        let events = anna.connection.outbox.events
        world.trouble(.lostAnswer, for: anna)
        await world.begin { try? await anna.notifications.unregisterPush() }
        try world.stealToken(of: anna)
        await world.settle()
        try await anna.signIn()
        await world.settle()
        var ends = events.makeAsyncIterator()
        let end = await ends.next()
        #expect(end?.item.command == "UnregisterPush" && end?.error == .unknown)
    }

    @Test("an app that is killed before it has kept a new contact still sends what was changed of it (P36, S22)")
    func newContact() async throws {
        for seed in 1...6 as ClosedRange<UInt64> {
            let world = QuartetWorld(seed: seed)
            let (anna, bob) = try await world.people("anna", "bob")
            try await world.befriend(anna, bob)
            let base = ContactFields(try #require(anna.contacts.contacts.contact(by: bob.id)))
            var edit = base
            edit.nickname = "Bobby"
            world.cut(anna, for: .minutes(1))
            try? await anna.contacts.update(bob.id, Edit(base: base, edit: edit))
            await world.restart(anna)
            await world.settle()
            #expect(anna.contacts.contacts.contact(by: bob.id)?.nickname == "Bobby")
        }
    }
}
