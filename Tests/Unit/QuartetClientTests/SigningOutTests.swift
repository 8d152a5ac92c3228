import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// A store whose accounts can't always be forgotten, and whose items wait for a test.
private final class StubbornStore: LocalStore {
    struct Busy: Error {}

    let store = InMemoryLocalStore()
    let isStubborn = Mutex(false)
    /// The account that can't be forgotten although others can.
    let stuck = Mutex<AccountID?>(nil)
    /// Holds back what is saved.
    let gate = Observed(true)
    let isWaiting = Observed(false)

    func load(_ account: AccountID) -> LocalAccount { store.load(account) }

    func save(_ item: OutboxItem, of account: AccountID) async throws {
        isWaiting.update { $0 = true }
        try await gate.wait("the gate is open") { $0 ? true : nil }
        store.save(item, of: account)
    }

    func remove(_ item: OutboxItem.ID, of account: AccountID) { store.remove(item, of: account) }

    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) {
        store.save(copies, finishing: items, of: account)
    }

    func forget(_ account: AccountID) throws {
        guard !isStubborn.withLock({ $0 }), stuck.withLock({ $0 }) != account else { throw Busy() }
        store.forget(account)
    }

    func forgetOthers(than account: AccountID?) throws {
        guard !isStubborn.withLock({ $0 }) else { throw Busy() }
        store.forgetOthers(than: account)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct SigningOutTests {
    private static let (one, two) = (OutboxApp.one, OutboxApp.two)

    private static func bob(_ account: AccountID) -> SignedIn {
        SignedIn(account: account, device: Server.device, accessToken: "bob", expiresIn: 900, refreshToken: "bob-0")
    }

    @Test(
        "what couldn't be erased at a sign-out is erased by the next one, or at the next start (S17)",
        arguments: [false, true]
    )
    func erasing(restarts: Bool) async throws {
        let server = Server()
        let store = StubbornStore()
        let app = OutboxApp(server, store)
        let session = SessionClient.live(service: app.connection)
        try await app.connected(server) { _ in
            while store.load(Server.account).copies.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
            store.isStubborn.withLock { $0 = true }
            await #expect(throws: QuartetError.self) { try await session.signOut() }
            #expect(!session.session.isSignedIn && app.contacts.contacts.count == 0)
            #expect(app.connection.state == .needsAuthentication)
            #expect(!store.load(Server.account).copies.isEmpty)
            await #expect(throws: QuartetError.needsAuthentication) { try await app.contacts.sendPing(Self.one) }
        }
        store.isStubborn.withLock { $0 = false }
        if restarts {
            let next = OutboxApp(server, store)
            try await next.connection.restore()
            #expect(next.contacts.contacts.count == 0)
        } else {
            try await session.signOut()
            // Whether the server knows isn't certain any more, so it is told again.
            try await whileRunning(app.connection) { await server.passTime { server.tokens.load() == nil } }
        }
        #expect(store.load(Server.account) == LocalAccount())
    }

    @Test("nobody is signed in while what they left can't be erased; the sign-in can be repeated (S17)")
    func erasingOwn() async throws {
        let server = Server()
        let store = StubbornStore()
        let app = OutboxApp(server, store)
        try await app.connection.restore()
        store.stuck.withLock { $0 = Self.one }
        await #expect(throws: QuartetError.self) {
            try await app.connection.signedIn(Self.bob(Self.one), asked: server.clock.now)
        }
        #expect(server.tokens.load()?.account == Server.account)
        store.stuck.withLock { $0 = nil }
        try await app.connection.signedIn(Self.bob(Self.one), asked: server.clock.now)
        #expect(server.tokens.load()?.account == Self.one)
    }

    @Test(
        "what a crash or a restored backup left of somebody is erased at the next start, and what belongs to who is signed in stays (S17)"
    )
    func leftovers() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let copy = LocalCopy(sequence: "contacts", place: "contacts.log@7-1/3/10", state: Data(), asOf: .now)
        for account in [Server.account, Self.one] { store.save([copy], finishing: [], of: account) }
        try await OutboxApp(server, store).connection.restore()
        #expect(store.load(Server.account).copies == [copy] && store.load(Self.one) == LocalAccount())
        // Signed out by the server: the person may sign in again, and finds what waits.
        server.tokens.save(
            Credentials(account: Server.account, device: Server.device, refreshToken: "r", isSignedOut: true))
        try await OutboxApp(server, store).connection.restore()
        #expect(store.load(Server.account).copies == [copy])
        // Where no token is found, as in an extension that may not read it, the app may have one.
        server.tokens.save(nil)
        try await OutboxApp(server, store).connection.restore()
        #expect(store.load(Server.account).copies == [copy])
        server.tokens.save(
            Credentials(
                account: Server.account, device: Server.device, refreshToken: "r", isSignedOut: true, isLeaving: true))
        try await OutboxApp(server, store).connection.restore()
        #expect(store.load(Server.account) == LocalAccount())
    }

    @Test(
        "a phone without network can be signed out: nothing stays on it, and the server hears of it once there is a network (S17)"
    )
    func withoutNetwork() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        let session = SessionClient.live(service: app.connection)
        @Sendable func signOuts() -> [TransportRequest] { server.transport.requests.filter { $0.endpoint == .signOut } }
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            try await session.signOutLocally()
            #expect(!session.session.isSignedIn && app.contacts.contacts.count == 0)
            #expect(store.load(Server.account) == LocalAccount())
            await #expect(throws: QuartetError.needsAuthentication) { try await app.user.checkIn() }
        }
        let before = signOuts().count
        // The app was ended before there was a network.
        server.goOnline()
        let exchanges = server.state.withLock { $0.exchanges }
        // The first answer to the sign-out is lost.
        server.transport.answer { request in
            if request.endpoint == .signOut, signOuts().count == before + 1 { throw TransportError.interrupted("it") }
            return try server.answer(request)
        }
        let next = OutboxApp(server, store)
        try await whileRunning(next.connection) {
            await server.passTime { server.tokens.load() == nil }
        }
        // The second exchange is of the token that the first one gave.
        let sent = signOuts().dropFirst(before)
        #expect(sent.map(\.token) == ["access-\(exchanges + 1)", "access-\(exchanges + 2)"])
        #expect(store.load(Server.account) == LocalAccount())
    }

    @Test(
        "somebody who signs in after a sign-out that the server doesn't know of starts with nothing, be it the same person (S17)"
    )
    func afterLeaving() async throws {
        let server = Server()
        let store = StubbornStore()
        let app = OutboxApp(server, store)
        let session = SessionClient.live(service: app.connection)
        try await app.connected(server) { _ in
            app.connection.disconnect()
            store.isStubborn.withLock { $0 = true }
            await #expect(throws: QuartetError.self) { try await session.signOutLocally() }
            store.isStubborn.withLock { $0 = false }
            try await session.signIn(SignInRequest(handle: "anna", password: "x"))
            #expect(app.contacts.contacts.count == 0 && session.session.isSignedIn)
            #expect(server.tokens.load()?.isLeaving == false)
            #expect(server.transport.requests.contains { $0.endpoint == .signOut }, "the server was told")
        }
    }

    @Test("a sign-out that is answered after somebody else signed in leaves them signed in (S17, R12)")
    func overtaken() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        let session = SessionClient.live(service: app.connection)
        let (isSent, isOver) = (Observed(false), Observed(false))
        try await app.connected(server) { _ in
            app.connection.disconnect()
            server.transport.answer { request in
                guard request.endpoint == .signOut else { return try server.answer(request) }
                isSent.update { $0 = true }
                try await isOver.wait("the answer may come") { $0 ? true : nil }
                return try server.answer(request)
            }
            let call = Task { try await session.signOut() }
            try await isSent.wait("it was asked for") { $0 ? true : nil }
            try await app.connection.signedIn(Self.bob(Self.one), asked: server.clock.now)
            isOver.update { $0 = true }
            try await call.value
            #expect(server.tokens.load()?.account == Self.one && server.tokens.load()?.isSignedOut == false)
        }
    }

    @Test("a late word about who was signed in before doesn't end the stream of who is by now (F9, S17)")
    func lateWord() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let requests = app.connection.requests
            try await app.connection.signedIn(Self.bob(Server.account), asked: server.clock.now)
            requests.onSignedOut(.signedOut(nil))
            #expect(app.connection.state != .needsAuthentication)
            app.connection.requests.onSignedOut(.signedOut(nil))
            #expect(app.connection.state == .needsAuthentication)
        }
    }

    @Test("a change that is still being kept when somebody else signs in is neither kept nor sent as theirs (S17, R12)")
    func halfKept() async throws {
        let server = Server()
        let store = StubbornStore()
        let app = OutboxApp(server, store)
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            store.gate.update { $0 = false }
            let first = Task { try await app.contacts.sendPing(Self.one) }
            try await store.isWaiting.wait("it is being kept") { $0 ? true : nil }
            // Behind the first one.
            let second = Task { try await app.contacts.sendPing(Self.two) }
            let other = Task { try await app.connection.signedIn(Self.bob(Self.one), asked: server.clock.now) }
            await app.contacts.contacts.values.wait { $0.outgoingPings.count == 2 }
            store.gate.update { $0 = true }
            try await other.value
            await #expect(throws: QuartetError.self) { try await first.value }
            await #expect(throws: QuartetError.self) { try await second.value }
            #expect(app.connection.outbox.items.value.isEmpty && app.contacts.contacts.outgoingPings.isEmpty)
            for account in [Server.account, Self.one] { #expect(store.load(account).items.isEmpty) }
        }
    }

    @Test(
        "an attempt that ends after its person signed out writes nothing, whoever signs in, be it the same person (S17, R12)",
        arguments: [Server.account, OutboxApp.one])
    func lateAttempt(next: AccountID) async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        let session = SessionClient.live(service: app.connection)
        let (isSent, isOver) = (Observed(false), Observed(false))
        try await app.connected(server) { _ in
            app.connection.disconnect()
            server.transport.answer { request in
                guard request.endpoint == .command("RaiseAlert") else { return try server.answer(request) }
                isSent.update { $0 = true }
                try await isOver.wait("the attempt may end") { $0 ? true : nil }
                throw TransportError.unreachable("no network")
            }
            let call = Task { try await app.user.raiseAlert() }
            try await isSent.wait("the attempt began") { $0 ? true : nil }
            try await session.signOut()
            await #expect(throws: QuartetError.needsAuthentication) { try await call.value }
            let reply = SignedIn(
                account: next, device: Server.device, accessToken: "next", expiresIn: 900, refreshToken: "next-0")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            isOver.update { $0 = true }
            // Its turn comes when the attempt has ended, which then rests for both.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            let items = app.connection.outbox.items.value
            #expect(items.count == 1 && store.load(next).items.map(\.id) == items.map(\.id))
        }
    }

    @Test("what is kept, changed or removed for one account never touches another's (S17, R12)")
    func accounts() async throws {
        let store = InMemoryLocalStore()
        let accounts = AccountStore(store, nil)
        let item = { (account: AccountID) in
            OutboxItem(
                id: 7, stream: "contacts", command: "SendPing", acted: .now, lifetime: .hours(1), actedAtServer: nil,
                account: account, edit: Data())
        }
        let (annas, bobs) = (item(Self.one), item(Self.two))
        let save = { (item: OutboxItem, others: AccountStore.Others?) in
            let saving = accounts.save(
                item, joined: nil, own: { [] }, replacing: { others }, then: { _, _ in }, orAfter: { _ in item })
            _ = try await saving.value.get()
        }
        _ = try await accounts.open(Self.one)
        // It was taken back before its turn came.
        try await save(annas, nil)
        #expect(store.load(Self.one).items.isEmpty)
        try await save(annas, [:])
        _ = try await accounts.open(Self.two)
        await #expect(throws: QuartetError.needsAuthentication) { try await save(annas, [:]) }
        await #expect(throws: QuartetError.needsAuthentication) {
            try await accounts.replace(annas, { .init(step: .renew) }, then: { _ in })
        }
        #expect(store.load(Self.two).items.isEmpty)
        try await save(bobs, [:])
        try await accounts.remove(annas.id, of: annas.account)
        #expect(store.load(Self.two).items == [bobs] && store.load(Self.one).items == [annas])
        // It was dropped before its turn came.
        var later = bobs
        later.body = Data()
        _ = try await accounts.replace(later, { nil }, then: { _ in })
        #expect(store.load(Self.two).items == [bobs])
    }
}
