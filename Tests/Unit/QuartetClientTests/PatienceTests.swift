import Foundation
import QuartetAPI
import QuartetClientTesting
import QuartetVocabulary
import Synchronization
import TestKit
import Testing

@testable import QuartetClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
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

    /// Says when the last reference to it has gone.
    private final class Witness: Sendable {
        private let isGone: Observed<Bool>

        init(_ isGone: Observed<Bool>) { self.isGone = isGone }
        deinit { isGone.update { $0 = true } }
    }

    @Test(
        """
        a call returns within ten seconds though its transport is stuck and can't be cancelled, and nothing of it is left once the \
        transport goes on (S22, R11)
        """)
    func stuckTransport() async throws {
        let server = Server()
        let stuck = Gate()
        let isGone = Observed(false)
        do {
            let witness = Witness(isGone)
            let app = OutboxApp(server)
            try await app.connected(server) { _ in
                server.transport.answer { [unowned server] request in
                    if request.endpoint == .time {
                        await stuck.pass()
                        withExtendedLifetime(witness) {}
                    }
                    return try server.answer(request)
                }
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
        #expect(!isGone.value)
        let requests = server.transport.requests.count
        server.transport.answer { _ in throw TransportError.unreachable("the test is over") }
        stuck.open()
        try await isGone.wait("the stuck request to be let go") { $0 ? true : nil }
        #expect(server.transport.requests.count == requests)
    }

    @Test("a change whose transport is stuck and can't be cancelled goes out again in another network (S22, R11)")
    func stuckChange() async throws {
        let server = Server()
        let app = OutboxApp(server)
        let stuck = Gate()
        defer { stuck.open() }
        try await app.offline(server) {
            let isHole = Mutex(true)
            server.transport.answer { [unowned server] request in
                if case .command = request.endpoint, isHole.withLock({ $0 }) { await stuck.pass() }
                return try server.answer(request)
            }
            let isOver = Observed(false)
            let call = Task {
                defer { isOver.update { $0 = true } }
                try await app.user.raiseAlert()
            }
            try await stuck.reached()
            isHole.withLock { $0 = false }
            app.connection.networkChanged()
            try await isOver.wait("the call to end") { $0 ? true : nil }
            try await call.value
            #expect(server.commands.map(\.name) == ["RaiseAlert", "RaiseAlert"])
            #expect(Set(server.commands.map(\.key)).count == 1)
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
