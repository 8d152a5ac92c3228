import Crypto
public import Foundation
import QuartetAPI
import QuartetVocabulary

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as JSON over HTTP and the stream as server-sent events, by URLSession.
///
/// On Linux an app that may be behind a bad network takes `QuartetAsyncHTTP` instead: Foundation's URLSession ends the process there
/// when an answer breaks off in its head.
public final class HTTPTransport: Transport {
    private let base: URL
    private let headers: [String: String]
    private let exchanges: any HTTPExchanges

    /// The largest answer to a request.
    static let replyLimit = 16 << 20

    /// - Parameters:
    ///   - url: Where the API is, as in `https://api.example.org`.
    ///   - headers: Sent with every request, besides those of the API.
    public convenience init(_ url: URL, headers: [String: String] = [:]) {
        self.init(url, headers: headers, over: URLSessionExchanges())
    }

    package init(_ url: URL, headers: [String: String], over exchanges: any HTTPExchanges) {
        base = url
        self.headers = headers
        self.exchanges = exchanges
    }

    public func send(_ request: TransportRequest) async throws -> TransportReply {
        let endpoint = request.endpoint
        var http = self.request(endpoint.method, endpoint.path, endpoint.query, token: request.token)
        switch endpoint.method {
        case "POST":
            http.setValue("application/json", forHTTPHeaderField: "Content-Type")
            http.httpBody = Data(request.body.isEmpty ? Array("{}".utf8) : request.body)
        case "PUT":
            let digest = Data(SHA256.hash(data: request.body)).base64EncodedString()
            http.setValue("application/octet-stream", forHTTPHeaderField: "Content-Type")
            http.setValue("sha-256=:\(digest):", forHTTPHeaderField: "Content-Digest")
            http.httpBody = Data(request.body)
        default:
            if case .attachment(_, _, let bytes) = endpoint {
                http.setValue("bytes=\(bytes.lowerBound)-\(bytes.upperBound - 1)", forHTTPHeaderField: "Range")
            }
        }
        http.setValue(request.key?.description, forHTTPHeaderField: "Idempotency-Key")
        http.timeoutInterval = endpoint.isBulky ? 60 : TransportRequest.patience
        var (head, body): (HTTPHead?, [UInt8]) = (nil, [])
        for try await part in exchanges.start(http) {
            switch part {
            case .head(let value): head = value
            case .body(let bytes):
                body += bytes
                guard body.count <= Self.replyLimit else { throw TransportError.malformed("it is too long") }
            }
        }
        try Task.checkCancellation()
        guard let head else { throw TransportError.interrupted("there was no answer") }
        // An attachment has the type that its uploader gave it, which says nothing about the answer. Of the successes,
        // 202 alone can come with a problem: there is no outcome yet.
        let isProblem = !(200..<300).contains(head.status) || (head.status == 202 && head.isProblem)
        return TransportReply(isProblem ? .failure(try APIError(head, body)) : .success(body), serverTime: head.date)
    }

    public func open(_ request: StreamRequest) async throws -> OpenedStream {
        let groups = request.groups.map { URLQueryItem(name: "group", value: "\($0)") }
        var http = self.request("GET", "/v1/stream", groups, token: request.token)
        http.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        http.setValue(request.place, forHTTPHeaderField: "Last-Event-ID")
        // The connection notices silence earlier.
        http.timeoutInterval = 120
        let reader = StreamReader(exchanges.start(http))
        let head = try await reader.head()
        guard head.status == 200 else { throw try APIError(head, try await reader.rest(upTo: Self.replyLimit)) }
        return OpenedStream(items: AsyncThrowingStream(unfolding: { try await reader.next() }), serverTime: head.date)
    }

    private func request(
        _ method: String, _ path: String, _ query: [URLQueryItem], token: String?
    ) -> URLRequest {
        let url = base.appending(path: path)
        var request = URLRequest(
            url: query.isEmpty ? url : url.appending(queryItems: query), cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue(token.map { "Bearer \($0)" }, forHTTPHeaderField: "Authorization")
        return request
    }
}

/// Reads an answer that goes on.
private actor StreamReader {
    private let parts: AsyncThrowingStream<AnswerPart, any Error>.Iterator
    private var parser = ServerSentEventParser()
    private var waiting: ArraySlice<ServerSentEventParser.Item> = []

    init(_ parts: AsyncThrowingStream<AnswerPart, any Error>) {
        self.parts = parts.makeAsyncIterator()
    }

    private func part() async throws -> AnswerPart? {
        // A copy reads on where the original is.
        var parts = parts
        return try await parts.next(isolation: self)
    }

    func head() async throws -> HTTPHead {
        while let part = try await part() {
            if case .head(let head) = part { return head }
        }
        try Task.checkCancellation()
        throw TransportError.interrupted("there was no answer")
    }

    func rest(upTo limit: Int) async throws -> [UInt8] {
        var body: [UInt8] = []
        while case .body(let bytes)? = try await part(), body.count <= limit { body += bytes }
        return body
    }

    func next() async throws -> StreamItem? {
        while true {
            while let item = waiting.popFirst() {
                if let item = try StreamItem(item) { return item }
            }
            guard let part = try await part() else { return nil }
            if case .body(let bytes) = part { waiting = try parser.read(bytes)[...] }
        }
    }
}

extension TransportRequest.Endpoint {
    var method: String {
        switch self {
        case .operationState, .serverTime, .messages, .time, .drill, .upload, .attachment: "GET"
        case .chunks: "PUT"
        default: "POST"
        }
    }

    var path: String {
        switch self {
        case .signUp: "/v1/sign-up"
        case .signIn: "/v1/sign-in"
        case .signInCode: "/v1/sign-in/codes"
        case .token: "/v1/token"
        case .undo: "/v1/undo"
        case .signOut: "/v1/sign-out"
        case .confirm: "/v1/confirm"
        case .changePassword: "/v1/change-password"
        case .resetPassword: "/v1/reset-password"
        case .recoveryCodes: "/v1/recovery-codes"
        case .changePhone: "/v1/phone"
        case .verifyPhone: "/v1/phone/verification"
        case .command(let name): "/v1/commands/\(name)"
        case .operation(let name): "/v1/operations/\(name)"
        case .operationState(let id): "/v1/operations/\(id)"
        case .signal(let group): "/v1/groups/\(group)/signals"
        case .messages(let group, _): "/v1/groups/\(group)/messages"
        case .upload(let id): "/v1/uploads/\(id)"
        case .chunks(let id, let first): "/v1/uploads/\(id)/chunks/\(first)"
        case .attachment(let group, let id, _): "/v1/groups/\(group)/attachments/\(id)"
        case .time: "/v1/time"
        case .drill: "/v1/drill"
        case .streamToken: "/v1/stream/token"
        case .serverTime: "/.well-known/jwks.json"
        }
    }

    var query: [URLQueryItem] {
        guard case .messages(_, let query) = self else { return [] }
        return [
            URLQueryItem(name: "after", value: "\(query.after)"), URLQueryItem(name: "limit", value: "\(query.limit)"),
        ]
    }
}
