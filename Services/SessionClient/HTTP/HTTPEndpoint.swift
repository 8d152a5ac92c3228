import HTTPTypes
import Hummingbird
import QuartetAPI
import QuartetVocabulary

/// Something that only HTTP carries.
struct HTTPEndpoint: Sendable {
    var declaration: Endpoint.Declaration
    /// Why nothing else carries it.
    let reason: String
    let respond: @Sendable (Routes, Request, EdgeContext, Admitted) async throws -> Response

    /// Something that callers ask.
    static func signedIn<each Value: Sendable>(
        _ name: String, _ method: Endpoint.Method, _ path: String, _ summary: String, because reason: String,
        _ parameters: repeat Parameter<each Value>, body: RequestContent? = nil, replies: [ReplyDeclaration],
        refusals: [APIError.Code] = [], impossible: Set<APIError.Code> = [], limit: RequestLimits.Kind? = .reads,
        isDecided: Bool = true,
        respond: @escaping @Sendable (Routes, Request, SignedInContext, repeat each Value) async throws -> Response
    ) -> HTTPEndpoint {
        HTTPEndpoint(
            declaration: Endpoint.Declaration(
                name: name, method: method, path: path, access: .signedIn, summary: summary,
                parameters: Endpoint.declarations(of: repeat each parameters), body: body, replies: replies,
                refusals: refusals, impossible: impossible, limit: limit, isDecided: isDecided),
            reason: reason
        ) { routes, request, context, admitted in
            guard let caller = admitted.caller else { throw APIError(.missingToken) }
            let texts = request.parameters(context)
            return try await respond(
                routes, request, SignedInContext(edge: context, caller: caller),
                repeat (each parameters).read(texts))
        }
    }
}

/// The context of a request of someone who is signed in.
struct SignedInContext: Sendable {
    let edge: EdgeContext
    let caller: Caller
}

extension Routes {
    func add(_ endpoints: [HTTPEndpoint], to router: Router<EdgeContext>) {
        for endpoint in endpoints {
            let declaration = endpoint.declaration
            router.on(RouterPath(declaration.path), method: declaration.method.inHTTP) { request, context in
                let admitted = try await admit(request, context, to: declaration.access, as: declaration.limit)
                context.fields.deprecated.note(
                    declaration, request.parameters(context), by: request.headers[.quartetClient], context.logger)
                return try await endpoint.respond(self, request, context, admitted)
            }
        }
    }
}
