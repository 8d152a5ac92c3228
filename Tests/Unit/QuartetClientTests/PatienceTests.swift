import Foundation
import QuartetAPI
import QuartetAsyncHTTP
import QuartetClientTesting
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

#if canImport(Glibc)
    import Glibc
#endif

/// How long things take, and what is tried again.
@Suite(.timeLimit(.minutes(10)))
struct PatienceTests {
    @Test("an outbox whose device was signed out meanwhile costs nothing (S20, S22)")
    func noSpin() async throws {
        let server = Server()
        let tokens = FailingTokens(server.tokens)
        let app = OutboxApp(server, tokens: tokens)
        try await app.connected(server) { stream in
            server.state.withLock { $0.lost = [.interrupted("the answer")] }
            let call = Task { try await app.user.raiseAlert() }
            await server.clock.waitForSleeper(within: .seconds(1))
            stream.send(.end(StreamEnd(.signedOut, why: .displaced)))
            await app.connection.wait { $0 == .needsAuthentication }
            server.clock.advance(by: .seconds(60))
            _ = await call.result
            let before = tokens.loads.withLock { $0 }
            // Real time, in which a loop that doesn't wait would turn thousands of times.
            try await Task.sleep(for: .milliseconds(300))
            #expect(tokens.loads.withLock { $0 } - before <= 3)
            #expect(app.connection.outbox.items.value.count == 1)
        }
    }

    @Test("a caller that is cancelled hears that its change is kept and will be sent (S22)")
    func cancelledCaller() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            server.state.withLock { $0.lost = [.interrupted("the answer")] }
            let call = Task { try await app.user.raiseAlert() }
            await server.clock.waitForSleeper(within: .seconds(1))
            call.cancel()
            await #expect(throws: QuartetError.willBeSentWhenOnline) { try await call.value }
        }
    }

    @Test("whoever waits for a change that is taken back hears that it was (S21, S22)")
    func takenBack() async throws {
        let server = Server()
        let app = OutboxApp(server)
        try await app.connected(server) { _ in
            let isAnswered = Observed(false)
            server.transport.answer { [unowned server] request in
                if case .command = request.endpoint { try await isAnswered.wait("the answer") { $0 ? true : nil } }
                return try server.answer(request)
            }
            let outbox = app.connection.outbox
            let first = Task { try await app.contacts.sendPing(OutboxApp.one) }
            await outbox.items.values.wait { $0.first?.isSent == true }
            // It waits behind the first one, which is on its way.
            let second = Task { try await app.contacts.cancelPing(OutboxApp.one) }
            await outbox.items.values.wait { $0.count == 2 }
            let isCancelled = try await outbox.cancel(try #require(outbox.items.value.last).id)
            #expect(isCancelled)
            await #expect(throws: QuartetError.cancelled) { try await second.value }
            isAnswered.update { $0 = true }
            try await first.value
            #expect(server.commands.map(\.name) == ["SendPing"])
        }
    }

    /// What swallows requests.
    private enum Hole: CaseIterable {
        case command, token, time, read

        func swallows(_ endpoint: TransportRequest.Endpoint) -> Bool {
            switch (self, endpoint) {
            case (.command, .command), (.token, .token), (.time, .serverTime), (.read, .time): true
            default: false
            }
        }
    }

    @Test(
        "a call returns within ten seconds whatever the network does, and the outbox goes on (S22, R11)",
        arguments: Hole.allCases)
    private func blackHole(_ hole: Hole) async throws {
        for isRunning in [true, false] {
            let server = Server()
            let app = OutboxApp(server)
            let isHole = Mutex(true)
            server.transport.answer { [unowned server] request in
                if hole.swallows(request.endpoint), isHole.withLock({ $0 }) {
                    try await server.clock.timekeeper.sleep(server.clock.now + .seconds(15))
                    throw TransportError.interrupted("silence")
                }
                return try server.answer(request)
            }
            let check = { @Sendable in
                let call = Task {
                    if hole == .read {
                        _ = try await app.connection.requests.read(.time)
                    } else {
                        try await app.user.raiseAlert()
                    }
                }
                let end = Observed<Duration?>(nil)
                let watching = Task {
                    _ = await call.result
                    let now = server.clock.now
                    end.update { $0 = now }
                }
                await server.passTime { end.value != nil }
                await watching.value
                // The clock may have gone on a little before the call was heard of.
                #expect((end.value ?? .zero) <= .seconds(13), "\(hole), running: \(isRunning)")
                // Where nothing outlives the process and nobody sends it later, that isn't promised (F9).
                let kept: QuartetError = isRunning ? .willBeSentWhenOnline : hole == .command ? .unknown : .offline
                await #expect(throws: hole == .read ? QuartetError.unknown : kept) { try await call.value }
                isHole.withLock { $0 = false }
                guard hole != .read, isRunning else { return }
                await server.passTime { app.connection.outbox.items.value.isEmpty }
                #expect(Set(server.commands.map(\.key)).count == 1)
                #expect(server.commands.count > (hole == .command ? 1 : 0))
            }
            if isRunning { try await whileRunning(app.connection) { await check() } } else { await check() }
        }
    }

    @Test("the foreground and another network revive a connection that has given up (T12, R11)")
    func revival() async throws {
        for revive in [Connection.wake, Connection.networkChanged] {
            let server = Server()
            let connection = server.connection(.disabled)
            server.transport.refuseStream(TransportError.unreachable("no network"))
            try await whileRunning(connection) {
                await connection.wait { if case .failed = $0 { true } else { false } }
                revive(connection)()
                let stream = try #require(await server.transport.nextStream())
                try stream.begin()
            }
        }
        #expect(ConnectionMachine.Settings().policy.attempts == nil)
    }

    @Test("how old a change is doesn't depend on a clock that can be set (S22, S27, R14)")
    func settableClock() async throws {
        for jump in [Interval.days(400), .days(-400)] {
            let server = Server()
            let wall = Mutex(Instant(microseconds: 1_700_000_000_000_000))
            var time = server.clock.timekeeper
            time.wall = { wall.withLock { $0 } }
            let store = InMemoryLocalStore()
            let app = OutboxApp(server, store, time: time)
            server.goOffline()
            // Started without a network: nobody has said the time.
            try await whileRunning(app.connection) {
                await app.connection.wait { $0 != .disconnected }
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.raiseAlert() }
                await #expect(throws: QuartetError.willBeSentWhenOnline) { try await app.user.checkIn() }
            }
            server.clock.advance(by: .seconds(301))
            wall.withLock { $0 = $0 + jump }
            // After a restart of the app, but not of the device.
            let second = OutboxApp(server, store, time: time)
            try await second.connection.restore()
            let events = second.connection.outbox.events
            server.goOnline()
            try await whileRunning(second.connection) {
                var errors: [String: QuartetError?] = [:]
                for await event in events {
                    errors[event.item.command] = event.error
                    if errors.count == 2 { break }
                }
                #expect(errors == ["RaiseAlert": nil, "CheckIn": .expired])
            }
        }
    }

    @Test("a connection that is reset after the request went out is one that may have brought it (S22, R14)")
    func reset() async throws {
        let port = try RudeServer.start()
        let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
        let closed = try #require(URL(string: "http://127.0.0.1:1"))
        // Foundation's URLSession ends the process on Linux when an answer breaks off.
        for (url, isSent) in [(url, true), (closed, false)] {
            do {
                let transport = HTTPTransport(asyncHTTP: url)
                _ = try await transport.send(TransportRequest(.command("RaiseAlert"), body: Array("{}".utf8)))
                Issue.record("it was answered")
            } catch let error as TransportError {
                let mayHaveArrived = if case .interrupted = error { true } else { false }
                #expect(mayHaveArrived == isSent, "\(error)")
            }
        }
    }
}

/// Reads what a connection sends and resets it.
private enum RudeServer {
    /// - Returns: Its port. It ends with the process.
    static func start() throws -> UInt16 {
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(server, pointer, length) == 0 && listen(server, 8) == 0
                    && getsockname(server, pointer, &length) == 0
            }
        }
        try #require(isBound)
        Thread.detachNewThread {
            while true {
                let open = accept(server, nil, nil)
                guard open >= 0 else { return }
                var bytes = [UInt8](repeating: 0, count: 4096)
                _ = recv(open, &bytes, bytes.count, 0)
                var rude = linger(l_onoff: 1, l_linger: 0)
                setsockopt(open, SOL_SOCKET, SO_LINGER, &rude, socklen_t(MemoryLayout<linger>.size))
                close(open)
            }
        }
        return UInt16(bigEndian: address.sin_port)
    }
}
