import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
package import ServiceLifecycle

/// Posts to push services: one HTTP client for all of them, so connections are kept. Follows no redirections.
package final class PushClient: Service, Sendable {
    /// What a push service answered.
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
        /// What it says in `Retry-After` (RFC 9110, section 10.2.3), in seconds or as a date.
        let retryAfter: Duration?
        /// What it says about the message in a header.
        let id: String?
    }

    /// Why there was no answer.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let http: HTTPClient
    private static let patience: TimeAmount = .seconds(8)
    private static let answerLimit = 64 * 1024

    /// - Parameter authorities: A file of certificates in PEM that are trusted beside the system's; nil for none.
    /// - Throws: if the file can't be read.
    package init(authorities: String?) throws {
        var configuration = HTTPClient.Configuration()
        if let authorities {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authorities))]
            configuration.tlsConfiguration = tls
        }
        configuration.redirectConfiguration = .disallow
        configuration.timeout.connect = Self.patience
        configuration.timeout.read = Self.patience
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes the connections once everything that sends has stopped: as a service, it belongs before the others.
    package func run() async throws {
        try? await gracefulShutdown()
        try? await http.shutdown()
    }

    /// One that never ran, because settings didn't fit together.
    deinit { http.shutdown { _ in } }

    /// - Throws: ``Failure`` if there was no whole answer within eight seconds. It may have been done all the same.
    func post(
        _ url: String, _ headers: [(String, String)], _ body: [UInt8], idHeader: String? = nil
    ) async throws(Failure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(body)
        do {
            let response = try await http.execute(request, timeout: Self.patience)
            let bytes = try await response.body.collect(upTo: Self.answerLimit)
            return Answer(
                status: Int(response.status.code), body: Array(bytes.readableBytesView),
                retryAfter: response.headers.first(name: "retry-after").flatMap(Self.duration),
                id: idHeader.flatMap { response.headers.first(name: $0) })
        } catch {
            throw Failure(description: "no answer: \(error)")
        }
    }

    /// Reads a `Retry-After`.
    static func duration(_ text: String) -> Duration? {
        if let seconds = Int64(text) { return seconds >= 0 ? .seconds(min(seconds, 86_400)) : nil }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(identifier: "GMT")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        guard let date = formatter.date(from: text) else { return nil }
        return .seconds(min(max(date.timeIntervalSinceNow, 0), 86_400))
    }
}
