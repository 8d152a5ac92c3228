import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceKit
import ServiceLifecycle

/// Serves the edge over HTTP until told to stop. Requests in hand are finished first; streams are told to come again.
struct HTTPServer: Service {
    let routes: Routes
    let host: String
    let port: Int
    let connections: Int
    /// How many connections one address may have; nil behind proxies.
    let connectionsPerAddress: Int?
    let check: Health.Check
    let logger: Logger

    /// It can't listen.
    struct CannotListen: Error, CustomStringConvertible {
        let description: String
    }

    private static func isLoopback(_ address: SocketAddress?) -> Bool {
        guard let text = address?.ipAddress else { return true }
        return text.hasPrefix("127.") || text == "::1" || text.hasPrefix("::ffff:127.")
    }

    func run() async throws {
        let places = connectionsPerAddress.map { Places<String>(limit: $0) }
        let handlers: @Sendable () -> [any RemovableChannelHandler] = {
            (places.map { [ConnectionsPerAddress($0)] } ?? []) + [ConnectionPace()]
        }
        let application = Application(
            responder: Patience(inner: routes.router().buildResponder()),
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: handlers(),
                    idleTimeout: .seconds(60),
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8192, maxHeaderListSize: 16_384, maxHeaderFieldCount: 64))),
            configuration: .init(
                address: .hostname(host, port: port), serverName: "quartet",
                availableConnectionsDelegate: MaximumAvailableConnections(connections)),
            onServerRunning: { [check, logger, host] channel in
                check.report(.ready)
                if !Self.isLoopback(channel.localAddress) {
                    logger.warning(
                        """
                        the HTTP API accepts unencrypted connections from other machines, so others on the network can read \
                        passwords and tokens; put a proxy that speaks TLS in front, on a network that only it can reach
                        """, metadata: ["address": "\(host)"])
                }
                logger.info(
                    "serving the HTTP API", metadata: ["url": "http://\(host):\(channel.localAddress?.port ?? 0)"])
            },
            logger: logger.quiet)
        do {
            try await application.run()
        } catch let error where "\(error)".contains("bind") {
            throw CannotListen(
                description:
                    "can't listen on \(host):\(port), which is in use or forbidden; choose another: --port (PORT). "
                    + "The system's error: \(error)")
        }
    }
}
