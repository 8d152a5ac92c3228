import API
import Foundation
import QuartetClientTesting
import SessionContract
import Synchronization
import TestKit
import Testing
import Vocabulary

@testable import QuartetClient

/// A store whose accounts can't always be forgotten, and whose items wait for a test.
private final class StubbornStore: LocalStore {
    struct Busy: Error {}

    let store = InMemoryLocalStore()
    let isStubborn = Mutex(false)
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
        guard !isStubborn.withLock({ $0 }) else { throw Busy() }
        store.forget(account)
    }

    func forgetOthers(than account: AccountID?) throws {
        guard !isStubborn.withLock({ $0 }) else { throw Busy() }
        store.forgetOthers(than: account)
    }
}

@Suite(.timeLimit(.minutes(2)))
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
        server.tokens.save(nil)
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
        }
    }
}
