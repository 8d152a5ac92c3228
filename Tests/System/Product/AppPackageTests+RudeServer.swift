import Foundation
import GRPCNIOTransportHTTP2Posix
import QuartetClient
import QuartetGRPC
import Synchronization
import TestKit
import Testing

@testable import QuartetAsyncHTTP

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
            let other = Task { try await transport.send(TransportRequest(.serverTime)) }
            try await server.requests.wait("a request to arrive") { $0 > 0 ? true : nil }
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
            // Nor does the transport hold what is cancelled.
            other.cancel()
            await #expect(throws: CancellationError.self) { try await other.value }
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

        @Test("a request over AsyncHTTP ends by itself when its answer falls silent (S22, R11)")
        func halfAnAnswer() async throws {
            let server = try RudeServer(.halfSilent)
            defer { server.stop() }
            var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)")))
            request.timeoutInterval = 1
            let exchanges = AsyncHTTPExchanges(trusting: nil)
            let parts = Mutex(0)
            await #expect(throws: TransportError.interrupted("the answer fell silent")) {
                for try await _ in exchanges.start(request) { parts.withLock { $0 += 1 } }
            }
            #expect(parts.withLock { $0 } == 2)
        }
    }
}
