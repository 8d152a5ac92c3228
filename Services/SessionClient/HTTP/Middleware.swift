import HTTPTypes
import Hummingbird
import Logging
import QuartetAPI

/// Turns every error into a problem document, so that no path answers in another form or tells what it shouldn't.
struct Problems: RouterMiddleware {
    let answers: AnswerJournal?
    let refusals: RefusalPace
    let addresses: ClientAddress

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.traceParent = TraceParent.valid(request.headers[.traceParent])
        context.logger = context.logger.tracing(context.traceParent)
        do {
            let response = try await next(request, context)
            note(response, nil, to: request, context)
            return response
        } catch {
            let error = Self.apiError(error, context.logger)
            if error.code.isLimit { LimitMetrics.hit(error.code) }
            await refusals.wait(error.code, at: addresses.network(of: request, context))
            let response = try error.problemDocument()
            note(response, error.code, to: request, context)
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    private func note(_ response: Response, _ code: APIError.Code?, to request: Request, _ context: EdgeContext) {
        guard let answers else { return }
        answers.note(.http, Self.operation(of: request, context), response.status.code, code)
    }

    /// The name of the endpoint that a request is for.
    private static func operation(of request: Request, _ context: EdgeContext) -> String? {
        let path = context.endpointPath ?? ""
        guard let family = Endpoint.Family.allCases.first(where: { $0.route == path && request.method == .post }) else {
            return names["\(request.method.rawValue) \(path)"]
        }
        return context.parameters.get(family.parameter).flatMap { names["POST \(family.path)/\($0)"] }
    }

    /// By method and path.
    private static let names = Dictionary(
        (Endpoint.all.map(\.declaration) + HTTPEndpoint.all.map(\.declaration)).map {
            ("\($0.method.rawValue) \($0.path)", $0.name)
        }, uniquingKeysWith: { first, _ in first })

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
