import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetStorage
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Somebody else signs in, in another process, while this one waits: for the disk, for the tokens or for another connection.
@Suite(.timeLimit(.minutes(10)))
struct ChangedAccountTests {
    private static let former = Credentials(account: Server.person(9), device: Server.device, refreshToken: "former")
    private static let next = Credentials(account: Server.account, device: Server.device, refreshToken: "next")

    /// A device on which somebody is signed in, and whose disk takes its time to read what it keeps.
    private struct SlowApp {
        let server = Server(isSignedIn: false)
        let app: OutboxApp
        let store: FailingSharedStore
        let isReading = Observed(false)
        /// Finished once the disk goes on.
        let disk: AsyncStream<Never>.Continuation
        /// What takes until then.
        let reading: @Sendable () async -> Void

        init(_ file: URL) throws {
            let (waits, disk) = AsyncStream<Never>.makeStream()
            self.disk = disk
            reading = { [isReading] in
                isReading.update { $0 = true }
                for await _ in waits {}
            }
            server.tokens.save(ChangedAccountTests.former)
            store = FailingSharedStore(try DatabaseStore(file))
            store.beforeLoad.withLock { [reading] in $0 = reading }
            app = OutboxApp(server, store, tokens: server.tokens, time: TwoProcessesTests.time(server))
        }
    }

    @Test("what was made for an account that another process leaves while it is opened holds nobody else up (F9, R12)")
    func leftWhileOpened() async throws {
        try await TwoProcessesTests.withFile { file in
            let slow = try SlowApp(file)
            let (server, app) = (slow.server, slow.app)
            let outbox = app.connection.outbox
            let restoring = Task { try await app.connection.restore() }
            try await slow.isReading.wait("the disk is at it") { $0 ? true : nil }
            server.goOffline()
            await TwoProcessesTests.keeps(server) { try await app.user.clearAlert() }
            #expect(outbox.items.value.map(\.account) == [Self.former.account])
            // Nothing runs for that call any more.
            server.clock.advance(by: .seconds(10))
            server.tokens.save(Self.next)
            slow.disk.finish()
            try await restoring.value
            #expect(app.connection.store.account == Server.account && outbox.items.value.isEmpty)
            server.goOnline()
            let before = server.commands.count
            try await server.passingTime { try await app.user.raiseAlert() }
            #expect(server.commands.dropFirst(before).map(\.name) == ["RaiseAlert"])
        }
    }

    /// What the disk takes its time for.
    enum Reading: CaseIterable { case account, news }

    @Test(
        "a call for help goes out as whoever is signed in, though the disk still reads what somebody else had (F9, R12)",
        arguments: Reading.allCases)
    func stillReading(_ reading: Reading) async throws {
        try await TwoProcessesTests.withFile { file in
            let slow = try SlowApp(file)
            let (server, app) = (slow.server, slow.app)
            if reading == .news {
                slow.store.beforeLoad.withLock { $0 = nil }
                try await app.connection.restore()
                slow.store.beforeVersion.withLock { $0 = slow.reading }
            }
            let restoring = Task { try await app.connection.restore() }
            try await slow.isReading.wait("the disk is at it") { $0 ? true : nil }
            server.tokens.save(Self.next)
            let call = Task { try await app.user.raiseAlert() }
            // Somebody waits until then, so that time passes.
            let end = server.clock.now + .seconds(60)
            let waiting = Task { try await server.clock.timekeeper.sleep(end) }
            await server.passTime { !server.commands.isEmpty || server.clock.now >= end }
            waiting.cancel()
            #expect(server.commands.map(\.name) == ["RaiseAlert"])
            slow.disk.finish()
            try await server.passingTime { try await call.value }
            try await restoring.value
            #expect(app.connection.store.account == Server.account)
            #expect(app.connection.outbox.items.value.isEmpty && app.connection.outbox.unsent.value.isEmpty)
            #expect(Set(server.commands.map(\.key)).count == 1)
        }
    }

    @Test("what somebody made while they were being signed out isn't left for whoever signs in (F9, S17)")
    func madeMeanwhile() async throws {
        try await TwoProcessesTests.withFile { file in
            let slow = try SlowApp(file)
            let (server, outbox) = (slow.server, slow.app.connection.outbox)
            let restoring = Task { try await slow.app.connection.restore() }
            try await slow.isReading.wait("the disk is at it") { $0 ? true : nil }
            server.goOffline()
            await TwoProcessesTests.keeps(server) { try await slow.app.user.clearAlert() }
            #expect(outbox.items.value.map(\.account) == [Self.former.account])
            // What it would keep waits for the disk.
            let next = Task { await outbox.restore([], of: Server.account) }
            slow.disk.finish()
            await next.value
            try await restoring.value
            #expect(outbox.items.value.isEmpty && !outbox.isSendingUrgently)
        }
    }

    @Test("what is still being read for somebody isn't taken for that of whoever is expected by then (F9, S17)")
    func expected() async throws {
        try await TwoProcessesTests.withFile { file in
            let shared = FailingSharedStore(try DatabaseStore(file))
            let store = AccountStore(shared, nil)
            shared.beforeLoad.withLock { $0 = { store.expect(Server.account) } }
            #expect(try await store.open(OutboxApp.one) == nil)
            #expect(store.account == nil && store.unreadAccount == Server.account)
            #expect(try await store.open(OutboxApp.one) == nil)
            #expect(try await store.open(Server.account) == LocalAccount())
            #expect(store.account == Server.account && store.unreadAccount == nil)
        }
    }

    @Test("what is still being written at a sign-out of another process says nothing of whoever is next (F9, S17)")
    func stillWriting() async throws {
        try await TwoProcessesTests.withFile { file in
            let shared = FailingSharedStore(try DatabaseStore(file))
            let store = AccountStore(shared, nil)
            for isClosed in [true, false] {
                _ = try await store.open(OutboxApp.one)
                let gate = shared.stops { $0 == .end }
                let writing = Task {
                    try await store.end(1, of: OutboxApp.one, OutboxDecision(.failure(.cancelled))) { _ in }
                }
                try await gate.reached()
                try await DatabaseStore(file).forget(OutboxApp.one)
                if isClosed { store.close() }
                gate.open()
                await #expect(throws: QuartetError.needsAuthentication) { try await writing.value }
                #expect(store.isForgotten == !isClosed)
            }
        }
    }

    @Test("a call for help is sent in its call, though a process that is frozen keeps the lock of the tokens (F9, R12)")
    func frozen() async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            try FileTokenStore(file).save(server.tokens.load())
            let tokens = FileTokenStore(file, now: { server.clock.now }, lock: { _ in EWOULDBLOCK })
            var time = server.clock.timekeeper
            time.sleep = { until in
                // Time passes only for whoever asks for the tokens again.
                guard until <= server.clock.now + .milliseconds(5) else {
                    return try await server.clock.timekeeper.sleep(until)
                }
                server.clock.advance(by: .milliseconds(300))
            }
            let app = OutboxApp(server, tokens: tokens, time: time)
            try await app.user.raiseAlert()
            #expect(server.commands.map(\.name) == ["RaiseAlert"])
            #expect(try tokens.load()?.refreshToken == "refresh-1")
        }
    }

    @Test("what another connection has the store of isn't said to be taken back (F9, S21)")
    func cancelledAfterwards() async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            let store = try DatabaseStore(file)
            let time = TwoProcessesTests.time(server)
            let (app, second) = (OutboxApp(server, store, time: time), OutboxApp(server, store, time: time))
            server.goOffline()
            await TwoProcessesTests.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
            let outbox = app.connection.outbox
            let item = try #require(outbox.items.value.first)
            try await second.connection.restore()
            #expect(try await outbox.cancel(item.id) == false)
            #expect(outbox.items.value.map(\.id) == [item.id])
            #expect(try await DatabaseStore(file).load(Server.account).items.map(\.id) == [item.id])
            // Once it has the store again, it can.
            try await app.connection.restore()
            #expect(try await outbox.cancel(item.id))
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    @Test("what was taken back and couldn't be removed doesn't come back with the store (F9, S21)")
    func takenBack() async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            let store = FailingSharedStore(try DatabaseStore(file))
            let time = TwoProcessesTests.time(server)
            let (app, second) = (OutboxApp(server, store, time: time), OutboxApp(server, store, time: time))
            server.goOffline()
            await TwoProcessesTests.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
            let outbox = app.connection.outbox
            store.fails { [.remove, .end].contains($0) }
            #expect(try await outbox.cancel(try #require(outbox.items.value.first).id))
            try await second.connection.restore()
            #expect(second.connection.outbox.items.value.count == 1)
            try await app.connection.restore()
            #expect(outbox.items.value.isEmpty && app.contacts.contacts.outgoingPings.isEmpty)
            store.fails { _ in false }
            await outbox.forgetLeftovers()
            #expect(try await DatabaseStore(file).load(Server.account).items.isEmpty)
        }
    }

    @Test("a connection that doesn't get a store object erases nothing of its owner's, whoever it is for (F9, S22)")
    func refused() async throws {
        try await TwoProcessesTests.withFile { file in
            let server = Server()
            let store = try DatabaseStore(file)
            let app = OutboxApp(server, store, time: TwoProcessesTests.time(server))
            try await app.offline(server) {
                server.goOffline()
                await TwoProcessesTests.keeps(server) { try await app.contacts.sendPing(OutboxApp.one) }
                let second = OutboxApp(
                    server, store, tokens: InMemoryTokenStore(Self.former), time: TwoProcessesTests.time(server))
                let refusal = QuartetError.notConfigured("A store of the connection's own")
                await #expect(throws: refusal) { try await second.connection.restore() }
                await #expect(throws: refusal) {
                    try await second.connection.forgetAccount(isKnown: true, if: { true })
                }
                let kept = try await DatabaseStore(file).load(Server.account)
                #expect(kept.items.map(\.id) == app.connection.outbox.items.value.map(\.id) && kept.items.count == 1)
            }
        }
    }
}
