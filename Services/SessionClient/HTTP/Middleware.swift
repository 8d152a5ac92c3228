import API
import HTTPTypes
import Hummingbird
import Logging

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
            if error.code.isLimit { LimitMetrics.hit(error.code) }
            let response = try error.problemDocument()
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    private static func apiError(_ error: any Error, _ logger: Logger) -> APIError {
        switch error {
        case let error as HTTPError where error.status == .notFound:
            .noSuchPath
        case let error as HTTPError where error.status == .contentTooLarge: BodyCheck.tooLarge
        case let error as HTTPError: APIError(.badRequest, error.body)
        default: APIError(thrown: error, logger)
        }
    }
}

extension APIError {
    static let noSuchPath = APIError(.notFound, "There is nothing at this path; /docs lists the paths.")
}

extension HTTPField.Name {
    // Tokens of RFC 9110, section 5.6.2: these literals are names.
    static let traceParent = HTTPField.Name("traceparent")!
    static let idempotencyReplayed = HTTPField.Name("Idempotency-Replayed")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let forwardedFor = HTTPField.Name("X-Forwarded-For")!
}
