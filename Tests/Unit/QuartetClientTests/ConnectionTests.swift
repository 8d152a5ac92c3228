import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetContractSupport
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

@Suite(.timeLimit(.minutes(10)))
struct ConnectionTests {
    @Test("it is connected when every sequence has begun, and not before (T1, T13)")
    func connected() async throws {
        let server = Server()
        let connection = server.connection()
        #expect(connection.state == .disconnected)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            #expect(connection.state == .connecting)
            #expect(stream.request == StreamRequest(token: "access-1"))
            try stream.begin()
            try await connection.ready()
            #expect(connection.connectedSince != nil && connection.lastError == nil)
        }
        #expect(connection.state == .disconnected)
        #expect(server.transport.openStreams == 0)
    }

    @Test("a cut stream resumes where it was, and two readers of events see the same (T4, T13)")
    func resumption() async throws {
        let server = Server()
        let connection = server.connection()
        let (one, other) = (connection.events, connection.events)
        let contacts = ContactsClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(Server.person(1))])
            try stream.send(
                PingSent(account: Server.account, contact: Server.person(1), at: Instant(microseconds: 5)), at: 12)
            await contacts.contacts.values(of: \.outgoingPings).wait { !$0.isEmpty }
            try await connection.ready()
            stream.end(throwing: TransportError.interrupted("cut"))
            await server.clock.waitForSleeper(within: .seconds(1))
            server.clock.advance(by: .seconds(1))
            let next = try #require(await server.transport.nextStream())
            let place = try #require(next.request.place)
            #expect(place.split(separator: " ").contains("contacts=contacts.log@7-1/3/12"))
            next.resume()
            try await connection.ready()
            #expect(contacts.contacts.phase == .ready && contacts.contacts.outgoingPings.count == 1)
        }
        func firstFive(_ events: AsyncStream<ConnectionEvent>) async -> [ConnectionEvent] {
            var seen: [ConnectionEvent] = []
            for await event in events {
                seen.append(event)
                if seen.count == 5 { break }
            }
            return seen
        }
        let seen = await firstFive(one)
        #expect(await firstFive(other) == seen)
        #expect(seen[0] == .willConnect && seen[1] == .didConnect && seen[4] == .didReconnect(attempt: 1))
        #expect(seen[2] == .didDisconnect(.transport(.interrupted("cut"))))
    }

    @Test("an event that doesn't continue its sequence has it loaded again, the others resume (T14)")
    func gap() async throws {
        let server = Server()
        let connection = server.connection()
        let contacts = ContactsClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            let (one, two) = (Server.person(1), Server.person(2))
            try stream.begin(contacts: [Contact(one), Contact(two)])
            try await connection.ready()
            let events = connection.events
            try stream.begin(
                .contacts, ContactsState(account: Server.account, contacts: Ordered([Contact(one), Contact(two)])),
                isRefetched: true)
            let ping = PingSent(account: Server.account, contact: one, at: Instant(microseconds: 5))
            try stream.send(PingSent(account: Server.account, contact: two, at: Instant(microseconds: 4)), at: 11)
            stream.send(
                .event(
                    .contacts,
                    StreamedEvent(
                        type: PingSent.type, version: 1, at: Instant(microseconds: 5), body: try ping.encoded())),
                place: "contacts=contacts.log@8-1/3/12")
            let next = try #require(await server.transport.nextStream())
            #expect(next.request.place?.contains("contacts=") == false)
            #expect(next.request.place?.contains("account=") == true)
            // What came before it isn't lost.
            #expect(contacts.contacts.outgoingPings.map(\.account) == [two])
            let seen = await events.first { if case .didDisconnect = $0 { true } else { $0 == .refetched(.contacts) } }
            #expect(seen == .refetched(.contacts))
        }
    }

    @Test("a stream gets a newer token before its own ends, and goes on (S42, T19)")
    func extending() async throws {
        let server = Server()
        let connection = server.connection()
        let answers = Observed(0)
        server.transport.answer { request in
            guard request.endpoint == .streamToken else { return try server.answer(request) }
            answers.update { $0 += 1 }
            return TransportReply(.success(Array(#"{"expiresIn":900}"#.utf8)))
        }
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            stream.send(.begun(StreamBegun(stream: "name", expiresIn: 900)))
            try stream.begin()
            try await connection.ready()
            for count in 1...2 {
                while answers.value < count {
                    stream.send(.heartbeat())
                    while connection.core.withLock({ $0.heard }) < server.clock.now { await Task.yield() }
                    server.clock.advance(by: .seconds(10))
                }
            }
            let shown = server.transport.requests.filter { $0.endpoint == .streamToken }
            #expect(shown.map(\.token) == ["access-2", "access-3"])
            #expect(shown.allSatisfy { String(decoding: $0.body, as: UTF8.self).contains("name") })
        }
    }

    @Test("two hours of sleep cost one exchange of the token and one stream, and no request that is refused (S42, T19)")
    func sleep() async throws {
        let server = Server()
        let connection = server.connection()
        try await whileRunning(connection) {
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            let before = server.transport.requests.count
            server.clock.advance(by: .seconds(7200))
            connection.wake()
            let next = try #require(await server.transport.nextStream())
            #expect(next.request.token == "access-2")
            next.resume()
            try await connection.ready()
            #expect(server.transport.requests.dropFirst(before).map(\.endpoint) == [.token])
        }
    }

    @Test(
        "a stream that the server ends by signing out needs somebody to sign in, and keeps what shows the device (T1, S43)"
    )
    func signedOut() async throws {
        let server = Server()
        let connection = server.connection()
        let session = SessionClient.live(service: connection)
        let contacts = ContactsClient.live(service: connection)
        try await whileRunning(connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(Server.person(1))])
            try await connection.ready()
            stream.send(.end(StreamEnd(.signedOut, why: .displaced)))
            await connection.wait { $0 == .needsAuthentication }
            #expect(connection.lastError == .signedOut(.displaced))
            #expect(server.tokens.load()?.isSignedOut == true)

            try await session.signIn(SignInRequest(handle: "anna", password: "correct horse"))
            let request = try #require(server.transport.requests.last { $0.endpoint == .signIn })
            #expect(String(decoding: request.body, as: UTF8.self).contains("\"refreshToken\":\"refresh-1\""))
            // It is the same person: what they had goes on where it was.
            let next = try #require(await server.transport.nextStream())
            #expect(contacts.contacts.count == 1 && next.request.place != nil)
        }
    }

    @Test(
        "an app that connects while somebody signs in shows their data, not that of a stream which was asked for before (T1)"
    )
    func connectingMeanwhile() async throws {
        let server = Server(isSignedIn: false)
        var other = Credentials(account: Server.person(9), device: Server.device, refreshToken: "old")
        other.isSignedOut = true
        server.tokens.save(other)
        let store = SlowStore()
        let connection = Connection(
            transport: server.transport, tokens: server.tokens, store: store, policy: .forever,
            time: server.clock.timekeeper)
        let (session, contacts) = (SessionClient.live(service: connection), ContactsClient.live(service: connection))
        let executor = HeldExecutor()
        let running = Task(executorPreference: executor) { await connection.run() }
        await connection.wait { $0 == .needsAuthentication }
        connection.disconnect()
        executor.hold()
        async let signedIn: Void = session.signIn(SignInRequest(handle: "anna", password: "correct horse"))
        await store.isForgetting.wait()
        connection.connect()
        store.goOn.ring()
        try await signedIn
        executor.release()
        let serving = Task {
            while let stream = await server.transport.nextStream() {
                try stream.begin(contacts: [Contact(Server.person(1))])
            }
        }
        try await connection.ready()
        #expect(contacts.contacts.phase == .ready && contacts.contacts.count == 1)
        running.cancel()
        serving.cancel()
        await running.value
    }

    @Test("an answer to what was asked before somebody signed in again signs nobody out (T1, S43)")
    func lateRefusal() async throws {
        let server = Server()
        let connection = server.connection()
        let session = SessionClient.live(service: connection)
        server.transport.answer { [unowned server] request in
            guard request.endpoint == .command("CheckIn") else { return try server.answer(request) }
            try await session.signIn(SignInRequest(handle: "anna", password: "correct horse"))
            return TransportReply(.failure(APIError(.deviceSignedOut)))
        }
        try await whileRunning(connection) {
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            await #expect(throws: QuartetError.needsAuthentication) {
                try await connection.requests.command(CheckIn())
            }
            try #require(server.tokens.load()?.isSignedOut == false)
            try #require(await server.transport.nextStream()).resume()
            try await connection.ready()
        }
    }

    @Test("a connection without a server says so, and one that nobody may use asks for signing in (T12)")
    func notConfigured() async throws {
        let nowhere = Connection(transport: nil)
        await nowhere.run()
        #expect(nowhere.state == .notConfigured && !nowhere.state.canConnect)
        let server = Server(isSignedIn: false)
        let connection = server.connection()
        try await whileRunning(connection) { await connection.wait { $0 == .notSignedIn } }
    }

    @Test(
        "that nobody ever signed in is said as such, also by calls; who signs out, or is signed out, signs in again (T12)"
    )
    func neverSignedIn() async throws {
        let server = Server(isSignedIn: false)
        let app = OutboxApp(server)
        let (connection, session) = (app.connection, SessionClient.live(service: app.connection))
        let states = connection.states
        try await whileRunning(connection) {
            await connection.wait { $0 == .notSignedIn }
            #expect(
                connection.lastError == .notSignedIn && connection.state.needsSignIn && !connection.state.canConnect)
            await app.user.user.phases.wait { $0 == .failed(.notSignedIn) }
            await #expect(throws: QuartetError.needsAuthentication) { try await app.user.checkIn() }
            await #expect(throws: QuartetError.needsAuthentication) { try await session.makeRecoveryCodes() }
            #expect(connection.state == .notSignedIn)
            try await session.signIn(SignInRequest(handle: "anna", password: "correct horse"))
            try #require(await server.transport.nextStream()).begin()
            try await connection.ready()
            var seen: [ConnectionState] = []
            for await state in states {
                seen.append(state)
                if state.isConnected { break }
            }
            // Not even on the way was anybody asked to sign in again.
            #expect(seen.contains(.notSignedIn) && !seen.contains(.needsAuthentication))
            try await session.signOut()
            #expect(connection.state == .needsAuthentication && connection.lastError == .signedOut(.signedOut))
            await #expect(throws: QuartetError.needsAuthentication) { try await session.makeRecoveryCodes() }
            #expect(connection.state == .needsAuthentication && connection.lastError == .signedOut(.signedOut))
        }
        // Nothing is left of them, so the next start knows of nobody.
        let next = server.connection()
        try await whileRunning(next) { await next.wait { $0 == .notSignedIn } }
    }

    @Test("of several servers, each has its own state, and the default is one of them (T6)")
    func several() async throws {
        let (server, other) = (Server(), Server())
        let (game, main) = (server.connection(.disabled), other.connection(.disabled))
        let connections = Connections(default: "main", main, others: ["game": game])
        #expect(connections.default === main && connections["game"] === game && connections["none"] == nil)
        try await withThrowingTaskGroup { group in
            group.addTask { await connections.run() }
            try #require(await server.transport.nextStream()).begin()
            let dying = try #require(await other.transport.nextStream())
            try dying.begin()
            try await game.ready()
            try await main.ready()
            dying.end()
            await main.wait { $0 == .failed(.closed) }
            #expect(game.state == .connected)
            group.cancelAll()
        }
    }

    @Test("opening and cancelling leaves no stream (T7)")
    func cycles() async throws {
        let server = Server()
        let connection = server.connection()
        for _ in 0..<200 {
            try await whileRunning(connection) { _ = try #require(await server.transport.nextStream()) }
        }
        #expect(server.transport.openStreams == 0)
    }
}

/// Rings once.
private struct Bell: Sendable {
    private let rings: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    init() { (rings, end) = AsyncStream<Never>.makeStream() }

    func ring() { end.finish() }
    func wait() async { for await _ in rings {} }
}

/// A device that takes as long as a test wants to forget an account.
private struct SlowStore: LocalStore {
    let isForgetting = Bell()
    let goOn = Bell()

    func load(_ account: AccountID) -> LocalAccount { LocalAccount() }
    func save(_ item: OutboxItem, of account: AccountID) {}
    func remove(_ item: OutboxItem.ID, of account: AccountID) {}
    func save(_ copies: [LocalCopy], finishing items: [OutboxItem.ID], of account: AccountID) {}

    func forget(_ account: AccountID) async {
        isForgetting.ring()
        await goOn.wait()
    }
}

/// Does what a connection has to do, unless a test holds it back.
private final class HeldExecutor: TaskExecutor {
    private let state = Mutex((isHeld: false, jobs: [UnownedJob]()))
    private let queue = DispatchQueue(label: "HeldExecutor")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = state.withLock { state in
            if state.isHeld { state.jobs.append(job) }
            return state.isHeld
        }
        if !isHeld { run(job) }
    }

    private func run(_ job: UnownedJob) {
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let jobs = state.withLock { state in
            defer { state = (false, []) }
            return state.jobs
        }
        for job in jobs { run(job) }
    }
}
