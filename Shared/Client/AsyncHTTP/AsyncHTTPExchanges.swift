import AsyncHTTPClient
public import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
public import QuartetClient
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPTransport {
    /// The same by AsyncHTTPClient, for apps on Linux.
    ///
    /// ```swift
    /// let connection = Connection(transport: HTTPTransport(asyncHTTP: url))
    /// ```
    ///
    /// - Parameters:
    ///   - url: Where the API is, as in `https://api.example.org`.
    ///   - headers: Sent with every request, besides those of the API.
    ///   - certificates: A file in PEM of whom to trust instead of the system's authorities.
    public convenience init(asyncHTTP url: URL, headers: [String: String] = [:], trusting certificates: URL? = nil) {
        self.init(url, headers: headers, over: AsyncHTTPExchanges(trusting: certificates))
    }
}

/// Runs requests on one HTTPClient.
final class AsyncHTTPExchanges: HTTPExchanges {
    private let client: HTTPClient
    private static let connectLimit: TimeAmount = .seconds(10)

    init(trusting certificates: URL?) {
        var security = TLSConfiguration.makeClientConfiguration()
        if let certificates { security.trustRoots = .file(certificates.path) }
        var configuration = HTTPClient.Configuration(
            tlsConfiguration: security, redirectConfiguration: .disallow,
            timeout: .init(connect: Self.connectLimit))
        configuration.connectionPool.idleTimeout = .seconds(30)
        // The stream takes one and the outbox up to seven, so that others never wait behind them.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 12
        // Whether to try again is the connection's to say.
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
    }

    deinit {
        // It keeps itself until its connections are closed.
        client.shutdown { _ in }
    }

    func start(_ request: URLRequest) -> AsyncThrowingStream<AnswerPart, any Error> {
        AsyncThrowingStream { continuation in
            let exchange = Task { [client] in
                do {
                    // The time until the head is there; what follows may take longer.
                    let response = try await client.execute(
                        Self.request(request), timeout: .seconds(Int64(request.timeoutInterval)))
                    continuation.yield(
                        .head(HTTPHead(status: Int(response.status.code)) { response.headers.first(name: $0) }))
                    try await Self.read(response.body, silentFor: .seconds(request.timeoutInterval)) {
                        continuation.yield(.body($0))
                    }
                    continuation.finish()
                } catch is CancellationError {
                    continuation.finish(throwing: CancellationError())
                } catch {
                    continuation.finish(throwing: Self.transportError(error))
                }
            }
            continuation.onTermination = { _ in exchange.cancel() }
        }
    }

    /// Reads a body. An HTTPClient has one limit for the silence in all its answers, and a request has one of its own. While the device
    /// sleeps nothing is heard, and no time passes.
    private static func read(
        _ body: HTTPClientResponse.Body, silentFor limit: Duration, _ part: @escaping @Sendable ([UInt8]) -> Void
    ) async throws {
        let heard = Mutex(SuspendingClock.now)
        try await withThrowingTaskGroup { group in
            group.addTask { @Sendable in
                for try await bytes in body {
                    heard.withLock { $0 = .now }
                    part(Array(buffer: bytes))
                }
            }
            group.addTask { @Sendable in
                while case let end = heard.withLock({ $0 }) + limit, end > .now {
                    try await Task.sleep(until: end, clock: .suspending)
                }
                throw TransportError.interrupted("the answer fell silent")
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private static func request(_ request: URLRequest) -> HTTPClientRequest {
        var copy = HTTPClientRequest(url: request.url?.absoluteString ?? "")
        copy.method = .init(rawValue: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] { copy.headers.add(name: name, value: value) }
        if let body = request.httpBody { copy.body = .bytes(body) }
        return copy
    }

    private static func transportError(_ error: any Error) -> TransportError {
        switch error {
        case let error as TransportError: error
        case let error as HTTPClientError where neverSent.contains(error): .unreachable("\(error)")
        // Nobody listens there, or nobody has that name.
        case is NIOConnectionError: .unreachable("\(error)")
        // The same for an address. Other numbers are also those of a connection that was open, whose request may have arrived:
        // a reset for instance, and on Linux a network that went away.
        case let error as IOError where [ECONNREFUSED, EADDRNOTAVAIL].contains(error.errnoCode):
            .unreachable("\(error)")
        default: .interrupted("\(error)")
        }
    }

    /// Errors before which nothing can have arrived at the server.
    private static let neverSent: [HTTPClientError] = [
        .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .alreadyShutdown,
    ]
}
