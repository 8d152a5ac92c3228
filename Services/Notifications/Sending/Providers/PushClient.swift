import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOSSL
import ServiceLifecycle

/// Posts to push services: one HTTP client for all of them, so connections are kept. Follows no redirections. For a stranger's server
/// there is one of its own (``StrangersClient``).
package final class PushClient: Service, Sendable {
    /// What a push service answered.
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
        /// What it says in `Retry-After` (RFC 9110, section 10.2.3), in seconds or as a date.
        let retryAfter: Duration?
        /// What it says about the message in a header.
        let id: String?

        /// Whether it says nothing but that another time may be better.
        var isOutOfOrder: Bool { status == 429 || 500..<600 ~= status }
    }

    /// Why there was no answer.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// Whether another time may be better: whoever was asked is there.
        var mayPass = false
    }

    private let http: HTTPClient
    /// Two of them, for a token and a push, last no longer than sending a push may.
    private static let patience: TimeAmount = .seconds(5)
    /// Less, so that what can't be reached isn't taken for what is slow.
    private static let connectPatience: TimeAmount = .seconds(3)
    /// In milliseconds.
    private static let acknowledgementLimit = 10_000
    private static let answerLimit = 64 * 1024
    private static let late = "none within five seconds"

    /// - Parameter authorities: A file of certificates in PEM that are trusted beside the system's; nil for none.
    /// - Throws: if the file can't be read.
    package convenience init(authorities: String?) throws { try self.init(authorities: authorities, only: nil) }

    /// One that says soon if a server can't be reached, instead of connecting again.
    /// - Throws: if the file can't be read.
    package static func impatient(authorities: String?) throws -> PushClient {
        try PushClient(authorities: authorities, only: nil, connectsOnce: true)
    }

    /// - Parameter only: A server's name, and the one address to which it leads; nil for any servers.
    init(authorities: String?, only: (name: String, address: String)?, connectsOnce: Bool = false) throws {
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
        if connectsOnce {
            configuration.timeout.connect = Self.connectPatience
            configuration.connectionPool.retryConnectionEstablishment = false
        }
        let address = only?.address
        let prepare: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in
            // Whatever looked the name up, nothing is sent to another address.
            if let address, channel.remoteAddress?.ipAddress != address {
                // The pool only forgets it.
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(Failure(description: "connected to another address"))
            }
            return Self.findDeadPeer(on: channel)
        }
        configuration.http1_1ConnectionDebugInitializer = prepare
        configuration.http2ConnectionDebugInitializer = prepare
        if let only {
            configuration.dnsOverride = [only.name: only.address]
            // The next try may go to another address of the name.
            configuration.connectionPool.retryConnectionEstablishment = false
        }
        http = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Closes a connection whose peer leaves what is sent unacknowledged. It would be used for a quarter of an hour: only its streams
    /// time out (RFC 5482).
    @Sendable private static func findDeadPeer(on channel: any Channel) -> EventLoopFuture<Void> {
        #if canImport(Glibc)
            channel.setOption(.tcpOption(.init(rawValue: CInt(TCP_USER_TIMEOUT))), value: acknowledgementLimit)
        #else
            channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }

    /// Closes the connections once everything that sends has stopped: as a service, it belongs before the others.
    package func run() async throws {
        try? await gracefulShutdown()
        try? await http.shutdown()
    }

    /// One that never ran, because settings didn't fit together.
    deinit { http.shutdown { _ in } }

    /// - Throws: ``Failure`` if there was no whole answer within five seconds. It may have been done all the same.
    func post(
        _ url: String, _ headers: [(String, String)], _ body: [UInt8], idHeader: String? = nil
    ) async throws(Failure) -> Answer {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        request.body = .bytes(body)
        do { return try await whole(request, idHeader) } catch {
            let late: [HTTPClientError] = [.deadlineExceeded, .readTimeout]
            let isLate = (error as? Failure)?.mayPass ?? (error as? HTTPClientError).map(late.contains) ?? false
            throw Failure(description: "no answer: \(isLate ? Self.late : "\(error)")", mayPass: isLate)
        }
    }

    /// The time limit of a request ends with the head of its answer, and that of a read with each piece; this one doesn't.
    private func whole(_ request: HTTPClientRequest, _ idHeader: String?) async throws -> Answer {
        try await withThrowingTaskGroup(of: Answer?.self) { [http] group in
            group.addTask {
                let response = try await http.execute(request, timeout: Self.patience)
                let bytes = try await response.body.collect(upTo: Self.answerLimit)
                return Answer(
                    status: Int(response.status.code), body: Array(bytes.readableBytesView),
                    retryAfter: response.headers.first(name: "retry-after").flatMap(Self.duration),
                    id: idHeader.flatMap { response.headers.first(name: $0) })
            }
            group.addTask {
                try await Task.sleep(for: .nanoseconds(Self.patience.nanoseconds))
                return nil
            }
            defer { group.cancelAll() }
            guard let answer = try await group.next() ?? nil else {
                throw Failure(description: Self.late, mayPass: true)
            }
            return answer
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
