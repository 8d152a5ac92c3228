import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceKit
import ServiceLifecycle

/// Serves the edge over HTTP until told to stop. Requests in hand are finished.
struct HTTPServer: Service {
    let routes: Routes
    let settings: HTTPSettings
    let admissions: Admissions
    let unread: UnreadAnswers
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
        let (host, port) = (settings.host, settings.port)
        try requireEncryption(at: host, port)
        let application = Application(
            responder: Patience(inner: routes.router().buildResponder()),
            server: HTTPServerBuilder { [certificates = settings.certificates, admissions, unread] in
                Door(admissions: admissions, unread: unread, certificates: certificates, responder: $0)
            },
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { [check, logger, scheme = settings.certificates == nil ? "http" : "https"] channel in
                check.report(.ready)
                logger.info(
                    "serving the HTTP API", metadata: ["url": "\(scheme)://\(host):\(channel.localAddress?.port ?? 0)"])
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

    /// Without TLS, other machines are only served if that was asked for.
    private func requireEncryption(at host: String, _ port: Int) throws(CannotListen) {
        guard settings.certificates == nil,
            // A name that can't be resolved can't be listened on either, and that error says more.
            let address = try? SocketAddress.makeAddressResolvingHost(host, port: port), !Self.isLoopback(address)
        else { return }
        switch settings.plaintext {
        case .loopback:
            throw CannotListen(
                description:
                    """
                    at \(host), other machines would send passwords and tokens unencrypted; set --tls-certificate and --tls-key \
                    (TLS_CERTIFICATE, TLS_KEY) or, behind a proxy that speaks TLS, --plaintext anywhere (PLAINTEXT)
                    """)
        case .anywhere:
            logger.warning(
                """
                the HTTP API accepts unencrypted connections from other machines, so others on the network can read passwords \
                and tokens; only a proxy that speaks TLS should be able to reach it
                """, metadata: ["address": "\(host)"])
        }
    }
}
