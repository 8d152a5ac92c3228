import API
import HTTPTypes
import Hummingbird
import Logging
import Postgres
import Vocabulary

/// Turns every error into a problem document, so that no path answers in another form or tells what it shouldn't.
struct Problems: RouterMiddleware {
    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.traceParent = TraceParent.valid(request.headers[.traceParent])
        do {
            return try await next(request, context)
        } catch {
            let error = Self.apiError(error, context.logger)
            if error.code.isLimit { LimitMetrics.hit(error.code.rawValue) }
            let response = try error.problemDocument()
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    private static func apiError(_ error: any Error, _ logger: Logger) -> APIError {
        switch error {
        case let error as APIError: return error
        case let rejection as Rejection: return APIError(rejection)
        case let error as MessageError:
            guard case .malformed(_, let reason, let field) = error else {
                return APIError(.unknownCommand, error.description)
            }
            return APIError(.malformed, field.map { "\($0): \(reason)" } ?? reason, field: field)
        case let error as HTTPError where error.status == .notFound:
            return APIError(.notFound, "There is nothing at this path; deploy/API.md lists the paths.")
        case let error as HTTPError where error.status == .contentTooLarge: return BodyCheck.tooLarge
        case let error as HTTPError: return APIError(.badRequest, error.body)
        case let error as PostgresError where error.isConnectionLost:
            return APIError(
                .databaseUnavailable, "The database can't be reached; try again in a moment.", retryAfter: 1)
        // The request's time was up: see Patience.
        case PostgresError.cancelled, is CancellationError:
            return APIError(
                .databaseUnavailable,
                "The database doesn't answer; try again in a moment, with the same Idempotency-Key if the request had one.",
                retryAfter: 1)
        case PostgresError.poolExhausted: return APIError(.overloaded, retryAfter: 1)
        default:
            // What went wrong inside is for the log, not for the caller.
            logger.error("a request failed", metadata: ["error": "\(error)"])
            return APIError(.internal)
        }
    }
}

/// Lets only callers with a valid access token of a device that isn't signed out pass.
struct Authentication: RouterMiddleware {
    let tokens: Tokens
    let devices: Devices

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        let caller = try await tokens.caller(of: request.bearer)
        try await devices.requireActive(caller)
        var context = context
        context.caller = caller
        return try await next(request, context)
    }
}

extension Request {
    /// The token that the request was sent with.
    /// - Throws: `missingToken`.
    var bearer: String {
        get throws(APIError) {
            guard let header = headers[.authorization], header.hasPrefix("Bearer ") else {
                throw APIError(.missingToken)
            }
            return String(header.dropFirst("Bearer ".count))
        }
    }
}

extension HTTPField.Name {
    // Tokens of RFC 9110, section 5.6.2: these literals are names.
    static let traceParent = HTTPField.Name("traceparent")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
}
