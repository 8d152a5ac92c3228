import API
import HTTPTypes
import Hummingbird
import ServiceKit
import Vocabulary

/// What operators' API keys open. Where operators aren't configured, there is nothing at these paths.
struct OperatorRoutes: Sendable {
    let operators: Operators
    /// Of this process.
    let metrics: PrometheusMetrics
    let addresses: ClientAddress

    func add(to router: Router<EdgeContext>) {
        let root = router.group("v1/operator")
        let reads = root.add(
            middleware: OperatorAuthentication(operators: operators, addresses: addresses, role: .read)
        )
        .group(context: OperatorContext.self)
        reads.get { _, context in
            try Response.json(
                OperatorReply(key: context.caller.key, name: context.caller.name, role: context.caller.role))
        }
        reads.get("queries") { [operators] _, _ in try Response.json(NamedQueries(queries: operators.queries.all)) }
        reads.get("queries/{query}") { [operators] request, context in
            Response.json(try await operators.rows(of: context.parameters.require("query"), request.words).json)
        }
        reads.get("story/{id}") { [operators] request, context in
            let id: BusMessageID = try context.edge.id("id", of: request)
            return Response.json(try await operators.rows(of: "story", ["id": id.description]).json)
        }
        reads.get("told/{alarm}") { [operators] request, context in
            Response.json(try await operators.told(context.edge.id("alarm", of: request)).json)
        }
        reads.get("tail") { [operators] request, context in
            Response.json(try await operators.tail(since: context.edge.time("since", of: request)).json)
        }
        reads.get("groups/{group}") { [operators] request, context in
            let position = try Parameter<Int?>.number("at", in: 0...Int.max, "")
                .read(request.parameters(context.edge)).map(Int64.init)
            return try Response.json(
                try await operators.group(context.edge.id("group", of: request), at: position))
        }
        reads.get("metrics") { [metrics] _, _ in
            try Response.json(OperatorMetrics(text: metrics.text))
        }

        let acts = root.add(middleware: OperatorAuthentication(operators: operators, addresses: addresses, role: .act))
            .group(context: OperatorContext.self)
        acts.post("retry-dead-letter", use: act(RetryDeadLetter.self))
        acts.post("discard-dead-letter", use: act(DiscardDeadLetter.self))
        acts.post("retry-parked", use: act(RetryParked.self))
        acts.post("discard-parked", use: act(DiscardParked.self))
        acts.post("set-retention", use: act(SetRetention.self))
        acts.post("accept-truncation", use: act(AcceptTruncation.self))
        acts.post("redact", use: act(RedactAccount.self))
    }

    private func act<Act: OperatorAct>(
        _: Act.Type
    ) -> @Sendable (Request, OperatorContext) async throws -> Response {
        { [operators] request, context in
            let act = try Act(sent: await request.json(context.edge))
            return try Response.json(try await operators.act(act, by: context.caller))
        }
    }
}

/// Lets only operators with a key of this role pass.
struct OperatorAuthentication: RouterMiddleware {
    let operators: Operators
    let addresses: ClientAddress
    let role: OperatorRole

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        let caller = try await operators.owner(of: request.bearer, from: addresses.network(of: request, context))
        guard role == .read || caller.role == .act else { throw APIError(.keyMayOnlyRead) }
        var context = context
        context.operator = caller
        return try await next(request, context)
    }
}

/// The context of operators' routes.
struct OperatorContext: ChildRequestContext {
    var edge: EdgeContext
    let caller: Operator

    /// - Throws: `missingToken`.
    init(context: EdgeContext) throws {
        guard let caller = context.operator else { throw APIError(.missingToken) }
        (edge, self.caller) = (context, caller)
    }

    var coreContext: CoreRequestContextStorage {
        get { edge.coreContext }
        set { edge.coreContext = newValue }
    }
}

extension Request {
    /// The query parameters, the first of each name.
    fileprivate var words: [String: String] {
        Dictionary(uri.queryParameters.map { (String($0.key), String($0.value)) }) { first, _ in first }
    }
}

extension EdgeContext {
    /// A part of the path that is an id.
    fileprivate func id<Subject>(_ name: String, of request: Request) throws(APIError) -> ID<Subject> {
        try Parameter<ID<Subject>>.path(name, "").read(request.parameters(self))
    }

    /// A query parameter that is a time in microseconds since 1970.
    fileprivate func time(_ name: String, of request: Request) throws(APIError) -> Instant? {
        try Parameter<Int?>.number(name, in: 0...Int.max, "").read(request.parameters(self)).map {
            Instant(microseconds: Int64($0))
        }
    }
}
