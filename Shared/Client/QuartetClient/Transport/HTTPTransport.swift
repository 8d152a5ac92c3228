import API
public import Foundation
import Vocabulary

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Requests as JSON over HTTP and the stream as server-sent events, by URLSession.
public final class HTTPTransport: Transport {
    private let base: URL
    private let headers: [String: String]
    private let exchanges: HTTPExchanges

    /// The largest answer to a request.
    static let replyLimit = 16 << 20

    /// - Parameters:
    ///   - url: Where the API is, as in `https://api.example.org`.
    ///   - headers: Sent with every request, besides those of the API.
    public init(_ url: URL, headers: [String: String] = [:]) {
        base = url
        self.headers = headers
        exchanges = HTTPExchanges()
    }

    public func send(_ request: TransportRequest) async throws -> TransportReply {
        var http = self.request(request.endpoint.method, request.endpoint.path, token: request.token)
        if request.endpoint.method == "POST" {
            http.setValue("application/json", forHTTPHeaderField: "Content-Type")
            http.httpBody = Data(request.body.isEmpty ? Array("{}".utf8) : request.body)
        }
        http.setValue(request.key?.description, forHTTPHeaderField: "Idempotency-Key")
        http.timeoutInterval = 30
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
        let isProblem = !(200..<300).contains(head.status) || head.isProblem
        return TransportReply(isProblem ? .failure(.init(head, body)) : .success(body), serverTime: head.date)
    }

    public func open(_ request: StreamRequest) async throws -> OpenedStream {
        var http = self.request("GET", "/v1/stream", token: request.token)
        http.setValue("text/event-stream", forHTTPHeaderField: "Accept")
        http.setValue(request.place, forHTTPHeaderField: "Last-Event-ID")
        // The connection notices silence earlier.
        http.timeoutInterval = 120
        let reader = StreamReader(exchanges.start(http))
        let head = try await reader.head()
        guard head.status == 200 else { throw APIError(head, try await reader.rest(upTo: Self.replyLimit)) }
        return OpenedStream(items: AsyncThrowingStream(unfolding: { try await reader.next() }), serverTime: head.date)
    }

    private func request(_ method: String, _ path: String, token: String?) -> URLRequest {
        var request = URLRequest(url: base.appending(path: path), cachePolicy: .reloadIgnoringLocalCacheData)
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        request.setValue(token.map { "Bearer \($0)" }, forHTTPHeaderField: "Authorization")
        return request
    }
}

/// Reads an answer that goes on.
private actor StreamReader {
    private let parts: AsyncThrowingStream<HTTPPart, any Error>.Iterator
    private var parser = ServerSentEventParser()
    private var waiting: ArraySlice<ServerSentEventParser.Item> = []

    init(_ parts: AsyncThrowingStream<HTTPPart, any Error>) {
        self.parts = parts.makeAsyncIterator()
    }

    private func part() async throws -> HTTPPart? {
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
        case .operationState, .serverTime: "GET"
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
        case .serverTime: "/.well-known/jwks.json"
        }
    }
}
