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

/// A device that a test plays.
private final class ScriptedSurroundings: Surroundings {
    let changes: AsyncStream<Void>
    let change: AsyncStream<Void>.Continuation
    /// How often the app asked to go on in the background, and whether it is given the time now.
    let awake = Observed<(count: Int, isNow: Bool)>((0, false))

    /// Which cards it was to tell of.
    let told = Observed<[UnsentChange]>([])

    init() {
        (changes, change) = AsyncStream<Void>.makeStream()
    }

    func networkChanges() -> AsyncStream<Void> { changes }

    func stayAwake(_ reason: String, while body: @Sendable () async -> Void) async {
        awake.update { $0 = ($0.count + 1, true) }
        await body()
        awake.update { $0.isNow = false }
    }

    func tell(_ change: UnsentChange) async { told.update { $0.append(change) } }
}

@Suite(.timeLimit(.minutes(10)))
struct ConnectionLifeTests {
    @Test(
        "however often clients are made of a connection, they show one state, a refusal is taken back in all of them, and the stream is opened once (S1, S24)"
    )
    func clientsOnce() async throws {
        let server = Server()
        let connection = server.connection()
        let first = Quartet.live(connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(OutboxApp.one)])
            try await connection.ready()
            let second = Quartet.live(connection)
            #expect(connection.state.isConnected && server.transport.openStreams == 1)
            server.state.withLock { $0.replies = [.failure(APIError(.pingsOff))] }
            await #expect(throws: QuartetError.refused(APIError(.pingsOff))) {
                try await first.contacts.sendPing(OutboxApp.one)
            }
            for quartet in [first, second] {
                #expect(quartet.contacts.contacts.count == 1 && quartet.contacts.contacts.outgoingPings.isEmpty)
            }
            #expect(connection.core.withLock { $0.consumers.count } == 4)
            // Two group sessions of one name are one, too, while somebody holds it.
            let group = GroupID.new()
            let (one, other) = (try first.groups.open(group), try second.groups.open(group))
            #expect(one.state === other.state)
        }
    }

    @Test("when the clients that a change was made with are gone, those that are made next send it (S22)")
    func clientsAgain() async throws {
        let server = Server()
        let connection = server.connection()
        try await whileRunning(connection) {
            var contacts: ContactsClient? = .live(service: connection)
            let shared = try #require(contacts?.contacts)
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(OutboxApp.one)])
            try await connection.ready()
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await contacts?.sendPing(OutboxApp.one) }
            contacts = nil
            server.goOnline()
            connection.outbox.retry()
            let next = ContactsClient.live(service: connection)
            #expect(next.contacts === shared && next.contacts.outgoingPings.count == 1)
            await connection.outbox.items.values.wait { $0.isEmpty }
            #expect(server.commands.last?.name == "SendPing")
        }
    }

    @Test(
        "cancelled and run again at once, a connection is made; of two that run it, one goes on when the other ends (T1)"
    )
    func runAgain() async throws {
        let server = Server()
        let connection = server.connection()
        // What the first one still writes when the second one comes.
        let first = Task { await connection.run() }
        let stream = try #require(await server.transport.nextStream())
        try stream.begin()
        try await connection.ready()
        first.cancel()
        let second = Task { await connection.run() }
        let next = try #require(await server.transport.nextStream())
        next.resume()
        try await connection.ready()
        let third = Task { await connection.run() }
        second.cancel()
        let last = try #require(await server.transport.nextStream())
        last.resume()
        try await connection.ready()
        third.cancel()
        for task in [first, second, third] { await task.value }
        #expect(connection.state == .disconnected && server.transport.openStreams == 0)
    }

    @Test("another network opens the connection at once, without waiting for the next attempt (T2)")
    func networks() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        server.transport.refuseStream(TransportError.unreachable("no network"))
        try await whileRunning(connection) {
            await connection.wait { $0 == .reconnecting(attempt: 1) }
            // The clock stands, so only the network's change can open it.
            surroundings.change.yield(())
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            // It has held for long enough to count as a new one.
            server.clock.advance(by: .seconds(10))
            surroundings.change.yield(())
            let next = try #require(await server.transport.nextStream())
            next.resume()
        }
    }

    @Test(
        "while something waits to be sent the app asks to go on in the background, for half a minute; for what is urgent again and again (S22, S27)"
    )
    func background() async throws {
        let server = Server()
        let surroundings = ScriptedSurroundings()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, time: server.clock.timekeeper,
            surroundings: surroundings)
        let user = UserClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin()
            try await connection.ready()
            #expect(surroundings.awake.value.count == 0)
            server.goOffline()
            connection.disconnect()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.setCheckInInterval(.hours(3)) }
            try await surroundings.awake.wait("asked for time") { $0.isNow ? true : nil }
            let asked = server.clock.now
            await server.passTime { !surroundings.awake.value.isNow }
            #expect(server.clock.now >= asked + .seconds(30))
            let count = surroundings.awake.value.count
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
            // Whenever the app goes to the background, it has asked half a minute ago at most.
            let pressed = server.clock.now
            await server.passTime { server.clock.now >= pressed + .seconds(150) }
            #expect(surroundings.awake.value.count >= count + 4)
            try await surroundings.awake.wait("asked again") { $0.isNow ? true : nil }
            // What is sent ends it earlier.
            server.goOnline()
            connection.outbox.retry()
            // An attempt that was under way may fail first, and rest.
            await server.passTime { connection.outbox.items.value.isEmpty }
            try await surroundings.awake.wait("time given back") { $0.isNow ? nil : true }
        }
    }

    @Test("the device tells of each urgent change that ended unsent, once, and not again after a restart (S22)")
    func unsent() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        for start in 1...2 {
            let surroundings = ScriptedSurroundings()
            let connection = Connection(
                transport: server.transport, tokens: server.tokens, store: store, time: server.clock.timekeeper,
                surroundings: surroundings)
            let user = UserClient.live(service: connection)
            try await whileRunning(connection) {
                let stream = try #require(await server.transport.nextStream())
                try stream.begin()
                try await connection.ready()
                #expect(connection.outbox.unsent.value.count == start - 1)
                server.goOffline()
                connection.disconnect()
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.raiseAlert() }
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await user.clearAlert() }
                let told = try await surroundings.told.wait("one that is told") { $0.isEmpty ? nil : $0 }
                #expect(told == Array(connection.outbox.unsent.value.suffix(1)) && told.map(\.reason) == [.superseded])
                if start == 1 {
                    server.clock.advance(by: .seconds(86_401))
                    server.goOnline()
                    connection.outbox.retry()
                    let both = try await surroundings.told.wait("both") { $0.count < 2 ? nil : $0 }
                    #expect(both == connection.outbox.unsent.value && both.map(\.reason) == [.superseded, .expired])
                    try await connection.outbox.markRead(both[0].id)
                }
            }
            server.goOnline()
        }
    }

    @Test("a stream that was closed before it was opened begins nothing: the one that is open goes on (F9, T14)")
    func closedBefore() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let (end, stop) = AsyncStream<Never>.makeStream()
            let isOpened = await withTaskGroup(of: Bool.self) { group in
                // Its number is that of none that is open.
                group.addTask {
                    await app.connection.follow(0, until: end)
                    return false
                }
                group.addTask { await server.transport.nextStream() != nil }
                defer { group.cancelAll() }
                return await group.next()
            }
            stop.finish()
            #expect(isOpened == false && app.connection.core.withLock { $0.sequencer.isLive })
        }
    }
}
