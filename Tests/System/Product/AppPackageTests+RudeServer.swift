import Foundation
import GRPCNIOTransportHTTP2Posix
import QuartetGRPC
import Synchronization
import TestKit
import Testing

@testable import QuartetAsyncHTTP
@testable import QuartetClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension AppPackageTests {
    /// The transports of the package against servers that don't answer.
    @Suite
    struct RudeServerTests {
        /// Foundation's URLSession isn't among them: on Linux it ends the process when an answer breaks off.
        enum Way: CaseIterable {
            case asyncHTTP, gRPC

            func transport(at port: UInt16) throws -> any Transport {
                switch self {
                case .asyncHTTP: HTTPTransport(asyncHTTP: try #require(URL(string: "http://127.0.0.1:\(port)")))
                case .gRPC: try GRPCTransport(host: "127.0.0.1", port: Int(port), security: .plaintext)
                }
            }
        }

        @Test(
            "a call returns within its limit though the server is silent, or falls silent in its answer (S22, R11)",
            arguments: [(Way.asyncHTTP, RudeServer.Manner.silent), (.asyncHTTP, .halfSilent), (.gRPC, .silent)])
        func silence(_ way: Way, _ manner: RudeServer.Manner) async throws {
            let server = try RudeServer(manner)
            defer { server.stop() }
            let transport = try way.transport(at: server.port)
            // The transport doesn't hold what is cancelled.
            let other = Task { try await transport.send(TransportRequest(.serverTime)) }
            try await server.requests.wait("a request to arrive") { $0 > 0 ? true : nil }
            other.cancel()
            await #expect(throws: CancellationError.self) { try await other.value }
            var time = Timekeeper.live
            // Shorter than what the transport itself would wait.
            time.callLimit = .seconds(1)
            let connection = QuartetClient.Connection(transport: transport, time: time)
            let clients = QuartetClient.Quartet.live(connection)
            let start = ContinuousClock.now
            // What it asked for is the time: nothing of the person's went out.
            await #expect(throws: QuartetError.offline) {
                try await clients.session.signIn(SignInRequest(handle: "anna", password: "correct horse battery"))
            }
            // That of an app that sets no limit, by which a busy machine may be late with this one.
            #expect(ContinuousClock.now - start < .seconds(10))
        }

        /// Sends the first call for help elsewhere.
        private final class Detour: Transport {
            private let first: any Transport
            private let others: any Transport
            private let isFirst = Mutex(true)

            init(_ first: any Transport, then others: any Transport) {
                (self.first, self.others) = (first, others)
            }

            func send(_ request: TransportRequest) async throws -> TransportReply {
                let isDetour =
                    request.endpoint == .command("RaiseAlert")
                    && isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst
                    }
                return try await (isDetour ? first : others).send(request)
            }

            func open(_ request: StreamRequest) async throws -> OpenedStream { try await others.open(request) }
        }

        @Test(
            """
            a call for help that a server took and didn't answer, or not to its end, goes out again under its key as soon as the network \
            changes, or at once after a reset, and is made once (S22, R11, R14)
            """)
        func again() async throws {
            try await Quartet.with { quartet in
                let url = try #require(URL(string: try quartet.url))
                let cases: [(handle: String, way: Way, manner: RudeServer.Manner)] = [
                    ("anna", .asyncHTTP, .silent), ("bob", .asyncHTTP, .halfSilent), ("carla", .asyncHTTP, .drip(1000)),
                    ("dora", .asyncHTTP, .reset), ("emil", .gRPC, .silent), ("frida", .gRPC, .reset),
                ]
                for (handle, way, manner) in cases {
                    let server = try RudeServer(manner)
                    defer { server.stop() }
                    let transport = RecordingTransport(
                        inner: Detour(try way.transport(at: server.port), then: HTTPTransport(asyncHTTP: url)))
                    try await PackageApp.with(handle, transport) { app in
                        let call = Task { try await app.clients.user.raiseAlert() }
                        try await server.requests.wait("a call for help to arrive") { $0 > 0 ? true : nil }
                        if manner != .reset { app.connection.networkChanged() }
                        try await transport.sent.wait("a call for help to be accepted") { sent in
                            sent.contains { $0.command == "RaiseAlert" && $0.outcome == "accepted" } ? true : nil
                        }
                        // Its caller may have heard that it is sent later.
                        _ = await call.result
                    }
                    let sent = transport.sent(of: "RaiseAlert")
                    #expect(sent.first?.outcome == "lost" && Set(sent.map(\.key)).count == 1, "\(handle): \(sent)")
                }
                try await quartet.waitUntilQuiet()
                let raised = try await quartet.psql("SELECT count(*) FROM session.log WHERE type = 'AlertRaised'")
                #expect(raised == "\(cases.count)")
            }
        }

        @Test("a request ends though its answer drips on and on (S22, R11)")
        func drip() async throws {
            let server = try RudeServer(.drip(1000))
            defer { server.stop() }
            var time = Timekeeper.live
            time.requestLimit = .seconds(1)
            let transport = ReleasingTransport(inner: try Way.asyncHTTP.transport(at: server.port), time: time)
            await #expect(throws: TransportError.interrupted("it took too long")) {
                try await transport.send(TransportRequest(.serverTime))
            }
        }

        @Test(
            """
            a connection that is reset once the request has arrived is one that may have brought it; one that nobody accepted brought \
            nothing (S22, R14)
            """, arguments: Way.allCases)
        func reset(_ way: Way) async throws {
            let server = try RudeServer(.reset)
            defer { server.stop() }
            // Nobody listens where one is reserved.
            let closed = try ReservedPort()
            for (port, hasArrived) in [(server.port, true), (closed.number, false)] {
                do {
                    let transport = try way.transport(at: port)
                    _ = try await transport.send(TransportRequest(.command("RaiseAlert"), body: Array("{}".utf8)))
                    Issue.record("it was answered")
                } catch let error as TransportError {
                    let mayHaveArrived = if case .interrupted = error { true } else { false }
                    #expect(mayHaveArrived == hasArrived, "\(error)")
                }
            }
            #expect(server.requests.value == 1)
        }

        /// How many bytes arrive of an answer over AsyncHTTP.
        private static func read(_ manner: RudeServer.Manner, silentFor limit: Double) async -> (Int, (any Error)?) {
            var count = 0
            do {
                let server = try RudeServer(manner)
                defer { server.stop() }
                var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)")))
                request.timeoutInterval = limit
                let exchanges = AsyncHTTPExchanges(trusting: nil)
                for try await part in exchanges.start(request) {
                    if case .body(let bytes) = part { count += bytes.count }
                }
                return (count, nil)
            } catch {
                return (count, error)
            }
        }

        @Test("a request over AsyncHTTP ends by itself when its answer falls silent, and not before (S22, R11)")
        func halfAnAnswer() async throws {
            async let alive = Self.read(.drip(45), silentFor: 6)
            let silent = await Self.read(.halfSilent, silentFor: 3)
            #expect(silent.0 == 1 && (silent.1 as? TransportError) == .interrupted("the answer fell silent"))
            // Longer than its limit, but never silent for so long.
            let (count, error) = await alive
            #expect(count == 45 && error == nil)
        }
    }
}
