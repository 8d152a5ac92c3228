import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Postgres
import SessionContract
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
            let problem = Self.problem(error, context.logger)
            let response = try problem.response(from: request, context: context)
            return request.method == .head ? response.createHeadResponse() : response
        }
    }

    private static func problem(_ error: any Error, _ logger: Logger) -> Problem {
        switch error {
        case let problem as Problem: return problem
        case let rejection as Rejection: return Problem(rejection)
        case let error as MessageError:
            guard case .malformed(_, let reason, let field) = error else {
                return Problem(.notFound, "unknownCommand", error.description)
            }
            return Problem(.badRequest, "malformed", field.map { "\($0): \(reason)" } ?? reason, field: field)
        case let error as HTTPError where error.status == .notFound:
            return Problem(.notFound, "notFound", "there is nothing at this path; see the API section of the README")
        case let error as HTTPError where error.status == .contentTooLarge:
            return BodyCheck.tooLarge
        case let error as HTTPError:
            return Problem(error.status, "badRequest", error.body ?? error.status.reasonPhrase)
        case let error as PostgresError where error.isConnectionLost:
            return Problem(
                .serviceUnavailable, "databaseUnavailable", "the database can't be reached now; try again in a moment",
                retryAfter: 1)
        // The request's time was up: see Patience.
        case PostgresError.cancelled, is CancellationError:
            return Problem(
                .serviceUnavailable, "databaseUnavailable",
                "the database doesn't answer now; try again in a moment, with the same Idempotency-Key if it had one",
                retryAfter: 1)
        case PostgresError.poolExhausted:
            return Problem(.serviceUnavailable, "overloaded", "too much at once; try again in a second", retryAfter: 1)
        default:
            // What went wrong inside is for the log, not for the caller.
            logger.error("a request failed", metadata: ["error": "\(error)"])
            return Problem(.internalServerError, "internal", "something went wrong here; try again, it is safe to")
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
        guard let header = request.headers[.authorization], header.hasPrefix("Bearer ") else {
            throw Problem(.unauthorized, "missingToken", "send the header Authorization: Bearer <access token>")
        }
        let caller = try await tokens.caller(of: String(header.dropFirst("Bearer ".count)))
        guard try await devices.isActive(caller) else {
            let why = try await devices.reason(for: caller)
            var problem = Problem(
                .unauthorized, "signedOut", "sign in again; \(why?.explanation ?? "this device isn't signed in")")
            problem.reason = why?.rawValue
            throw problem
        }
        var context = context
        context.caller = caller
        return try await next(request, context)
    }
}

/// Admits so many commands of an account a minute.
struct CommandLimit: RouterMiddleware {
    let commands: RateLimit<AccountID>

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        guard commands.admit(try context.requireCaller().account) else {
            throw Problem(
                .tooManyRequests, "tooManyCommands", "this account sends too many commands; wait a moment",
                retryAfter: commands.pause)
        }
        return try await next(request, context)
    }
}

extension HTTPField.Name {
    // Tokens of RFC 9110, section 5.6.2: these literals are names.
    static let traceParent = HTTPField.Name("traceparent")!
    static let idempotencyKey = HTTPField.Name("Idempotency-Key")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
}
