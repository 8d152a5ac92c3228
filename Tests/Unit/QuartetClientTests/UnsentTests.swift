import Foundation
import Observation
import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct UnsentTests {
    @Test(
        "a call for help that was never sent says so, also after a restart, until its person has read that (S22, S24)")
    func expired() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        let acted = try await app.expired(server) {
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            // Not urgent: its caller was told, and nobody else is.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(OutboxApp.one) }
        }
        #expect(app.user.user.alertRaised == nil && app.contacts.contacts.outgoingPings.isEmpty)
        let again = OutboxApp(server, store)
        try await again.connection.restore()
        for app in [app, again] {
            let cards = app.connection.outbox.unsent.value
            #expect(cards.map(\.command) == ["RaiseAlert"] && cards.map(\.reason) == [.expired])
            #expect(cards.map(\.acted) == [acted])
            #expect(app.connection.outbox.items.value.isEmpty && app.user.user.alertRaised == nil)
        }
        try await again.connection.outbox.markRead(try #require(again.connection.outbox.unsent.value.first).id)
        #expect(again.connection.outbox.unsent.value.isEmpty && store.load(Server.account).items.isEmpty)
    }

    @Test(
        "of an urgent change that was sent, and never answered, it is said that nobody knows, also after a restart (S22, S24)"
    )
    func unknown() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        _ = try await app.expired(server) {
            server.goOnline()
            server.state.withLock { $0.lost = [.interrupted("the answer")] }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.checkIn() }
            server.goOffline()
        }
        let again = OutboxApp(server, store)
        try await again.connection.restore()
        for app in [app, again] {
            let cards = app.connection.outbox.unsent.value
            #expect(cards.map(\.command) == ["CheckIn"] && cards.map(\.reason) == [.unknown])
            #expect(app.connection.outbox.items.value.isEmpty)
        }
    }

    @Test("a call for help whose place an all-clear took before it was sent says so (S22)")
    func superseded() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            #expect(app.connection.outbox.unsent.value.map(\.reason) == [.superseded])
            #expect(app.connection.outbox.items.value.map(\.command) == ["ClearAlert"])
            // The same again is sent, so nothing is said of the first.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            #expect(app.connection.outbox.unsent.value.count == 1)
        }
    }

    @Test("signing out says which urgent changes it dropped, to the person who signed out and nobody else (S17, S22)")
    func signedOut() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        let session = SessionClient.live(service: app.connection)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await app.contacts.respondToPing(OutboxApp.one)
            }
            try await session.signOutLocally()
            let cards = app.connection.outbox.unsent.value
            #expect(cards.map(\.reason) == [.signedOut] && cards.map(\.contact) == [OutboxApp.one])
            #expect(store.load(Server.account) == LocalAccount())
            server.goOnline()
            // The same person.
            try await session.signIn(SignInRequest(handle: "anna", password: "x"))
            #expect(app.connection.outbox.unsent.value == cards)
            let reply = SignedIn(
                account: OutboxApp.two, device: Server.device, accessToken: "access", expiresIn: 900,
                refreshToken: "other")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            #expect(app.connection.outbox.unsent.value.isEmpty)
        }
    }

    @Test("whoever signs in sees nothing of what was dropped for that, not for a moment (S17, S22)")
    func droppedForAnother() {
        let cards = UnsentChanges(AccountStore(InMemoryLocalStore(), nil), nil)
        let item = OutboxItem(
            id: 1, stream: "account", command: "RaiseAlert", acted: Instant(microseconds: 1), lifetime: .days(1),
            actedAtServer: nil, account: Server.account, edit: Data())
        let hasChanged = Observed(false)
        withObservationTracking {
            _ = cards.shared.value
        } onChange: {
            hasChanged.update { $0 = true }
        }
        cards.drop([item], for: OutboxApp.two)
        #expect(!hasChanged.value && cards.shared.value.isEmpty && cards.takeUntold() == nil)
        cards.drop([item], for: Server.account)
        // It shows in the app alone.
        #expect(cards.shared.value.map(\.reason) == [.signedOut] && cards.takeUntold() == nil)
    }

    private static func item(_ id: Int64, _ command: String, lifetime: Interval = .days(1)) -> OutboxItem {
        OutboxItem(
            id: id, stream: "account", command: command, acted: Server().clock.timekeeper.wall(), lifetime: lifetime,
            actedAtServer: nil, account: Server.account, edit: Data())
    }

    @Test("a call for help is told first and always aloud, and of what ends at the same time one more at most (S22)")
    func gravity() async throws {
        let time = Server().clock.timekeeper
        let surroundings = ScriptedSurroundings()
        let outbox = Outbox(
            store: AccountStore(InMemoryLocalStore(), nil), clock: KnownServerTime(time), time: time)
        let notices = UnsentNotices(surroundings, of: outbox, connection: "default")
        outbox.cards.show(Self.item(1, "RespondToPing"), .expired)
        await notices.update().value
        #expect(surroundings.told.value.map(\.isLoud) == [true])
        for (id, command) in [(2, "AcknowledgeAlarm"), (3, "EndTrip"), (4, "RaiseAlert")] as [(Int64, String)] {
            outbox.cards.show(Self.item(id, command), .unknown)
        }
        await notices.update().value
        let told = surroundings.told.value.dropFirst()
        #expect(told.map(\.change.id) == [4, 3, 2] && told.map(\.isLoud) == [true, false, false])
    }

    @Test("few are planned at a time, calls for help before others, and of those that aren't one is loud (S22)")
    func fewPlans() async throws {
        let time = Server().clock.timekeeper
        let surroundings = ScriptedSurroundings()
        let outbox = Outbox(
            store: AccountStore(InMemoryLocalStore(), nil), clock: KnownServerTime(time), time: time)
        let notices = UnsentNotices(surroundings, of: outbox, connection: "default")
        let answers = (1...100).map { Self.item($0, "RespondToPing", lifetime: .hours(1)) }
        outbox.change { $0.items = answers }
        let following = Task { await notices.follow() }
        let limit = UnsentNotices.planLimit
        try await surroundings.shown.wait("plans for the first ones") { $0.count == limit ? true : nil }
        await notices.update().value
        #expect(surroundings.shown.value.keys.sorted() == Array(1...Int64(limit)))
        #expect(surroundings.shown.value.values.count(where: \.isLoud) == 1)
        outbox.change { $0.items = answers + [Self.item(101, "RaiseAlert")] }
        try await surroundings.shown.wait("a plan for the call for help") { $0[101] }
        await notices.update().value
        #expect(surroundings.shown.value.keys.sorted() == Array(1..<Int64(limit)) + [101])
        #expect(surroundings.shown.value[101]?.isLoud == true)
        following.cancel()
        await following.value
    }

    @Test("nothing is planned of a call for help that has a card, though it waits: what was told of it stays (S22)")
    func plannedWithCard() async throws {
        let time = Server().clock.timekeeper
        let surroundings = ScriptedSurroundings()
        let outbox = Outbox(
            store: AccountStore(InMemoryLocalStore(), nil), clock: KnownServerTime(time), time: time)
        let notices = UnsentNotices(surroundings, of: outbox, connection: "default")
        let call = Self.item(1, "RaiseAlert")
        outbox.change { $0.items = [call] }
        let following = Task { await notices.follow() }
        try await surroundings.shown.wait("a plan") { $0[1] }
        await surroundings.tell(UnsentChange(call, .expired), of: "default", after: .zero, isLoud: true)
        var card = call
        card.unsent = .expired
        outbox.cards.takeIn(card)
        await notices.update().value
        #expect(surroundings.shown.value[1]?.delay == .zero)
        following.cancel()
        await following.value
    }

    @Test("a call for help that ends unsent shows as a card before it goes (S22)")
    func cardFirst() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let hasCard = Observed<Bool?>(nil)
        _ = try await app.expired(server) {
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            let call = try #require(app.connection.outbox.items.value.first)
            app.connection.outbox.noteCard(of: call.id, in: hasCard)
        }
        #expect(try await hasCard.wait("the call for help to go") { $0 })
    }

    @Test("of many cards those of calls for help stay the longest (S22)")
    func gravestCards() {
        let cards = UnsentChanges(AccountStore(InMemoryLocalStore(), nil), nil)
        cards.show(Self.item(1, "RaiseAlert"), .unknown)
        for id in 2...Int64(UnsentChanges.limit) + 5 { cards.show(Self.item(id, "RespondToPing"), .expired) }
        let shown = cards.shared.value.map(\.id)
        #expect(shown == [1] + Array(7...Int64(UnsentChanges.limit) + 5))
    }

    @Test("the device's notifications of one connection are found among those of others and of the app (S22)")
    func identifiers() {
        let (one, other) = ("default", "7.default")
        let all = [(1, one), (2, one), (1, other)].map { NoticeIdentifiers.identifier($0, of: $1) } + ["app.1.default"]
        #expect(Set(all).count == 4)
        #expect(NoticeIdentifiers.others(all, than: [2], of: one) == [all[0]])
        #expect(NoticeIdentifiers.others(all, than: [], of: other) == [all[2]])
    }

    @Test("a locked device says only that there is something to read, unless the app has it say more (S22, P9)")
    func locked() throws {
        let words = Set(["en", "de"].map { Texts(languages: [$0])["unsent.locked"] })
        #expect(words.count == 2 && !words.contains("unsent.locked"))
        for text in words {
            #expect(text.contains("App") || text.contains("app"))
            #expect(try text.firstMatch(of: Regex("(?i)help|hilfe|alarm|alert|[{]")) == nil, "\(text)")
        }
        let source = try String(
            contentsOf: Products.package.appending(
                path: "Shared/Client/QuartetClient/Connection/SystemSurroundings.swift"), encoding: .utf8)
        #expect(source.contains(#"String? = { _ in Texts()["unsent.locked"] })"#))
    }

    @Test(
        "signing out says how many other changes it dropped, until that is read, and to nobody else (S17, S22)",
        arguments: [true, false])
    func dropped(isRead: Bool) async throws {
        let server = Server()
        let app = OutboxApp(server)
        let session = SessionClient.live(service: app.connection)
        let outbox = app.connection.outbox
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(OutboxApp.one) }
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await app.user.setCheckInInterval(.hours(3))
            }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            #expect(outbox.dropped.value.isEmpty)
            try await session.signOutLocally()
            #expect(outbox.dropped.value == ["SendPing", "SetCheckInInterval"])
            #expect(outbox.unsent.value.map(\.command) == ["RaiseAlert"])
            // Again, and again nobody's.
            try await session.signOutLocally()
            #expect(outbox.dropped.value.count == 2)
            if isRead {
                outbox.markDroppedRead()
            } else {
                let reply = SignedIn(
                    account: OutboxApp.two, device: Server.device, accessToken: "access", expiresIn: 900,
                    refreshToken: "other")
                server.goOnline()
                try await app.connection.signedIn(reply, asked: server.clock.now)
            }
            #expect(outbox.dropped.value.isEmpty)
        }
        let texts = ["en", "de"].map { Texts(languages: [$0]) }
        for commands in [["SendPing"], ["SendPing", "SendPing"]] {
            let sentences = texts.compactMap { $0.sentence(dropped: commands) }
            #expect(Set(sentences).count == 2 && sentences.allSatisfy { !$0.contains("{") })
        }
        #expect(texts[0].sentence(dropped: []) == nil)
    }

    @Test(
        "an urgent change that is refused when nobody waits for it any more says why, also after a restart (S22, S24)")
    func refused() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        let refusal = APIError(.notContact, "They aren't a contact any more.")
        try await app.offline(server) {
            server.state.withLock { $0.replies = [.failure(refusal)] }
            // Who waits for it hears it.
            await #expect(throws: QuartetError.refused(refusal)) { try await app.contacts.respondToPing(OutboxApp.one) }
            #expect(app.connection.outbox.unsent.value.isEmpty)
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await app.contacts.respondToPing(OutboxApp.one)
            }
            server.state.withLock { $0.replies = [.failure(refusal)] }
            server.goOnline()
            let events = app.connection.outbox.events
            app.connection.outbox.retry()
            #expect(await events.first { _ in true }?.error == .refused(refusal))
        }
        let again = OutboxApp(server, store)
        try await again.connection.restore()
        for app in [app, again] {
            let cards = app.connection.outbox.unsent.value
            #expect(cards.map(\.command) == ["RespondToPing"] && cards.map(\.reason) == [.refused])
            #expect(cards.map(\.refusal?.code) == [.notContact] && cards.map(\.refusal?.detail) == [refusal.detail])
            #expect(app.connection.outbox.items.value.isEmpty)
        }
    }

    @Test("of many cards the newest stay, on the device as well (S22)")
    func limit() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            server.goOffline()
            for _ in 0..<UnsentChanges.limit + 3 {
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            }
            let cards = app.connection.outbox.unsent.value
            #expect(cards.count == UnsentChanges.limit)
            let kept = store.load(Server.account).items
            #expect(kept.count == UnsentChanges.limit + 1)
            #expect(kept.filter { $0.unsent != nil }.map(\.id) == cards.map(\.id))
        }
    }

    @Test("a card says what, when and why in every language (P9)")
    func texts() {
        let item = { (command: String) in
            var item = OutboxItem(
                id: 1, stream: "account", command: command, acted: Instant(microseconds: 1_800_000_000_000_000),
                lifetime: .days(1), actedAtServer: nil, edit: Data(), order: "pingAnswer/\(OutboxApp.one)")
            item.refusal = UnsentChange.Refusal(APIError(.notContact))
            return item
        }
        let urgent = appCommands.filter { $0.value.isUrgent }.keys.sorted()
        #expect(urgent.count > 7 && urgent.contains("StartTrip"))
        for language in ["en", "de"] {
            let texts = Texts(languages: [language])
            for reason in UnsentChange.Reason.allCases {
                let newer = texts.sentence(UnsentChange(item("Newer"), reason), name: "Bob")
                for command in urgent + ["Newer"] {
                    let text = texts.sentence(UnsentChange(item(command), reason), name: "Bob")
                    #expect((text == newer) == (command == "Newer"))
                    #expect(text.contains("2027") && !text.contains("unsent.") && !text.contains("{"), "\(text)")
                    #expect(!text.contains("refused.") && !text.hasSuffix(" "), "\(text)")
                    #expect(text.contains("Bob") == ["RespondToPing", "AcknowledgeAlarm"].contains(command))
                }
            }
        }
        #expect(UnsentChange(item("RespondToPing"), .expired).contact == OutboxApp.one)
        // A device that tells of it on its own knows no name.
        for (language, words) in [("en", "answer to someone ("), ("de", "Antwort an jemand (")] {
            let text = Texts(languages: [language]).sentence(UnsentChange(item("RespondToPing"), .expired), name: nil)
            #expect(text.contains(words), "\(text)")
        }
    }
}

extension OutboxApp {
    /// Waits until what `act` does has expired.
    /// - Returns: When that was, by the server.
    fileprivate func expired(_ server: Server, _ act: @Sendable () async throws -> Void) async throws -> Instant {
        let acted = Mutex<Instant?>(nil)
        try await offline(server) {
            server.goOffline()
            acted.withLock { $0 = server.state.withLock { $0.time() } }
            try await act()
            server.clock.advance(by: .seconds(86_401))
            server.goOnline()
            connection.outbox.retry()
            await connection.outbox.unsent.values.wait { !$0.isEmpty }
            await waitUntilSent()
        }
        return try #require(acted.withLock { $0 })
    }
}
