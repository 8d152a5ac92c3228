import Crypto
import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

/// What servers, devices and networks do to changes that wait.
@Suite(.timeLimit(.minutes(10)))
struct OutboxTroubleTests {
    private static let (one, two) = (OutboxApp.one, OutboxApp.two)

    @Test("a server that refuses the device's token for a while holds up neither stream nor alarm longer (S22, S42)")
    func refusedToken() async throws {
        let server = Server()
        let isWrong = Mutex(false)
        server.transport.answer { [unowned server] request in
            guard request.endpoint == .token, isWrong.withLock({ $0 }) else { return try server.answer(request) }
            return TransportReply(.failure(APIError(.invalidToken)))
        }
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            isWrong.withLock { $0 = true }
            server.clock.advance(by: .seconds(900))
            await app.connection.wait { !$0.isConnected }
            let call = await Task { try await server.passingTime { try await app.user.raiseAlert() } }.result
            #expect(throws: QuartetError.serverError(APIError(.invalidToken))) { try call.get() }
            #expect(app.connection.outbox.items.value.count == 1)
            // As long as it lasts, the urgent one is tried every five seconds or so: the clock goes on while it is.
            let tries = { server.transport.requests.count { $0.endpoint == .token } }
            let (before, mark) = (tries(), server.clock.now)
            await server.passTime { server.clock.now >= mark + .seconds(60) }
            #expect(tries() - before >= 6)
            #expect(server.tokens.load()?.isSignedOut == false && app.connection.state != .needsAuthentication)
            isWrong.withLock { $0 = false }
            let mended = server.clock.now
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(server.clock.now - mended <= .seconds(15) && server.commands.map(\.name) == ["RaiseAlert"])
            await server.passTime { server.transport.openStreams == 1 }
        }
    }

    @Test("a device that can't read what it kept overwrites none of it, and sends it once it can (S22, R11)")
    func unreadableStore() async throws {
        let server = Server()
        let store = FailingStore()
        let first = OutboxApp(server, store)
        try await first.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await first.contacts.sendPing(Self.one) }
        }
        #expect(store.kept.items.map(\.command) == ["SendPing"])
        store.cannotLoad.withLock { $0 = true }
        server.goOnline()
        let second = OutboxApp(server, store)
        try await whileRunning(second.connection) {
            let stream = try #require(await server.transport.nextStream())
            try stream.begin(contacts: [Contact(Self.one), Contact(Self.two)])
            try await second.connection.ready()
            await #expect(throws: QuartetError.self) { try await second.contacts.block(Self.two) }
            #expect(store.kept.items.map(\.command) == ["SendPing"])
            // A call for help doesn't wait for a disk.
            try await second.user.raiseAlert()
            #expect(store.kept.items.first?.command == "SendPing" && server.commands.last?.name == "RaiseAlert")
            store.cannotLoad.withLock { $0 = false }
            await server.passTime { server.commands.last?.name == "SendPing" }
            // What came meanwhile isn't replaced by what was kept.
            #expect(second.contacts.contacts.count == 2)
        }
    }

    @Test("what was kept is sent when the device was locked at the start, though its person does nothing more (S22)")
    func lockedAtStart() async throws {
        let server = Server()
        let store = InMemoryLocalStore()
        let first = OutboxApp(server, store)
        try await first.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await first.user.raiseAlert() }
        }
        let tokens = FailingTokens(server.tokens)
        tokens.isFailing.withLock { $0 = true }
        server.goOnline()
        let before = server.commands.count
        let second = OutboxApp(server, store, tokens: tokens)
        try await whileRunning(second.connection) {
            await second.connection.wait { if case .reconnecting = $0 { true } else { false } }
            #expect(second.connection.outbox.items.value.isEmpty)
            tokens.isFailing.withLock { $0 = false }
            await server.passTime { server.transport.openStreams == 1 }
            let stream = try #require(await server.transport.nextStream())
            // The copy was there before the stream.
            #expect(stream.request.place != nil && second.contacts.contacts.count == 3)
            await server.passTime { server.commands.count > before }
            #expect(server.commands.last?.name == "RaiseAlert")
        }
    }

    @Test(
        "tokens that are damaged or sealed by another key lead to signing in, and what waits is sent after it (S22, S42)",
        arguments: [false, true])
    func damagedTokens(isSealed: Bool) async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            let store = InMemoryLocalStore()
            let first = OutboxApp(server, store)
            try await first.offline(server) {
                server.goOffline()
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await first.user.raiseAlert() }
            }
            server.goOnline()
            if isSealed {
                try FileTokenStore(file, key: SymmetricKey(size: .bits256)).save(server.tokens.load())
            } else {
                try Data("not the tokens".utf8).write(to: file)
            }
            let before = server.commands.count
            let tokens = FileTokenStore(file, key: isSealed ? SymmetricKey(size: .bits256) : nil)
            let second = OutboxApp(server, store, tokens: tokens)
            let session = SessionClient.live(service: second.connection)
            try await whileRunning(second.connection) {
                await second.connection.wait { $0 == .needsAuthentication }
                #expect(second.connection.lastError == .tokensUnreadable)
                await #expect(throws: QuartetError.needsAuthentication) { try await second.contacts.sendPing(Self.one) }
                try await session.signIn(SignInRequest(handle: "anna", password: "x"))
                #expect(try tokens.load()?.account == Server.account)
                await server.passTime { server.commands.count > before }
                #expect(server.commands.last?.name == "RaiseAlert")
            }
        }
    }

    @Test("where damaged tokens can be read again, trying again goes on, also with a store of one process (S22, S42)")
    func mendedTokens() async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            try Data("not the tokens".utf8).write(to: file)
            let app = OutboxApp(server, InMemoryLocalStore(), tokens: FileTokenStore(file))
            try await whileRunning(app.connection) {
                await app.connection.wait { $0 == .needsAuthentication }
                // Another process has signed in.
                try FileTokenStore(file).save(server.tokens.load())
                app.connection.retry()
                await app.connection.wait { $0 != .needsAuthentication }
            }
        }
    }

    @Test(
        "a sign-out with damaged tokens says what it drops, and that the server doesn't know (S17, S42)",
        arguments: [false, true])
    func signedOutUntold(isLocal: Bool) async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            let store = InMemoryLocalStore()
            let first = OutboxApp(server, store)
            try await first.offline(server) {
                server.goOffline()
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await first.user.raiseAlert() }
            }
            server.goOnline()
            try Data("not the tokens".utf8).write(to: file)
            let app = OutboxApp(server, store, tokens: FileTokenStore(file))
            let session = SessionClient.live(service: app.connection)
            await #expect(throws: QuartetError.signOutUntold) {
                if isLocal { try await session.signOutLocally() } else { try await session.signOut() }
            }
            #expect(!FileManager.default.fileExists(atPath: file.path))
            #expect(store.load(Server.account).items.isEmpty)
            #expect(app.connection.outbox.unsent.value.map(\.command) == ["RaiseAlert"])
            // Then nobody is signed in.
            if isLocal { try await session.signOutLocally() } else { try await session.signOut() }
            #expect(app.connection.outbox.unsent.value.count == 1)
        }
    }

    @Test("a change that has become too old while its token was fetched isn't sent (S22, S27)")
    func agedMeanwhile() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.clock.advance(by: .seconds(900))
            server.transport.answer { [unowned server] request in
                // The process is suspended.
                if request.endpoint == .token { server.clock.advance(by: .seconds(8 * 3600)) }
                return try server.answer(request)
            }
            let events = app.connection.outbox.events
            _ = try? await app.user.checkIn()
            let event = await events.first { _ in true }
            #expect(event?.error == .expired && server.commands.isEmpty)
            #expect(app.user.user.checkIn?.last == nil)
        }
    }

    @Test(
        "another network, or the foreground, ends what the old one swallowed: it is sent again at once (S22, R11)",
        arguments: [true, false])
    func swallowed(isToken: Bool) async throws {
        for revive in [Connection.networkChanged, Connection.wake] {
            let server = Server()
            let app = OutboxApp(server)
            try await app.offline(server) {
                if isToken { server.clock.advance(by: .seconds(900)) }
                let isHole = Mutex(true)
                let hits = Observed(0)
                server.transport.answer { [unowned server] request in
                    let isHit = if case .command = request.endpoint { !isToken } else { isToken }
                    if isHit, isHole.withLock({ $0 }) {
                        hits.update { $0 += 1 }
                        try await server.clock.timekeeper.sleep(server.clock.now + .seconds(3600))
                    }
                    return try server.answer(request)
                }
                let call = Task { try await app.user.raiseAlert() }
                while hits.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
                isHole.withLock { $0 = false }
                let now = server.clock.now
                revive(app.connection)()
                try await call.value
                #expect(server.clock.now == now && Set(server.commands.map(\.key)).count == 1)
                let keys = server.transport.requests.filter { $0.endpoint == .token }.suffix(2).map(\.key)
                #expect(!isToken || Set(keys).count == 1)
            }
        }
    }

    @Test("a call for help is kept and sent, though its caller was cancelled from the start (S22, S27)")
    func cancelledAtOnce() async throws {
        let server = Server()
        let app = OutboxApp(server)
        @Sendable func raise(_ app: OutboxApp) async {
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await app.user.raiseAlert()
                }.value
            }
        }
        try await app.connected(server) { _ in
            await raise(app)
            await app.waitUntilSent()
            #expect(server.commands.map(\.name) == ["RaiseAlert"])
        }
        // In an app that has restored nothing and runs nothing, such as a widget.
        let store = InMemoryLocalStore()
        await raise(OutboxApp(server, store))
        #expect(store.load(Server.account).items.map(\.command) == ["RaiseAlert"])
    }

    @Test("a change whose place another one took never comes back, though the device can't remove it at once (S22)")
    func superseded() async throws {
        let server = Server()
        let store = FailingStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            store.cannotRemove.withLock { $0 = true }
            // The same again goes out, whatever the disk does.
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            server.goOnline()
            app.connection.outbox.retry()
            await app.waitUntilSent()
            store.cannotRemove.withLock { $0 = false }
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            store.cannotRemove.withLock { $0 = true }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            let before = server.commands.count
            server.goOnline()
            app.connection.outbox.retry()
            let now = server.clock.now
            await server.passTime { server.clock.now > now + .seconds(20) }
            #expect(server.commands.count == before)
            store.cannotRemove.withLock { $0 = false }
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(server.commands.dropFirst(before).map(\.name) == ["ClearAlert"])
        }
        #expect(!store.kept.items.contains { !$0.isOver && $0.command == "RaiseAlert" && $0.id > 2 })
        let second = OutboxApp(server, store)
        try await second.connection.restore()
        #expect(!second.connection.outbox.items.value.contains { $0.id > 2 })
    }

    @Test("a call for help doesn't wait behind an all-clear that the device can't keep (S22, S27)")
    func raisedAgain() async throws {
        let server = Server()
        let store = FailingStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
            store.cannotRemove.withLock { $0 = true }
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            server.goOnline()
            app.connection.outbox.retry()
            let now = server.clock.now
            await server.passTime { server.clock.now > now + .seconds(7) }
            _ = await Task { try await server.passingTime { try await app.user.raiseAlert() } }.result
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(server.commands.last?.name == "RaiseAlert" && server.clock.now < now + .seconds(60))
        }
    }

    @Test("an all-clear that the device couldn't read doesn't end a call for help that was made meanwhile (S22, S34)")
    func newerCall() async throws {
        let server = Server()
        let store = FailingStore()
        let first = OutboxApp(server, store)
        try await first.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await first.user.clearAlert() }
        }
        #expect(store.kept.items.map(\.command) == ["ClearAlert"])
        store.cannotLoad.withLock { $0 = true }
        server.goOnline()
        let before = server.commands.count
        let second = OutboxApp(server, store)
        try await second.connected(server) { _ in
            try await second.user.raiseAlert()
            store.cannotLoad.withLock { $0 = false }
            await server.passTime { !store.kept.items.contains { $0.command == "ClearAlert" && $0.unsent == nil } }
            // A ping shows that what waits is sent again.
            try await second.contacts.sendPing(Self.one)
            #expect(server.commands.dropFirst(before).map(\.name) == ["RaiseAlert", "SendPing"])
        }
    }

    @Test("a call for help that was tried while the disk was full is on it as soon as there is room (S22)")
    func roomAgain() async throws {
        let server = Server()
        let store = FailingStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            // It goes out, and no answer comes.
            server.transport.answer { [unowned server] request in
                if case .command = request.endpoint { throw TransportError.interrupted("no answer") }
                return try server.answer(request)
            }
            store.failures.withLock { $0 = 2 }
            _ = await Task { try await server.passingTime { try await app.user.raiseAlert() } }.result
            await server.passTime { store.kept.items.contains { $0.command == "RaiseAlert" && $0.isSent } }
            #expect(Set(server.commands.map(\.key)).count == 1)
        }
    }

    @Test("what waits for a token wasn't sent, so it can be taken back and nobody is alarmed (S22)")
    func notSentWithoutToken() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            server.clock.advance(by: .seconds(900))
            server.transport.answer { [unowned server] request in
                guard request.endpoint == .token else { return try server.answer(request) }
                return TransportReply(.failure(APIError(.invalidToken)))
            }
            _ = await Task { try await server.passingTime { try await app.user.raiseAlert() } }.result
            await server.passTime { app.connection.outbox.items.value.first?.canCancel == true }
            let item = try #require(app.connection.outbox.items.value.first)
            #expect(try await app.connection.outbox.cancel(item.id))
            #expect(server.commands.isEmpty)
        }
    }

    @Test("codes that a newer server has end no call for help, however often they come while it is worth sending (S22)")
    func unknownCodes() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.offline(server) {
            var error = APIError(.refused)
            error.unknownCode = .init(status: 409, retry: .newKey)
            server.state.withLock { [error] in $0.replies = Array(repeating: .failure(error), count: 8) }
            _ = await Task { try await server.passingTime { try await app.user.raiseAlert() } }.result
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            #expect(server.commands.count == 9 && Set(server.commands.map(\.key)).count == 9)
            #expect(server.clock.now > .seconds(90), "after five of them it rests for longer")
        }
    }

    @Test("an all-clear that was sent and never written comes again under its key after a restart (S22, S34)")
    func sentFromMemory() async throws {
        let server = Server()
        let store = FailingStore()
        let first = OutboxApp(server, store)
        try await first.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await first.user.clearAlert() }
            store.isFull(true)
            server.state.withLock { $0.replies = [.failure(APIError(.overloaded))] }
            server.goOnline()
            first.connection.outbox.retry()
            await server.passTime { first.connection.outbox.items.value.isEmpty }
        }
        #expect(store.kept.items.map(\.command) == ["ClearAlert"])
        store.isFull(false)
        let before = server.commands.count
        let second = OutboxApp(server, store)
        try await second.offline(server) {
            await server.passTime { second.connection.outbox.items.value.isEmpty }
        }
        #expect(server.commands.count == before + 1 && server.commands.allSatisfy { $0.name == "ClearAlert" })
        #expect(Set(server.commands.map(\.key)).count == 1)
    }

    @Test(
        "what an urgent change replaced is gone from the device as soon as it can write again (S22, S34)",
        arguments: [true, false])
    func leftovers(canRemove: Bool) async throws {
        let server = Server()
        let store = FailingStore()
        let app = OutboxApp(server, store)
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            store.isFull(true)
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.clearAlert() }
            #expect(app.connection.outbox.items.value.count == 1)
            if canRemove { store.cannotRemove.withLock { $0 = false } }
            server.goOnline()
            app.connection.outbox.retry()
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            if !canRemove {
                #expect(store.kept.items.count == 1)
                store.isFull(false)
                _ = await Task { try await server.passingTime { try await app.contacts.block(Self.one) } }.result
                await server.passTime { app.connection.outbox.items.value.isEmpty }
            }
            await server.passTime { !store.kept.items.contains { $0.command == "ClearAlert" } }
        }
    }

    @Test(
        "what may be sent again just while that is looked at is sent, though nothing else happens (S22, R11)",
        .timeLimit(.minutes(1)))
    func endOfRest() async throws {
        let server = Server()
        let clock = server.clock
        /// How far the clock goes on once it was looked at.
        let leap = Mutex<Duration?>(nil)
        var time = clock.timekeeper
        time.now = {
            let now = clock.now
            let passed = leap.withLock { leap in
                defer { leap = nil }
                return leap
            }
            if let passed { clock.advance(by: passed) }
            return now
        }
        let app = OutboxApp(server, time: time)
        let outbox = app.connection.outbox
        try await app.offline(server) {
            server.goOffline()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.contacts.sendPing(Self.one) }
            let ping = try #require(outbox.items.value.first)
            let rest = try #require(outbox.state.withLock { $0.schedule.rest(of: ping, now: clock.now) })
            server.goOnline()
            // From then on nobody looks at the clock.
            await clock.waitForSleeper(within: rest.until - clock.now)
            leap.withLock { $0 = .seconds(60) }
            outbox.kicks.send(())
            await app.waitUntilSent()
            #expect(outbox.items.value.isEmpty && server.commands.last?.name == "SendPing")
        }
    }
}
