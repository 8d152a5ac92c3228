import GRPCCore
import GRPCNIOTransportHTTP2Posix
import Logging
import NIOCore
import ServiceKit
import ServiceLifecycle

/// Serves the edge over gRPC until told to stop. Calls in hand are finished.
struct RPCServer: Service {
    typealias Transport = HTTP2ServerTransport.Custom<RPCListener>

    let listener: RPCListener
    let check: Health.Check
    let logger: Logger
    private let router: RPCRouter<Transport>

    /// - Parameters:
    ///   - health: What `grpc.health.v1` tells.
    ///   - describesItself: Whether anyone may ask which calls there are.
    init(
        listener: RPCListener, calls: UnaryCalls, watch: WatchCalls, health: Health, describesItself: Bool,
        logger: Logger
    ) throws {
        var router = RPCRouter<Transport>()
        calls.register(in: &router)
        watch.register(in: &router)
        HealthCalls(health: health, services: [RPCNames.service], admission: calls.admission).register(in: &router)
        if describesItself { try ReflectionCalls(admission: calls.admission).register(in: &router) }
        router.registerInterceptors(pipeline: [.apply(ServerDate(), to: .all)])
        self.router = router
        self.listener = listener
        self.logger = logger
        check = health.check("grpc")
    }

    /// How long connections may take to close once no more calls are served.
    private static let farewell: Duration = .seconds(10)

    /// The limits of a connection. By its defaults, the transport closes connections on which apps ping more often than every
    /// five minutes, and looks after two hours whether a quiet one is still there.
    /// - Parameter resets: Counts calls that are given up.
    static func configuration(_ resets: Resets?) -> Transport.Config {
        var configuration = Transport.Config.defaults
        configuration.compression.enabledAlgorithms = [.gzip]
        configuration.rpc.maxRequestPayloadSize = EdgeLimits.message.value
        configuration.http2.maxConcurrentStreams = EdgeLimits.requestsOfConnection.value
        configuration.connection.keepalive = .init(
            time: .seconds(30), timeout: .seconds(10),
            // Half of the ten seconds that are promised, because pings come closer together than they were sent.
            clientBehavior: .init(minPingIntervalWithoutCalls: .seconds(5), allowWithoutCalls: true))
        // Calls in progress go on for as long as they like; the next ones use another connection, perhaps to another process.
        // Not all processes at once.
        configuration.connection.maxAge = .seconds(Int.random(in: 27 * 60...33 * 60))
        configuration.channelDebuggingCallbacks.onAcceptHTTP2Stream = { stream in
            stream.eventLoop.makeCompletedFuture {
                try UnreadFrames.add(to: stream)
                try ResetCount.add(resets, to: stream)
            }
        }
        return configuration
    }

    func run() async throws {
        while true {
            let transport = Transport(listenerFactory: listener, config: Self.configuration(listener.admissions.resets))
            let server = GRPCServer(transport: transport, router: router)
            do {
                try await withGracefulShutdownHandler {
                    try await withThrowingTaskGroup { group in
                        group.addTask { try await server.serve() }
                        group.addTask {
                            await announce(transport)
                            try await gracefulShutdown()
                            // A client that has gone without a word doesn't hold the process up.
                            try await Task.sleep(for: Self.farewell)
                        }
                        defer { group.cancelAll() }
                        try await group.next()
                    }
                } onGracefulShutdown: {
                    server.beginGracefulShutdown()
                }
                return
            } catch let error as RuntimeError where "\(error)".contains("bind") {
                throw HTTPServer.CannotListen(
                    description:
                        "can't listen on \(listener.host):\(listener.port), which is in use or forbidden; choose another: "
                        + "--grpc-port (GRPC_PORT). The system's error: \(error)")
            } catch  where !Task.isCancelled && !Task.isShuttingDownGracefully {
                // One connection's failure must not end the others' server for good.
                logger.error("the gRPC server failed and starts again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func announce(_ transport: Transport) async {
        guard let address = await transport.listeningAddress else { return }
        check.report(.ready)
        let port = address.ipv4?.port ?? address.ipv6?.port ?? listener.port
        logger.info(
            "serving the gRPC API",
            metadata: ["url": "\(listener.certificates == nil ? "grpc" : "grpcs")://\(listener.host):\(port)"])
    }
}
