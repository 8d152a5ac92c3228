import API
import ContactsContract
import HTTPTypes
import Hummingbird
import NotificationsContract
import SessionContract
import Vocabulary

/// All routes that apps can call. A route only translates; an action answers.
struct Routes: Sendable {
    let actions: Actions
    let streams: Streams
    let tokens: Tokens
    let devices: Devices
    let addresses: ClientAddress
    let headers: ResponseHeaders
    let limits: RequestLimits
    let drain: Drain
    let versions: ClientVersions
    var deprecations = Deprecations()
    let console: ConsoleRoutes
    /// Nil if operators aren't configured.
    let operators: OperatorRoutes?

    /// The routes, and before them what every request goes through.
    func router() -> Router<EdgeContext> {
        let router = Router(context: EdgeContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(middleware: headers)
        router.add(middleware: Problems())
        router.add(middleware: AddressLimiting(limits: limits, addresses: addresses))
        router.add(middleware: versions)
        router.add(middleware: deprecations)
        router.get(".well-known/jwks.json") { [tokens] _, _ in
            var response = Response.json(tokens.keySet)
            // A new key is published before it signs: long enough for this to have passed.
            response.headers[.cacheControl] = "public, max-age=300"
            return response
        }
        let unsigned = router.group("v1")
        unsigned.post("sign-up", use: open(actions.signingUp.signUp, .created))
        unsigned.post("sign-in", use: open(actions.signingIn.signIn))
        unsigned.post("sign-in/codes", use: open(actions.phones.requestSignIn))
        unsigned.post("token", use: open(actions.sessions.refresh))
        unsigned.post("undo", use: open(actions.recovery.undo))

        let signedIn = router.group("v1").add(middleware: Authentication(tokens: tokens, devices: devices))
            .add(middleware: AccountLimiting(limits: limits)).group(context: SignedInContext.self)
        signedIn.post("sign-out", use: signOut)
        signedIn.post("confirm", use: reply(actions.confirmations.confirm))
        signedIn.post("change-password", use: noContent(actions.confirmations.changePassword))
        signedIn.post("reset-password", use: noContent(actions.confirmations.resetPassword))
        signedIn.post("recovery-codes", use: reply(actions.recovery.makeCodes, .created))
        signedIn.post("phone", use: reply(actions.phones.change))
        signedIn.post("phone/verification", use: reply(actions.phones.verify))
        signedIn.post("commands/{type}", use: command)
        signedIn.post("operations/{operation}", use: startOperation)
        addReads(to: signedIn)
        addGroups(to: signedIn)
        addPictures(to: signedIn)
        signedIn.get("time") { [time = actions.time] _, context in
            try Response.json(try time.now(for: context.caller, since: context.edge.arrived))
        }
        addAttachments(to: signedIn)
        signedIn.get("stream", use: stream)
        signedIn.post("stream/token", use: extendStream)
        signedIn.get("stream/hashes") { [streams] _, context in
            try Response.json(try await streams.hashes(for: context.caller))
        }
        operators?.add(to: router)
        console.add(to: router, forOperators: operators != nil)
        refuseOtherMethods(in: router)
        return router
    }

    private func addReads(to signedIn: RouterGroup<SignedInContext>) {
        let (operations, reads, history) = (actions.operations, actions.reads, actions.history)
        signedIn.get("operations") { request, context in
            let limit = try request.number("limit", in: OperationsPage.limits) ?? OperationsPage.limits.upperBound
            return Response.json(try await operations.list(limit: limit, by: context.caller).json)
        }
        signedIn.get("operations/{operation}") { _, context in
            try Self.response(try await operations.get(context.id("operation"), by: context.caller))
        }
        signedIn.get("account") { _, context in
            Response.json(try await reads.account(of: context.caller).json)
        }
        signedIn.get("contacts") { request, context in
            let query = ContactsQuery(
                role: try request.choice("role"), ping: try request.choice("ping"),
                limit: try request.number("limit", in: ContactsQuery.limits), after: try request.id("after"))
            return try Response.json(try await reads.contacts(query, of: context.caller))
        }
        signedIn.get("contacts/{account}") { _, context in
            try Response.json(try await reads.contact(context.id("account"), of: context.caller))
        }
        signedIn.get("contact-codes/{code}") { _, context in
            try Response.json(try await reads.owner(of: context.id("code"), for: context.caller))
        }
        signedIn.get("notifications") { request, context in
            let query = NotificationsQuery(
                limit: try request.number("limit", in: NotificationsQuery.limits),
                category: try request.choice("category"),
                isUnread: try request.choice("unread", of: YesOrNo.self) == .yes,
                before: request.uri.queryParameters["before"].map(String.init))
            return try Response.json(try await history.list(query, by: context.caller))
        }
        signedIn.get("notifications/{id}") { _, context in
            try Response.json(try await history.get(context.id("id"), by: context.caller))
        }
    }

    // MARK: Translating

    func call(_ request: Request, _ context: EdgeContext) throws(APIError) -> Call {
        Call(
            key: try IdempotencyKey(request.headers[.idempotencyKey]),
            address: addresses.network(of: request, context),
            correlationID: context.correlationID, traceParent: context.traceParent, logger: context.logger)
    }

    /// A route that needs no sign-in.
    private func open<Body: MessageBody, Reply: Encodable & SendableMetatype>(
        _ action: @escaping @Sendable (Body, Call) async throws -> Reply, _ status: HTTPResponse.Status = .ok
    ) -> @Sendable (Request, EdgeContext) async throws -> Response {
        { request, context in
            let body: Body = try await request.decoded(context)
            return try .json(try await action(body, call(request, context)), status: status)
        }
    }

    private func reply<Body: MessageBody, Reply: Encodable & SendableMetatype>(
        _ action: @escaping @Sendable (Body, Caller, Call) async throws -> Reply, _ status: HTTPResponse.Status = .ok
    ) -> @Sendable (Request, SignedInContext) async throws -> Response {
        { request, context in
            let body: Body = try await request.decoded(context.edge)
            return try .json(try await action(body, context.caller, call(request, context.edge)), status: status)
        }
    }

    private func noContent<Body: MessageBody>(
        _ action: @escaping @Sendable (Body, Caller, Call) async throws -> Void
    ) -> @Sendable (Request, SignedInContext) async throws -> Response {
        { request, context in
            let body: Body = try await request.decoded(context.edge)
            try await action(body, context.caller, call(request, context.edge))
            return Response(status: .noContent)
        }
    }

    // MARK: Routes with replies of their own

    private func signOut(_ request: Request, _ context: SignedInContext) async throws -> Response {
        let body: SignOutRequest = try await request.decoded(context.edge)
        let operation = try await actions.sessions.signOut(body, by: context.caller, call(request, context.edge))
        guard let operation else { return Response(status: .noContent) }
        return Response(status: .accepted, headers: [.location: "/v1/operations/\(operation)"])
    }

    private func command(_ request: Request, _ context: SignedInContext) async throws -> Response {
        let name = try context.parameters.require("type")
        guard let type = appCommands[name] else {
            throw APIError(.unknownCommand, "There is no command \(name.prefix(100)) for apps.", field: "type")
        }
        let call = try call(request, context.edge)
        let reply = try await actions.commands.send(
            try await request.decoded(as: type, context.edge), by: context.caller, call)
        // What commands are answered with is JSON already.
        guard let event = reply.event, let result = reply.result else {
            return .json(Array(#"{"outcome":"accepted","command":"\#(reply.command)"}"#.utf8))
        }
        let head = #"{"outcome":"accepted","command":"\#(reply.command)","event":"\#(event)","result":"#
        return .json(Array(head.utf8) + result + [UInt8(ascii: "}")])
    }

    private func startOperation(_ request: Request, _ context: SignedInContext) async throws -> Response {
        let name = try context.parameters.require("operation")
        guard let type = appOperations[name] else {
            throw APIError(.unknownOperation, "There is no operation \(name.prefix(100)).", field: "operation")
        }
        return try Self.response(
            try await actions.operations.start(
                try await request.decoded(as: type, context.edge), by: context.caller, call(request, context.edge)))
    }

    /// 200 when it has ended, 202 while it runs.
    private static func response(_ reply: OperationReply) throws -> Response {
        var response = try Response.json(
            reply, adding: "result", reply.result, status: reply.state == .running ? .accepted : .ok)
        if reply.state == .running {
            response.headers[.location] = "/v1/operations/\(reply.id)"
            response.headers[.retryAfter] = "1"
        }
        return response
    }

    // MARK: Other methods

    /// A path that has other methods isn't unknown.
    private func refuseOtherMethods(in router: Router<EdgeContext>) {
        let methods = Dictionary(grouping: router.routes, by: \.path.description)
        for routes in methods.values {
            guard let path = routes.first?.path else { continue }
            var allowed = routes.map(\.method)
            if allowed.contains(.get) { allowed.append(.head) }
            let names = allowed.map(\.rawValue).sorted()
            for method in Self.methods where !allowed.contains(method) {
                router.on(path, method: method) { _, _ -> Response in
                    var error = APIError(.methodNotAllowed, "This path only allows \(names.joined(separator: ", ")).")
                    error.allowed = names
                    throw error
                }
            }
        }
    }

    private static let methods: [HTTPRequest.Method] = [.get, .head, .post, .put, .patch, .delete, .options]
}
