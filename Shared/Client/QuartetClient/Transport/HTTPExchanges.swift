import API
import Foundation
import Synchronization
import Vocabulary

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The beginning of an answer.
struct HTTPHead: Sendable {
    let status: Int
    /// When the server answered, by its clock.
    let date: Instant?
    let isProblem: Bool
    let retryAfter: Int?
    let key: ID<RequestSubject>?

    init(_ response: HTTPURLResponse) {
        status = response.statusCode
        date = response.value(forHTTPHeaderField: "Date").flatMap { Instant(httpDate: $0) }
        isProblem =
            response.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("application/problem+json") ?? false
        retryAfter = response.value(forHTTPHeaderField: "Retry-After").flatMap { Int($0) }
        key = response.value(forHTTPHeaderField: "Idempotency-Key").flatMap { ID($0) }
    }
}

enum HTTPPart: Sendable {
    case head(HTTPHead)
    case body([UInt8])
}

/// Runs requests on one URLSession. Nothing is cached, no cookie is kept, and redirects aren't followed: the token is for this
/// server alone.
final class HTTPExchanges: Sendable {
    private let session: URLSession
    private let delegate = Delegate()

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // A stream takes one.
        configuration.httpMaximumConnectionsPerHost = 8
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        // The session keeps its delegate until then.
        session.invalidateAndCancel()
    }

    /// The answer's parts as they arrive. Whoever stops reading cancels the request.
    func start(_ request: URLRequest) -> AsyncThrowingStream<HTTPPart, any Error> {
        let task = session.dataTask(with: request)
        return AsyncThrowingStream { continuation in
            continuation.onTermination = { [delegate] _ in
                delegate.forget(task.taskIdentifier)
                task.cancel()
            }
            delegate.remember(task.taskIdentifier, continuation)
            task.resume()
        }
    }

    private final class Delegate: NSObject, URLSessionDataDelegate {
        private let readers = Mutex<[Int: AsyncThrowingStream<HTTPPart, any Error>.Continuation]>([:])

        func remember(_ task: Int, _ reader: AsyncThrowingStream<HTTPPart, any Error>.Continuation) {
            readers.withLock { $0[task] = reader }
        }

        @discardableResult
        func forget(_ task: Int) -> AsyncThrowingStream<HTTPPart, any Error>.Continuation? {
            readers.withLock { $0.removeValue(forKey: task) }
        }

        private func reader(of task: URLSessionTask) -> AsyncThrowingStream<HTTPPart, any Error>.Continuation? {
            readers.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if let response = response as? HTTPURLResponse {
                reader(of: dataTask)?.yield(.head(HTTPHead(response)))
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            reader(of: dataTask)?.yield(.body(Array(data)))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let reader = forget(task.taskIdentifier) else { return }
            if let error { reader.finish(throwing: TransportError(error)) } else { reader.finish() }
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }
}

extension TransportError {
    /// Codes for which nothing can have arrived at the server.
    private static let neverSent: Set<URLError.Code> = [
        .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateNotYetValid,
        .serverCertificateHasUnknownRoot,
    ]

    init(_ error: any Error) {
        let isUnsent = (error as? URLError).map { Self.neverSent.contains($0.code) } ?? false
        self = isUnsent ? .unreachable(error.localizedDescription) : .interrupted(error.localizedDescription)
    }
}

extension APIError {
    private struct Problem: Decodable {
        var code: String?
        var detail: String?
        var field: String?
        var reason: String?
        var retryAfter: Int?
    }

    /// A problem document (RFC 9457), or what another server on the way answered instead.
    init(_ head: HTTPHead, _ body: [UInt8]) {
        let problem = try? JSONDecoder().decode(Problem.self, from: Data(body))
        let known = problem?.code.flatMap { Code(rawValue: $0) }
        self.init(
            known ?? (head.status >= 500 ? .overloaded : head.status == 401 ? .invalidToken : .refused),
            problem?.detail ?? "The server answered with status \(head.status).", field: problem?.field,
            retryAfter: problem?.retryAfter ?? head.retryAfter)
        reason = problem?.reason ?? (known == nil ? problem?.code : nil)
        current = (try? JSONMembers(body))?["current"]
        key = head.key
    }
}
