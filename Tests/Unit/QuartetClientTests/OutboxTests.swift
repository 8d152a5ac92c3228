import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct OutboxTests {
    private static let (one, two, three) = (OutboxApp.one, OutboxApp.two, OutboxApp.three)

    private static func pings(_ app: OutboxApp) -> [AccountID] { app.contacts.contacts.outgoingPings.map(\.account) }

    @Test("without a connection, changes show, wait in their order, and are sent once there is one (S22, T12)")
    func offline() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            for contact in [Self.one, Self.two] {
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(contact) }
            }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.cancelPing(Self.one) }
            #expect(Self.pings(app) == [Self.two])
            // The ping that was never sent needs no sending any more.
            #expect(app.connection.outbox.items.value.map(\.command) == ["SendPing", "CancelPing"])
            let before = server.commands.count
            server.goOnline()
            app.connection.connect()
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            await app.waitUntilSent()
            let sent = server.commands.dropFirst(before)
            #expect(sent.map(\.name).sorted() == ["CancelPing", "SendPing"])
            #expect(Set(sent.map(\.key)).count == 2)
        }
    }

    @Test(
        "after a restart without network, what the device kept shows with the changes on top, and they are sent once (S22)"
    )
    func restart() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.connected(server) { _ in
            server.state.withLock { $0.lost = [.interrupted("the answer")] }
            // The call lasts for as long as a person waits. This app ends before.
            let call = Task { try await first.contacts.sendPing(Self.one) }
            await server.clock.waitForSleeper(within: .seconds(1))
            call.cancel()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await call.value }
            server.goOffline()
            first.connection.disconnect()
        }
        let sent = try #require(server.commands.first)

        let second = OutboxApp(server, store)
        try await second.connection.restore()
        #expect(second.contacts.contacts.count == 3 && second.contacts.contacts.code == nil)
        #expect(Self.pings(second) == [Self.one] && second.user.user.name == "Anna")
        guard case .stale = second.contacts.contacts.phase else {
            Issue.record("what was kept is shown as \(second.contacts.contacts.phase)")
            return
        }
        #expect(second.connection.outbox.items.value.map(\.isSent) == [true])
        server.goOnline()
        try await whileRunning(second.connection) {
            let stream = try #require(await server.transport.nextStream())
            #expect(stream.request.place?.contains("contacts=contacts.log@7-1/3/10") == true)
            stream.resume()
            await second.waitUntilSent()
            await second.contacts.contacts.phases.wait { $0 == .ready }
        }
        let again = try #require(server.commands.last)
        #expect(again == sent && Set(server.commands.map(\.key)).count == 1)
        #expect(store.load(Server.account).items == [])
    }

    @Test("what a change stands on is kept with it, also before the stream has begun (S22)")
    func early() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await whileRunning(first.connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(
                .account, AccountState(account: Server.account, handle: "anna", name: "Anna", profileVersion: 1))
            // What comes within two seconds of the last copy isn't kept at once.
            try stream.begin(
                .contacts, ContactsState(account: Server.account, contacts: Ordered([Contact(Self.one)])))
            await first.contacts.contacts.values.wait { $0.count == 1 }
            try await first.contacts.sendPing(Self.one)
            #expect(store.load(Server.account).copies.contains { $0.sequence == "contacts" })
        }
    }

    @Test("a refused change is taken back with its reason, and those behind it are sent (S24)")
    func refusal() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            for contact in [Self.one, Self.two, Self.three] {
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(contact) }
            }
            let events = app.connection.outbox.events
            server.state.withLock {
                $0.replies = [.success(Server.accepted()), .failure(APIError(.pingsOff))]
            }
            server.goOnline()
            app.connection.outbox.retry()
            var errors: [QuartetError?] = []
            for await event in events {
                errors.append(event.error)
                if errors.count == 3 { break }
            }
            #expect(errors.count { $0 == nil } == 2 && errors.contains(.refused(APIError(.pingsOff))))
            #expect(app.connection.outbox.items.value.isEmpty)
        }
    }

    @Test(
        "a change that finds the device signed out is kept, and is sent when its person has signed in again (S22, S20)"
    )
    func signedOut() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.state.withLock { $0.replies = [.failure(APIError(.signedOut))] }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(Self.one) }
            #expect(app.connection.state == .needsAuthentication && Self.pings(app) == [Self.one])
            try await SessionClient.live(service: app.connection).signIn(SignInRequest(handle: "anna", password: "x"))
            let stream = try #require(await server.transport.nextStream())
            stream.resume()
            await app.waitUntilSent()
            #expect(server.commands.map(\.name) == ["SendPing", "SendPing"])
        }
    }

    @Test(
        "a full server and a used-up rate refuse nothing: the change stays, and is sent when the server said (S22, T21)"
    )
    func overload() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let overloaded = APIError(.overloaded, retryAfter: 60)
            let tooMany = APIError(.tooManyCommands, retryAfter: 60)
            server.state.withLock { $0.replies = [.failure(overloaded), .failure(tooMany)] }
            let times = Observed<[Duration]>([])
            server.transport.answer { request in
                if case .command = request.endpoint {
                    let now = server.clock.now
                    times.update { $0.append(now) }
                }
                return try server.answer(request)
            }
            await #expect(throws: QuartetError.serverError(overloaded)) { try await app.contacts.sendPing(Self.one) }
            #expect(Self.pings(app) == [Self.one])
            while times.value.count < 3 {
                await server.clock.waitForSleeper(within: .seconds(75))
                server.clock.advance(by: .seconds(1))
            }
            await app.waitUntilSent()
            #expect(times.value[1] >= .seconds(60) && times.value[2] >= times.value[1] + .seconds(60))
            let keys = server.commands.map(\.key)
            #expect(keys.count == 3 && Set(keys).count == 1)
        }
    }

    @Test("what wasn't sent can be taken back, what the server may know can't (S22)")
    func cancelling() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            app.connection.disconnect()
            server.transport.answer { request in
                if case .command = request.endpoint { throw TransportError.interrupted("the answer") }
                return try server.answer(request)
            }
            for contact in [Self.one, Self.two] {
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(contact) }
            }
            let items = app.connection.outbox.items.value
            #expect(items.map(\.canCancel) == [false, true])
            let isFirstCancelled = try await app.connection.outbox.cancel(items[0].id)
            let isSecondCancelled = try await app.connection.outbox.cancel(items[1].id)
            #expect(!isFirstCancelled && isSecondCancelled)
            #expect(Self.pings(app) == [Self.one] && app.connection.outbox.items.value.map(\.id) == [items[0].id])
        }
    }

    @Test(
        "a check-in that couldn't be sent in time isn't sent, since it would put off an alarm; a call for help is (S22, S27)"
    )
    func expiry() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.checkIn() }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            #expect(app.user.user.checkIn?.last != nil)
            let (events, before) = (app.connection.outbox.events, server.commands.count)
            server.clock.advance(by: .seconds(301))
            server.goOnline()
            app.connection.outbox.retry()
            var errors: [QuartetError?] = []
            for await event in events {
                errors.append(event.error)
                if errors.count == 2 { break }
            }
            #expect(errors == [.expired, nil] && app.user.user.checkIn?.last == nil)
            #expect(server.commands.dropFirst(before).map(\.name) == ["RaiseAlert"])
        }
    }

    @Test("what was sent so long ago that the server has forgotten its id isn't sent again (S22)")
    func horizon() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            app.connection.disconnect()
            server.state.withLock { $0.lost = [.interrupted("the answer")] }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.block(Self.one) }
            let events = app.connection.outbox.events
            server.clock.advance(by: .seconds(29 * 86_400))
            app.connection.outbox.retry()
            let event = await events.first { _ in true }
            #expect(event?.error == .unknown && server.commands.count == 1)
        }
    }

    @Test("a device that keeps no more changes says so and takes the change back (S22)")
    func limit() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.goOffline()
            app.connection.disconnect()
            for number in 0..<UInt64(Outbox.limit.items) {
                await #expect(throws: QuartetError.willBeSentWhenOnline) {
                    try await app.contacts.block(Server.person(100 + number))
                }
            }
            await #expect(throws: QuartetError.outboxFull) { try await app.contacts.sendPing(Self.one) }
            #expect(Self.pings(app).isEmpty && app.connection.outbox.items.value.count == Outbox.limit.items)
            // Urgent ones have places of their own, and go before all of them.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            let before = server.commands.count
            server.goOnline()
            app.connection.outbox.retry()
            await app.waitUntilSent()
            let sent = server.commands.dropFirst(before).map(\.name)
            #expect(sent.firstIndex(of: "RaiseAlert") ?? .max < 4 && sent.count { $0 == "RaiseAlert" } == 1)
        }
    }

    @Test("somebody else who signs in finds nothing of the one before, and nothing of theirs is sent (S17, R12)")
    func anotherAccount() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let app = OutboxApp(server, store)
        try await app.connected(server) { _ in
            app.connection.disconnect()
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(Self.one) }
            let reply = SignedIn(
                account: Self.two, device: Server.device, accessToken: "access", expiresIn: 900, refreshToken: "other")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            #expect(app.connection.outbox.items.value.isEmpty && app.contacts.contacts.count == 0)
            #expect(store.load(Server.account) == LocalAccount())
            server.goOnline()
            app.connection.outbox.retry()
            try await app.user.raiseAlert()
            #expect(!server.commands.contains { $0.name == "SendPing" && $0.key != nil && $0.body.isEmpty })
            #expect(server.commands.last?.name == "RaiseAlert")
        }
    }
}
