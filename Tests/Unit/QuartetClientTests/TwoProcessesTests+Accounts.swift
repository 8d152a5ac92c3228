import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetContactsContract
import QuartetSessionContract
import QuartetStorage
import QuartetVocabulary
import Synchronization
import Testing

@testable import QuartetClient

/// Who is signed in, in one process and in the other, and which of them has the store object.
extension TwoProcessesTests {
    @Test("a sign-out in one process ends the other, which shows nothing more and writes nothing (F9, S17)")
    func signedOut() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, other) = (try Self.process(server, file), try Self.process(server, file))
            let session = SessionClient.live(service: other.connection)
            try await app.connected(server) { _ in
                try await other.connection.restore()
                try await session.signOut()
                await server.passTime {
                    app.connection.state == .needsAuthentication && app.contacts.contacts.count == 0
                }
                #expect(app.connection.lastError == .signedOut(.signedOut))
                await #expect(throws: QuartetError.needsAuthentication) {
                    try await app.contacts.sendPing(OutboxApp.one)
                }
            }
            // The log that SQLite has beside it, too.
            for kept in [file.path, "\(file.path)-wal"] where FileManager.default.fileExists(atPath: kept) {
                let content = try Data(contentsOf: URL(filePath: kept))
                #expect(content.range(of: Data("\(Server.account)".utf8)) == nil, "\(kept)")
            }
        }
    }

    @Test("a process that does nothing else hears of the other's sign-out with its next change (F9, S17)")
    func signedOutWidget() async throws {
        try await Self.withFile { file in
            let server = Server()
            let (app, widget) = (try Self.process(server, file), try Self.process(server, file))
            try await widget.connection.restore()
            let session = SessionClient.live(service: app.connection)
            try await session.signOut()
            await #expect(throws: QuartetError.needsAuthentication) { try await widget.user.raiseAlert() }
            #expect(widget.user.user.alertRaised == nil)
            #expect(try await DatabaseStore(file).load(Server.account) == LocalAccount())
        }
    }

    @Test(
        "after a sign-out and a sign-in in another process, a call for help goes out as whoever is signed in, all else is one's own (F9, S17)",
        arguments: [Server.account, Server.person(9)]
    )
    func signedInAgain(former: AccountID) async throws {
        try await Self.withFile { file in
            let server = Server(isSignedIn: false)
            server.tokens.save(Credentials(account: former, device: Server.device, refreshToken: "former"))
            let (app, widget, other) = (
                try Self.process(server, file), try Self.process(server, file), try Self.process(server, file)
            )
            for process in [app, widget, other] { try await process.connection.restore() }
            try await app.connection.forgetAccount(isKnown: true, if: { true })
            let reply = SignedIn(
                account: Server.account, device: Server.device, accessToken: "next", expiresIn: 900,
                refreshToken: "next-0")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            try await server.passingTime { try await widget.user.raiseAlert() }
            #expect(server.commands.map(\.name) == ["RaiseAlert"])
            if former == Server.account {
                try await server.passingTime { try await other.contacts.sendPing(OutboxApp.one) }
            } else {
                await #expect(throws: QuartetError.needsAuthentication) {
                    try await server.passingTime { try await other.contacts.sendPing(OutboxApp.one) }
                }
            }
            #expect(server.commands.count == (former == Server.account ? 2 : 1))
        }
    }

    /// What a process that had done nothing meanwhile does next.
    enum Next: CaseIterable { case restore, run, push }

    @Test(
        "a process that did nothing while somebody else signed in shows and sends nothing of whom it knew (F9, S17)",
        arguments: Next.allCases)
    func changedAccount(next: Next) async throws {
        try await Self.withFile { file in
            let former = Server.person(9)
            let server = Server(isSignedIn: false)
            server.tokens.save(Credentials(account: former, device: Server.device, refreshToken: "former"))
            let (app, stale) = (try Self.process(server, file), try Self.process(server, file))
            let session = SessionClient.live(service: stale.connection)
            try await session.restore()
            try await app.connection.restore()
            server.goOffline()
            await Self.keeps(server) { try await stale.user.raiseAlert() }
            await Self.keeps(server) { try await stale.contacts.sendPing(OutboxApp.one) }
            try await app.connection.forgetAccount(isKnown: true, if: { true })
            let reply = SignedIn(
                account: Server.account, device: Server.device, accessToken: "next", expiresIn: 900,
                refreshToken: "next-0")
            try await app.connection.signedIn(reply, asked: server.clock.now)
            server.goOnline()
            let before = server.commands.count
            switch next {
            case .restore: try await stale.connection.restore()
            case .push:
                let notifications = NotificationsClient.live(service: stale.connection)
                let push = try PushTests.message(former)
                await #expect(throws: QuartetError.needsAuthentication) { try await notifications.handle(push: push) }
            case .run:
                try await stale.connected(server) { _ in
                    await server.passTime { stale.connection.outbox.items.value.isEmpty }
                }
            }
            #expect(stale.connection.store.account == Server.account)
            #expect(stale.connection.outbox.items.value.isEmpty && stale.connection.outbox.unsent.value.isEmpty)
            #expect(stale.user.user.alertRaised == nil && stale.contacts.contacts.outgoingPings.isEmpty)
            #expect(session.session.isSignedIn && server.commands.count == before)
            #expect(server.tokens.load()?.account == Server.account && server.tokens.load()?.isSignedOut == false)
            try await server.passingTime { try await stale.contacts.sendPing(OutboxApp.two) }
            #expect(server.commands.dropFirst(before).map(\.name) == ["SendPing"])
        }
    }

    @Test("nothing of somebody is written while somebody else is signed in (F9, S17)")
    func written() async throws {
        let store = AccountStore(InMemoryLocalStore(), nil)
        _ = try await store.open(Server.account)
        var item = OutboxItem(
            id: 1, stream: "contacts", command: "SendPing", acted: .now, lifetime: .hours(1), actedAtServer: .now,
            edit: Data())
        item.account = OutboxApp.one
        await #expect(throws: QuartetError.needsAuthentication) {
            _ = try await store.replace(item, { AccountStore.Replacing(step: .prepare) }, then: { _ in })
        }
    }

    @Test("what is left of somebody who isn't signed in any more isn't sent, and holds nobody else's up (F9, S17)")
    func leftBehind() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let outbox = app.connection.outbox
        try await app.offline(server) {
            server.goOffline()
            await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
            let item = try #require(outbox.items.value.first)
            outbox.change { state in state.items[0].account = OutboxApp.two }
            let before = server.commands.count
            server.goOnline()
            outbox.retry()
            let isTried = { @Sendable in
                outbox.state.withLock {
                    $0.schedule.isBlocked || $0.schedule.rest(of: item, now: server.clock.now) != nil
                }
            }
            await server.passTime { isTried() }
            try await server.passingTime { try await app.user.checkIn() }
            #expect(server.commands.dropFirst(before).map(\.name) == ["CheckIn"])
        }
    }

    @Test(
        "a connection doesn't get the store object of another that runs, and sends a call for help all the same (F9, R12)"
    )
    func oneObject() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = try DatabaseStore(file)
            let app = OutboxApp(server, store, time: Self.time(server))
            try await app.connected(server) { _ in
                let second = OutboxApp(server, store, time: Self.time(server))
                await #expect(throws: QuartetError.notConfigured("A store of the connection's own")) {
                    try await second.connection.restore()
                }
                try await server.passingTime { try await second.user.raiseAlert() }
                #expect(server.commands.map(\.name) == ["RaiseAlert"])
                let own = try Self.process(server, file)
                try await own.connection.restore()
                for app in [own, app] { #expect(app.connection.store.account == Server.account) }
            }
        }
    }

    @Test("a connection gets the store object of another that doesn't run, which reads it again before it writes (F9)")
    func handedOver() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = try DatabaseStore(file)
            let app = OutboxApp(server, store, time: Self.time(server))
            server.goOffline()
            await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
            let second = OutboxApp(server, store, time: Self.time(server))
            await Self.keeps(server) { try await second.contacts.sendPing(OutboxApp.two) }
            #expect(second.connection.outbox.items.value.count == 2 && app.connection.store.account == nil)
            await Self.keeps(server) { try await app.contacts.sendPing(OutboxApp.three) }
            #expect(app.connection.outbox.items.value.count == 3 && second.connection.store.account == nil)
            let before = server.commands.count
            server.goOnline()
            try await second.connected(server) { _ in
                await server.passTime { second.connection.outbox.items.value.isEmpty }
                #expect(server.commands.count == before + 3 && app.connection.store.account == nil)
            }
            try await app.connection.restore()
            #expect(app.connection.store.account == Server.account && app.connection.outbox.items.value.isEmpty)
        }
    }

    @Test("a connection gets the store object of another where nobody is signed in any more (F9)")
    func handedOverAfterwards() async throws {
        try await Self.withFile { file in
            let server = Server()
            let store = try DatabaseStore(file)
            let app = OutboxApp(server, store, time: Self.time(server))
            try await app.connected(server) { _ in
                try await server.passingTime {
                    try await SessionClient.live(service: app.connection).signOut()
                }
                await server.passTime { server.tokens.load() == nil }
                // Tokens of its own: the first would find anybody who signs in where it looks.
                let other = Server()
                let second = OutboxApp(other, store, time: Self.time(server))
                try await second.connection.restore()
                #expect(second.connection.store.account == Server.account)
            }
        }
    }

    @Test("an account that another process leaves while it is opened isn't shown (F9, S17)")
    func leftMeanwhile() async throws {
        try await Self.withFile { file in
            let server = Server()
            let tokens = SharedTokens(server.tokens)
            let app = OutboxApp(server, try DatabaseStore(file), tokens: tokens, time: Self.time(server))
            // Read for whom to open, then for whom to erase nothing.
            tokens.after(reads: 2) { $0.save(nil) }
            try await app.connection.restore()
            #expect(app.connection.store.account == nil && !app.connection.outbox.isRestored)
        }
    }

    @Test("what the server says of who was signed in before leaves whoever is signed in by now (F9, S17)")
    func refusedLater() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let session = SessionClient.live(service: app.connection)
        let next = Credentials(account: OutboxApp.one, device: Server.device, refreshToken: "next")
        try await app.connected(server) { _ in
            server.tokens.save(next)
            server.transport.answer { request in
                if request.token != nil { return TransportReply(.failure(APIError(.deviceSignedOut))) }
                return try server.answer(request)
            }
            await #expect(throws: QuartetError.needsAuthentication) {
                try await server.passingTime { try await session.signOutDevices(SignOutRequest(everywhere: true)) }
            }
            #expect(server.tokens.load() == next)
        }
        let second = Server()
        let stale = OutboxApp(second)
        try await stale.connected(second) { stream in
            second.tokens.save(next)
            second.transport.answer { request in
                if request.endpoint == .token { throw TransportError.unreachable("no network") }
                return try second.answer(request)
            }
            stream.send(.end(StreamEnd(.signedOut, why: .displaced)))
            await stale.connection.wait { !$0.isConnected }
            #expect(second.tokens.load()?.account == next.account)
            #expect(second.tokens.load()?.isSignedOut == false)
        }
    }

    @Test("whoever signed in anew in another process goes on where the token of before is refused (F9, S17)")
    func signedInAnew() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connection.restore()
        try await server.passingTime { try await app.user.checkIn() }
        server.tokens.save(Credentials(account: Server.account, device: .new(), refreshToken: "anew"))
        server.transport.answer { request in
            if request.token == "access-1" { return TransportReply(.failure(APIError(.deviceSignedOut))) }
            return try server.answer(request)
        }
        let session = SessionClient.live(service: app.connection)
        try await server.passingTime { try await session.signOutDevices(SignOutRequest(everywhere: true)) }
        #expect(server.tokens.load()?.isSignedOut == false)
    }

    private static let anew = Credentials(account: Server.account, device: .new(), refreshToken: "anew")

    @Test("whom the server signed out goes on once they have signed in again in another process (F9, R12)")
    func signedInElsewhere() async throws {
        try await Self.withFile { file in
            let server = Server()
            let app = try Self.process(server, file)
            try await app.connected(server) { stream in
                stream.send(.end(StreamEnd(.signedOut, why: .displaced)))
                await app.connection.wait { $0 == .needsAuthentication }
                server.tokens.save(Self.anew)
                let end = server.clock.now + .seconds(5)
                await server.passTime {
                    app.connection.state != .needsAuthentication || server.clock.now > end
                }
                try #require(app.connection.state != .needsAuthentication)
                try #require(await server.transport.nextStream()).resume()
                try await app.connection.ready()
                try await server.passingTime { try await app.user.raiseAlert() }
                #expect(server.commands.map(\.name) == ["RaiseAlert"])
            }
        }
    }

    @Test(
        "the tokens of who stays signed out are read more and more rarely, and at once when something happens (F9)",
        arguments: [false, true])
    func lookedForRarely(wakes: Bool) async throws {
        try await Self.withFile { file in
            let server = Server()
            let tokens = FailingTokens(server.tokens)
            let app = OutboxApp(server, try DatabaseStore(file), tokens: tokens, time: Self.time(server))
            try await app.connected(server) { stream in
                stream.send(.end(StreamEnd(.signedOut, why: .displaced)))
                await app.connection.wait { $0 == .needsAuthentication }
                let (start, before) = (server.clock.now, tokens.loads.withLock { $0 })
                await server.passTime { server.clock.now > start + .seconds(64) }
                // After 1 second, 2, 4, 8, 16 and 30 more.
                let count = tokens.loads.withLock { $0 } - before
                #expect((1...12).contains(count), "\(count)")
                server.tokens.save(Self.anew)
                if wakes {
                    app.connection.wake()
                } else {
                    // Somebody does something in another process.
                    _ = try await DatabaseStore(file).load(OutboxApp.one)
                }
                let end = server.clock.now + .seconds(5)
                await server.passTime {
                    app.connection.state != .needsAuthentication || server.clock.now > end
                }
                #expect(app.connection.state != .needsAuthentication)
            }
        }
    }

    @Test(
        "a call for help goes out where its person has signed in again and the connection hasn't heard of it (F9, R12)")
    func helpSignedInElsewhere() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.state.withLock { $0.replies = [.failure(APIError(.deviceSignedOut))] }
            await #expect(throws: QuartetError.willBeSentWhenOnline) {
                try await app.contacts.sendPing(OutboxApp.one)
            }
            #expect(app.connection.outbox.isBlocked && app.connection.state == .needsAuthentication)
            server.tokens.save(Self.anew)
            try await server.passingTime { try await app.user.raiseAlert() }
            #expect(server.commands.contains { $0.name == "RaiseAlert" })
            try await app.connection.restore()
            try #require(app.connection.state != .needsAuthentication)
            try #require(await server.transport.nextStream()).resume()
            try await app.connection.ready()
        }
    }

    @Test("nobody's request goes out with the token of whoever signed in since in another process (F9, S17)")
    func tokens() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let tokens = try #require(app.connection.tokens)
        #expect(try await tokens.token(for: Server.account) == "access-1")
        await #expect(throws: QuartetError.needsAuthentication) { try await tokens.token(for: OutboxApp.one) }
    }
}
