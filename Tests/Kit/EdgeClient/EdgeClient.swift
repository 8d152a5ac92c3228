public import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
public import NIOSSL

/// Speaks to a running session-client through its public HTTP API, and knows nothing else of it.
public struct EdgeClient: Sendable {
    /// How it answered.
    public struct Reply: Sendable, CustomStringConvertible {
        /// The HTTP status.
        public let status: Int
        /// The headers, by their names in lower case.
        public let headers: [String: String]
        /// The body; null where there is none.
        public let body: JSON

        /// Whether it was done.
        public var isSuccess: Bool { (200..<300).contains(status) && status != 202 }
        /// Whether asking again with the same Idempotency-Key may answer otherwise.
        public var isTransient: Bool { [202, 502, 503, 504].contains(status) }

        /// For failures.
        public var description: String { "\(status) \(body)" }
    }

    private let url: @Sendable () -> String
    private let http: HTTPClient

    /// - Parameters:
    ///   - url: Where the API is, as in `http://127.0.0.1:8080`. Asked for each request, since it may come back elsewhere.
    ///   - http: The connections.
    public init(http: HTTPClient, url: @Sendable @escaping () -> String) {
        self.http = http
        self.url = url
    }

    /// Connections for as many streams at a time as a test has.
    /// - Parameters:
    ///   - certificate: A file with the only certificate to trust.
    ///   - newest: The newest version of TLS to offer.
    public static func connections(
        trusting certificate: String? = nil, version: HTTPClient.Configuration.HTTPVersion = .automatic,
        upTo newest: TLSVersion? = nil
    ) -> HTTPClient {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 16_384
        configuration.timeout.connect = .seconds(5)
        configuration.httpVersion = version
        if let certificate {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(certificate)
            if let newest {
                tls.minimumTLSVersion = .tlsv1
                tls.maximumTLSVersion = newest
            }
            configuration.tlsConfiguration = tls
            // What TLS refuses once it refuses again.
            configuration.connectionPool.retryConnectionEstablishment = false
        }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    /// Sends a request.
    /// - Parameters:
    ///   - body: What is sent as JSON; a text is sent as it is.
    ///   - key: The Idempotency-Key.
    public func send(
        _ method: String, _ path: String, body: JSON? = nil, raw: [UInt8]? = nil, token: String? = nil,
        key: String? = nil, headers: [String: String] = [:]
    ) async throws -> Reply {
        var request = HTTPClientRequest(url: url() + path)
        request.method = .RAW(value: method)
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token)") }
        if let key { request.headers.add(name: "idempotency-key", value: key) }
        for (name, value) in headers { request.headers.replaceOrAdd(name: name, value: value) }
        if let bytes = raw ?? body.map({ Array("\($0)".utf8) }) {
            if headers["content-type"] == nil { request.headers.add(name: "content-type", value: "application/json") }
            request.body = .bytes(bytes)
        }
        let response = try await http.execute(request, timeout: .seconds(120))
        let buffer = try await response.body.collect(upTo: 16 << 20)
        var known: [String: String] = [:]
        for (name, value) in response.headers { known[name.lowercased()] = value }
        let text = String(buffer: buffer)
        return Reply(
            status: Int(response.status.code), headers: known,
            body: text.isEmpty ? .null : try JSON(parsing: text))
    }

    /// Opens a stream. It ends when the server ends it or the task is cancelled.
    /// - Parameters:
    ///   - groups: The group sessions to follow.
    ///   - filter: More of the query, as in `stream=contacts`.
    /// - Throws: ``Refused`` when there is none for this token.
    public func stream(
        token: String, following groups: [String] = [], filter: [String] = [], after lastEventID: String? = nil
    ) async throws -> ServerSentEvents {
        let query = (groups.map { "group=\($0)" } + filter).joined(separator: "&")
        var request = HTTPClientRequest(url: url() + "/v1/stream" + (query.isEmpty ? "" : "?\(query)"))
        request.headers.add(name: "authorization", value: "Bearer \(token)")
        if let lastEventID { request.headers.add(name: "last-event-id", value: lastEventID) }
        let response = try await http.execute(request, timeout: .seconds(120))
        guard response.status == .ok else {
            let text = String(buffer: try await response.body.collect(upTo: 1 << 20))
            throw Refused(Reply(status: Int(response.status.code), headers: [:], body: try JSON(parsing: text)))
        }
        return ServerSentEvents(body: response.body)
    }

    /// The request was not accepted.
    public struct Refused: Error, CustomStringConvertible {
        public let status: Int
        /// The problem.
        public let body: JSON

        init(_ reply: Reply) {
            (status, body) = (reply.status, reply.body)
        }

        public var description: String { "refused: \(status) \(body)" }
    }

    /// A new Idempotency-Key: a UUID of version 7 (RFC 9562).
    /// - Parameter days: When it claims to be from.
    public static func newKey(daysFromNow days: Int = 0) -> String {
        let milliseconds = UInt64((Date().timeIntervalSince1970 + Double(days) * 86_400) * 1000)
        let hex = { (number: UInt64, digits: Int) in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: max(0, digits - text.count)) + text.suffix(digits)
        }
        let time = hex(milliseconds, 12)
        return "\(time.prefix(8))-\(time.suffix(4))-7\(hex(.random(in: 0...0xFFF), 3))-"
            + "\(hex(0x8000 | .random(in: 0...0x3FFF), 4))-\(hex(.random(in: 0...0xFFFF_FFFF_FFFF), 12))"
    }
}
