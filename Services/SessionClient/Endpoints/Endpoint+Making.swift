import QuartetAPI
import QuartetSessionClientOrchestration
import QuartetVocabulary

/// A list, one expression a line: each is checked by itself, which keeps the compiler quick.
@resultBuilder
enum ListBuilder<Element> {
    static func buildExpression(_ element: Element) -> [Element] { [element] }
    static func buildBlock(_ elements: [Element]...) -> [Element] { elements.flatMap(\.self) }
}

extension Endpoint {
    /// Something that needs no sign-in.
    static func open<Body: MessageBody, Result: EndpointResult>(
        _ name: String, _ method: Method, _ path: String, _ summary: String, refusals: [APIError.Code] = [],
        impossible: Set<APIError.Code> = [],
        answer: @escaping @Sendable (Actions, Body, Call) async throws -> Result
    ) -> Endpoint {
        Endpoint(
            declaration: Declaration(
                name: name, method: method, path: path, access: .open, summary: summary, body: .json(Body.self),
                replies: Result.replies, refusals: refusals, impossible: impossible, limit: .commands)
        ) { actions, request in try await answer(actions, request.decoded(), request.call).reply() }
    }

    /// Something that callers ask without sending a body.
    /// - Parameter limit: By default, reading counts as a read and the rest as commands.
    static func signedIn<each Value: Sendable, Result: EndpointResult>(
        _ name: String, _ method: Method, _ path: String, _ summary: String,
        _ parameters: repeat Parameter<each Value>, refusals: [APIError.Code] = [], limit: RequestLimits.Kind? = nil,
        answer: @escaping @Sendable (Actions, SignedInRequest, repeat each Value) async throws -> Result
    ) -> Endpoint {
        Endpoint(
            declaration: Declaration(
                name: name, method: method, path: path, access: .signedIn, summary: summary,
                parameters: declarations(of: repeat each parameters), replies: Result.replies, refusals: refusals,
                limit: limit ?? (method == .get ? .reads : .commands))
        ) { actions, request in
            try await answer(
                actions, request.signedIn(), repeat (each parameters).read(request.parameters)
            ).reply()
        }
    }

    /// Something that callers ask with a body.
    static func signedIn<Body: MessageBody, each Value: Sendable, Result: EndpointResult>(
        _ name: String, _ method: Method, _ path: String, _ summary: String, sending body: Body.Type,
        _ parameters: repeat Parameter<each Value>, refusals: [APIError.Code] = [],
        limit: RequestLimits.Kind? = .commands,
        isDecided: Bool = true,
        answer: @escaping @Sendable (Actions, Body, SignedInRequest, repeat each Value) async throws -> Result
    ) -> Endpoint {
        Endpoint(
            declaration: Declaration(
                name: name, method: method, path: path, access: .signedIn, summary: summary,
                parameters: declarations(of: repeat each parameters), body: .json(body), replies: Result.replies,
                refusals: refusals, limit: limit, isDecided: isDecided)
        ) { actions, request in
            let signedIn = try request.signedIn()
            let values = (repeat try (each parameters).read(request.parameters))
            return try await answer(actions, request.decoded(), signedIn, repeat each values).reply()
        }
    }

    /// A command.
    static func command<Body: MessageBody>(
        _ body: Body.Type, _ summary: String, refusals: [APIError.Code] = []
    ) -> Endpoint {
        Endpoint(
            declaration: Declaration(
                name: body.type, method: .post, path: "\(Family.commands.path)/\(body.type)", access: .signedIn,
                summary: summary, body: .json(body), replies: CommandReply.replies, refusals: refusals,
                limit: Body.isUrgent ? .urgent : Family.commands.limit, family: .commands)
        ) { actions, request in
            let signedIn = try request.signedIn()
            return try await actions.commands.send(request.decoded(body), by: signedIn.caller, signedIn.call).reply()
        }
    }

    /// An operation.
    static func operation<Body: OperationRequest>(
        _ body: Body.Type, _ summary: String, refusals: [APIError.Code] = []
    ) -> Endpoint {
        Endpoint(
            declaration: Declaration(
                name: body.type, method: .post, path: "\(Family.operations.path)/\(body.type)", access: .signedIn,
                summary: summary, body: .json(body),
                replies: OperationReply.replies("\(body.type)Reply") { try Schema(of: Body.Result.self) },
                refusals: refusals,
                limit: Family.operations.limit, family: .operations)
        ) { actions, request in
            let signedIn = try request.signedIn()
            return try await actions.operations.start(
                request.decoded(body), by: signedIn.caller, signedIn.call
            ).reply()
        }
    }

    static func declarations<each Value>(of parameters: repeat Parameter<each Value>) -> [ParameterDeclaration] {
        var declarations: [ParameterDeclaration] = []
        for parameter in repeat each parameters { declarations.append(parameter.declaration) }
        return declarations
    }
}
