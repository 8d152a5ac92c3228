import HTTPTypes
import Hummingbird
import QuartetAPI
import QuartetVocabulary
import ServiceKit

/// Serves endpoints over HTTP. A route only translates; an action answers.
struct Routes: Sendable {
    let actions: Actions
    let clock: DatabaseClock
    let admission: Admission
    let addresses: ClientAddress
    let refusals: RefusalPace
    let headers: ResponseHeaders
    let drain: Drain
    let versions: ClientVersions
    let answers: AnswerJournal?
    let console: ConsoleRoutes
    /// What browsers subscribe to pushes with; nil if nobody sends them any.
    let pushKey: String?

    /// The routes, and before them what every request goes through.
    func router() -> Router<EdgeContext> {
        let router = Router(context: EdgeContext.self, options: [.autoGenerateHeadEndpoints])
        router.add(middleware: headers)
        router.add(middleware: Problems(answers: answers, refusals: refusals, addresses: addresses))
        router.add(middleware: AddressLimiting(admission: admission, addresses: addresses))
        router.add(middleware: versions)
        add(Endpoint.all, to: router)
        add(HTTPEndpoint.all, to: router)
        console.add(to: router, forOperators: admission.operators != nil)
        refuseOtherMethods(in: router)
        return router
    }

    // MARK: Translating

    func call(_ request: Request, _ context: EdgeContext) throws(APIError) -> Call {
        let arrival = clock.now
        return Call(
            key: try key(of: request, at: arrival), arrival: arrival, address: addresses.network(of: request, context),
            correlationID: context.correlationID, traceParent: context.traceParent, logger: context.logger,
            client: request.headers[.quartetClient], fields: context.fields)
    }

    func key(of request: Request, at arrival: Instant) throws(APIError) -> IdempotencyKey {
        // Nothing is done by reading.
        try IdempotencyKey(
            [.get, .head].contains(request.method) ? nil : request.headers[.idempotencyKey], at: arrival)
    }

    // MARK: Other methods

    /// A path that has other methods isn't unknown.
    private func refuseOtherMethods(in router: Router<EdgeContext>) {
        let methods = Dictionary(grouping: router.routes, by: \.path.description)
        // Where operators aren't configured, there is nothing at their paths, whatever the method.
        let operators = admission.operators == nil ? HTTPEndpoint.operators.map(\.declaration.path) : []
        let hidden = Set(operators.map { RouterPath($0).description })
        for (description, routes) in methods where !hidden.contains(description) {
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
