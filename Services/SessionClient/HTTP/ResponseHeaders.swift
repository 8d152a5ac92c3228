import HTTPTypes
import Hummingbird

/// What every response says besides its answer: its ``AnswerFields``, that browsers mustn't guess its type, that they
/// come by TLS from now on (HSTS, RFC 6797), and which web pages may read it (CORS,
/// https://fetch.spec.whatwg.org/#http-cors-protocol).
///
/// Tokens travel in a header that only the app's own code sets, never in cookies. So a page that isn't allowed can send
/// nothing in a person's name either.
struct ResponseHeaders: RouterMiddleware {
    let origins: WebOrigins
    let strictTransportAge: Duration
    /// Whether this process speaks TLS.
    let isEncrypted: Bool
    let isBehindProxies: Bool
    let drain: Drain

    private static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE"
    private static let readable =
        "Accept-Ranges, Content-Disposition, Content-Range, Deprecation, ETag, Idempotency-Key, Idempotency-Replayed, Link, Location, "
        + "RateLimit, RateLimit-Policy, Retry-After, Sunset"
    private static let sendable =
        "Authorization, Content-Digest, Content-Type, Idempotency-Key, If-None-Match, If-Range, Last-Event-ID, Quartet-Client, "
        + "Range, traceparent"

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        let origin = request.headers[.origin].flatMap { origins.allow($0) ? $0 : nil }
        var response: Response
        if origin != nil, request.method == .options, request.headers[.accessControlRequestMethod] != nil {
            response = Response(
                status: .noContent,
                headers: [
                    .accessControlAllowMethods: Self.methods, .accessControlAllowHeaders: Self.sendable,
                    .accessControlMaxAge: "3600",
                ])
        } else {
            response = try await next(request, context)
        }
        response.headers[.xContentTypeOptions] = "nosniff"
        for (name, value) in context.fields.all {
            if let name = HTTPField.Name(name) { response.headers[name] = value }
        }
        if strictTransportAge > .zero, isEncrypted || isBehindProxies && request.headers[.forwardedProto] == "https" {
            response.headers[.strictTransportSecurity] = "max-age=\(strictTransportAge.components.seconds)"
        }
        // The next request of this client should go elsewhere. HTTP/2 says so in its own way when the server stops.
        if drain.isBegun, !context.isMultiplexed { response.headers[.connection] = "close" }
        if case .listed = origins { response.headers.append(HTTPField(name: .vary, value: "Origin")) }
        if let origin {
            response.headers[.accessControlAllowOrigin] = origins == .all ? "*" : origin
            response.headers[.accessControlExposeHeaders] = Self.readable
        }
        return response
    }
}

extension HTTPField.Name {
    fileprivate static let forwardedProto = HTTPField.Name("X-Forwarded-Proto")!
}
