import HTTPTypes
import Hummingbird
import QuartetAPI

/// Refuses what can't be handled or what an address asks too often, before anything is done for it.
struct AddressLimiting: RouterMiddleware {
    let admission: Admission
    let addresses: ClientAddress

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        guard request.uri.string.utf8.count <= EdgeLimits.url.value else { throw APIError(.urlTooLong) }
        let isUrgent = request.method == .post && Self.urgent.contains(request.uri.path)
        if let kind = isUrgent ? .urgent : Self.kind(of: request.method, at: context.endpointPath) {
            try admission.admit(
                kind, from: addresses.network(of: request, context), request.headers[.authorization],
                context.fields.quota.note)
        }
        return try await next(request, context)
    }

    /// The paths of urgent commands.
    private static let urgent = Set(Endpoint.all.map(\.declaration).filter { $0.limit == .urgent }.map(\.path))

    private static let kinds = Dictionary(
        (Endpoint.all.map(\.declaration) + HTTPEndpoint.all.map(\.declaration)).map {
            ("\($0.method.rawValue) \($0.route)", $0.family?.limit ?? $0.limit)
        }, uniquingKeysWith: { first, _ in first })

    /// Which limit a request counts for. What isn't declared, such as the console's files, counts by its method.
    private static func kind(of method: HTTPRequest.Method, at route: String?) -> RequestLimits.Kind? {
        let method = method == .head ? HTTPRequest.Method.get : method
        return kinds["\(method.rawValue) \(route ?? "")"] ?? ([.get, .options].contains(method) ? .reads : .commands)
    }
}

extension ClientAddress {
    func network(of request: Request, _ context: EdgeContext) -> String {
        network(connection: context.remoteAddress?.ipAddress ?? "unknown", forwardedFor: request.headers[.forwardedFor])
    }
}
