import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetSessionContract
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Server {
    /// Has the first request of a kind wait at a gate, also when its task is cancelled. It holds the server: what is held up may go on when
    /// its test is over.
    /// - Returns: The commands that were answered since.
    @discardableResult
    fileprivate func holdUp(
        _ gate: Gate, _ isMeant: @escaping @Sendable (TransportRequest.Endpoint) -> Bool
    ) -> Observed<[String]> {
        let arrived = Observed<[String]>([])
        let isFirst = Mutex(true)
        transport.answer { request in
            let isHeld =
                isMeant(request.endpoint)
                && isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
            if isHeld { await gate.pass() }
            if case .command(let name) = request.endpoint { arrived.update { $0.append(name) } }
            return try self.answer(request)
        }
        return arrived
    }
}

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

    @Test(
        """
        a call returns within ten seconds though its transport is stuck and can't be cancelled, and of its connection nothing is left \
        (S22, R11)
        """)
    func stuckTransport() async throws {
        let server = Server()
        let stuck = Gate()
        defer { stuck.open() }
        weak var gone: Connection?
        do {
            let app = OutboxApp(server)
            gone = app.connection
            try await app.connected(server) { _ in
                server.holdUp(stuck) { $0 == .time }
                let end = Observed<(result: Result<[UInt8], QuartetError>, at: Duration)?>(nil)
                let call = Task {
                    let result: Result<[UInt8], QuartetError>
                    do throws(QuartetError) {
                        result = .success(try await app.connection.requests.read(.time))
                    } catch {
                        result = .failure(error)
                    }
                    let now = server.clock.now
                    end.update { $0 = (result, now) }
                }
                try await stuck.reached()
                await server.passTime { end.value != nil || server.clock.now > .seconds(60) }
                // Not awaited before it is seen to have ended: it might not end.
                let (result, at) = try #require(end.value)
                await call.value
                #expect(at <= .seconds(13))
                #expect(throws: QuartetError.unknown) { try result.get() }
            }
        }
        // A task lets go of what it had some time after it has ended.
        for _ in 0..<60_000 where gone != nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(gone == nil)
    }

    @Test(
        """
        a call for help goes out within a minute though the transport is stuck with its first request, or with the token's or the time's, \
        and can't be cancelled; at once in another network (S22, R11)
        """, arguments: [Hole.command, .token, .time], [false, true])
    private func stuckChange(_ hole: Hole, isInOtherNetwork: Bool) async throws {
        let server = Server()
        let app = OutboxApp(server)
        let stuck = Gate()
        defer { stuck.open() }
        let arrived = server.holdUp(stuck) { hole.swallows($0) }
        try await whileRunning(app.connection) {
            let call = Task { try await app.user.raiseAlert() }
            try await stuck.reached()
            await app.connection.outbox.items.values.wait { !$0.isEmpty }
            let start = server.clock.now
            if isInOtherNetwork { app.connection.networkChanged() }
            await server.passTime { !arrived.value.isEmpty || server.clock.now > .seconds(120) }
            try #require(arrived.value == ["RaiseAlert"])
            #expect(server.clock.now - start <= .seconds(isInOtherNetwork ? 10 : 50))
            await server.passTime { app.connection.outbox.items.value.isEmpty }
            if !isInOtherNetwork { await #expect(throws: QuartetError.willBeSentWhenOnline) { try await call.value } }
            #expect(server.commands.count == (hole == .command ? 2 : 1))
            #expect(Set(server.commands.map(\.key)).count == 1)
            // What comes of it late is nobody's.
            stuck.open()
            if hole == .command { try await arrived.wait("the late request") { $0.count == 2 ? true : nil } }
            #expect(app.connection.outbox.items.value.isEmpty && app.connection.outbox.unsent.value.isEmpty)
        }
    }

    @Test("a request whose caller is cancelled before it begins never begins (S22, R11)", arguments: [true, false])
    func neverBegun(isEarly: Bool) async throws {
        let server = Server()
        let workplace = HeldExecutor()
        workplace.hold()
        var time = server.clock.timekeeper
        time.workplace = workplace
        let transport = ReleasingTransport(inner: server.transport, time: time)
        let call = Task {
            if isEarly { withUnsafeCurrentTask { $0?.cancel() } }
            return try await transport.send(TransportRequest(.time))
        }
        if !isEarly {
            // The request and its limit, and then how long a caller that is cancelled waits.
            while workplace.held < 2 { await Task.yield() }
            call.cancel()
            while workplace.held < 3 { await Task.yield() }
        }
        workplace.release()
        await #expect(throws: CancellationError.self) { try await call.value }
        // Whatever would have begun it comes before this.
        await Task(executorPreference: workplace) {}.value
        #expect(server.transport.requests.isEmpty)
    }

    @Test("a caller that is cancelled waits for a transport that ends soon afterwards (S22, R11)")
    func grace() async throws {
        let server = Server()
        let (cancelled, gate) = (Observed(false), Gate())
        defer { gate.open() }
        let ends = Observed<[String]>([])
        server.transport.answer { _ in
            _ = try? await cancelled.wait("the request's end") { $0 ? true : nil }
            await gate.pass()
            ends.update { $0.append("transport") }
            throw CancellationError()
        }
        let transport = ReleasingTransport(inner: server.transport, time: server.clock.timekeeper)
        let call = Task {
            defer { ends.update { $0.append("caller") } }
            return try await transport.send(TransportRequest(.time))
        }
        while server.transport.requests.isEmpty { await Task.yield() }
        call.cancel()
        try await gate.reached()
        gate.open()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(ends.value == ["transport", "caller"])
    }

    @Test("what carries many bytes may take as long as they do (S22)")
    func bulky() async throws {
        let server = Server()
        let clock = server.clock
        let gate = Gate()
        defer { gate.open() }
        server.transport.answer { request in
            await gate.pass()
            return TransportReply(.success(request.body))
        }
        let transport = ReleasingTransport(inner: server.transport, time: clock.timekeeper)
        let ends = Observed<[String: Duration]>([:])
        func send(_ name: String, _ request: TransportRequest) -> Task<Void, Never> {
            Task {
                let result: Result<TransportReply, any Error>
                do { result = .success(try await transport.send(request)) } catch { result = .failure(error) }
                let now = clock.now
                ends.update { $0[name] = now }
                #expect(throws: TransportError.interrupted("it took too long")) { try result.get() }
            }
        }
        let bytes = 30 * 1024
        let (hash, group) = (ContentHash(of: [UInt8]()), GroupID.new())
        let calls = [
            send("few", TransportRequest(.command("RaiseAlert"))),
            send("up", TransportRequest(.chunks(hash, first: 0), body: Array(repeating: 0, count: bytes))),
            send("down", TransportRequest(.attachment(group, hash, bytes: 0..<bytes))),
        ]
        await server.passTime { ends.value.count == 3 }
        for call in calls { await call.value }
        // The clock may have gone on a little before an end was heard of.
        let few = try #require(ends.value["few"])
        #expect(few >= .seconds(31) && few < .seconds(61))
        for name in ["up", "down"] { #expect(try #require(ends.value[name]) >= .seconds(61)) }
    }

    /// Its streams can't be opened before a gate is.
    private struct StuckOpenings: Transport {
        let inner: any Transport
        let gate = Gate()
        let begun = Observed(0)

        func send(_ request: TransportRequest) async throws -> TransportReply { try await inner.send(request) }

        func open(_ request: StreamRequest) async throws -> OpenedStream {
            begun.update { $0 += 1 }
            await gate.pass()
            throw TransportError.interrupted("silence")
        }
    }

    @Test("eight openings may hang, however often the network changes, and others ten minutes later (T2, R11)")
    func stuckOpenings() async throws {
        let server = Server()
        let transport = StuckOpenings(inner: server.transport)
        defer { transport.gate.open() }
        let connection = Connection(transport: transport, tokens: server.tokens, time: server.clock.timekeeper)
        try await whileRunning(connection) {
            for count in 1...ReleasingTransport.openingLimit {
                try await transport.begun.wait("an opening") { $0 == count ? true : nil }
                connection.networkChanged()
            }
            await connection.wait { $0 == .reconnecting(attempt: 1) }
            connection.networkChanged()
            await connection.wait { $0 == .reconnecting(attempt: 2) }
            #expect(transport.begun.value == ReleasingTransport.openingLimit)
            server.clock.advance(by: ReleasingTransport.openingAge)
            try await transport.begun.wait("another opening") { $0 > ReleasingTransport.openingLimit ? true : nil }
            transport.gate.open()
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

    @Test("what URLSession says of a request that never left is that, and everything else may have arrived (S22, R14)")
    func urlErrors() {
        let unsent: [URLError.Code] = [
            .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .secureConnectionFailed,
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
            .serverCertificateHasUnknownRoot,
        ]
        let undecided: [URLError.Code] = [
            .networkConnectionLost, .timedOut, .badServerResponse, .cannotParseResponse, .cannotDecodeRawData,
            .cannotDecodeContentData, .zeroByteResource, .resourceUnavailable, .httpTooManyRedirects, .cancelled,
            .backgroundSessionWasDisconnected, .dataLengthExceedsMaximum, .unknown,
        ]
        func mayHaveArrived(_ error: any Error) -> Bool {
            if case .interrupted = TransportError(error) { true } else { false }
        }
        for code in unsent { #expect(!mayHaveArrived(URLError(code)), "\(code)") }
        for code in undecided { #expect(mayHaveArrived(URLError(code)), "\(code)") }
        #expect(mayHaveArrived(CocoaError(.fileReadUnknown)))
    }
}
