import Foundation
import Hummingbird
package import Logging
import ServiceLifecycle

/// Serves a process's health and metrics over HTTP.
///
/// - `GET /health/live`: 200, or 503 if only a restart helps.
/// - `GET /health/ready`: 200, or 503 with the reasons.
/// - `GET /metrics`: Prometheus's text format.
///
/// Health answers with `{"status": "ready", "checks": {"database": "ready"}}`.
package struct AdminServer: Service {
    package struct CannotListen: Error, CustomStringConvertible {
        package let description: String
    }

    private let health: Health
    private let metrics: PrometheusMetrics
    private let host: String
    private let port: Int
    private let logger: Logger

    /// - Parameter port: 0 takes a free one, which the log names.
    package init(
        health: Health, metrics: PrometheusMetrics = PrometheusMetrics(), host: String, port: Int, logger: Logger
    ) {
        self.health = health
        self.metrics = metrics
        self.host = host
        self.port = port
        self.logger = logger
    }

    /// Serves until shut down.
    /// - Throws: ``CannotListen``.
    package func run() async throws {
        let router = Router()
        router.get("/health/live") { [health] _, _ in Self.answer(health.report, isGood: health.report.isLive) }
        router.get("/health/ready") { [health] _, _ in Self.answer(health.report, isGood: health.report.isReady) }
        router.get("/metrics") { [metrics] _, _ in
            Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4", .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: metrics.text)))
        }
        let application = Application(
            router: router, configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { [logger, host] channel in
                logger.info(
                    "serving health and metrics",
                    metadata: ["url": "http://\(host):\(channel.localAddress?.port ?? 0)/health/ready"])
            },
            logger: logger.quiet)
        do {
            try await application.run()
        } catch let error where "\(error)".contains("bind") {
            throw CannotListen(
                description: "can't listen on \(host):\(port), which is in use or forbidden; "
                    + "choose another: --admin-port (ADMIN_PORT). The system's error: \(error)")
        }
    }

    private static func answer(_ report: Health.Report, isGood: Bool) -> Response {
        let checks = report.conditions.mapValues { condition in
            switch condition {
            case .ready: "ready"
            case .impaired(let reason): "ready, but: \(reason)"
            case .notReady(let reason): "not ready: \(reason)"
            case .dead(let reason): "dead: \(reason)"
            }
        }
        let status = !report.isLive ? "dead" : report.isReady ? "ready" : "not ready"
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let body = (try? encoder.encode(Body(status: status, checks: checks))) ?? Data()
        return Response(
            status: isGood ? .ok : .serviceUnavailable,
            headers: [.contentType: "application/json", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body + Data("\n".utf8))))
    }

    private struct Body: Encodable {
        var status: String
        var checks: [String: String]
    }
}
