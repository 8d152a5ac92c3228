import QuartetAPI
import QuartetVocabulary
import Synchronization

#if canImport(FoundationNetworking)
    import Foundation
    package import FoundationNetworking
#else
    package import Foundation
#endif

/// Carries requests over HTTP. Nothing is cached, no cookie is kept, and redirects aren't followed: the token is for this server
/// alone.
package protocol HTTPExchanges: Sendable {
    /// The answer's parts as they arrive; it fails with a ``TransportError``. Whoever stops reading cancels the request.
    func start(_ request: URLRequest) -> AsyncThrowingStream<AnswerPart, any Error>
}

/// The beginning of an answer.
package struct HTTPHead: Sendable {
    let status: Int
    /// When the server answered, by its clock.
    let date: Instant?
    let isProblem: Bool
    let retryAfter: Int?
    let key: ID<RequestSubject>?

    /// - Parameter value: That of a header field, by its name.
    package init(status: Int, _ value: (String) -> String?) {
        self.status = status
        date = value("Date").flatMap { Instant(httpDate: $0) }
        isProblem = value("Content-Type")?.hasPrefix("application/problem+json") ?? false
        retryAfter = value("Retry-After").flatMap { Int($0) }
        key = value("Idempotency-Key").flatMap { ID($0) }
    }
}

package enum AnswerPart: Sendable {
    case head(HTTPHead)
    case body([UInt8])
}

/// Runs requests on one URLSession.
final class URLSessionExchanges: HTTPExchanges {
    private let session: URLSession
    private let delegate = Delegate()

    init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.httpCookieStorage = nil
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The stream takes one and the outbox up to seven, so that others never wait behind them.
        configuration.httpMaximumConnectionsPerHost = 12
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }

    deinit {
        // The session keeps its delegate until then.
        session.invalidateAndCancel()
    }

    func start(_ request: URLRequest) -> AsyncThrowingStream<AnswerPart, any Error> {
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
        private let readers = Mutex<[Int: AsyncThrowingStream<AnswerPart, any Error>.Continuation]>([:])

        func remember(_ task: Int, _ reader: AsyncThrowingStream<AnswerPart, any Error>.Continuation) {
            readers.withLock { $0[task] = reader }
        }

        @discardableResult
        func forget(_ task: Int) -> AsyncThrowingStream<AnswerPart, any Error>.Continuation? {
            readers.withLock { $0.removeValue(forKey: task) }
        }

        private func reader(of task: URLSessionTask) -> AsyncThrowingStream<AnswerPart, any Error>.Continuation? {
            readers.withLock { $0[task.taskIdentifier] }
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            if let response = response as? HTTPURLResponse {
                reader(of: dataTask)?.yield(
                    .head(HTTPHead(status: response.statusCode) { response.value(forHTTPHeaderField: $0) }))
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
        var type: String
        var code: String
        var detail: String?
        var field: String?
        var reason: String?
        var retry: String?
        var retryAfter: Int?
        var details: [String: JSONValue]?
    }

    /// A problem document (RFC 9457) of the API.
    /// - Throws: `TransportError` if another server on the way answered: a proxy, or the page of a Wi-Fi.
    init(_ head: HTTPHead, _ body: [UInt8]) throws(TransportError) {
        guard head.isProblem, let problem = try? JSONDecoder().decode(Problem.self, from: Data(body)),
            problem.type == "/docs/errors/\(problem.code)"
        else { throw .malformed("status \(head.status) comes from somewhere on the way to it") }
        let known = Code(rawValue: problem.code)
        self.init(
            known ?? .refused, problem.detail ?? "The server answered with status \(head.status).",
            field: problem.field, retryAfter: problem.retryAfter ?? head.retryAfter)
        reason = problem.reason ?? (known == nil ? problem.code : nil)
        if known == nil {
            unknownCode = UnknownCode(status: head.status, retry: problem.retry.flatMap { Retry(rawValue: $0) })
        }
        details = problem.details
        current = (try? JSONMembers(body))?["current"]
        key = head.key
    }
}
