import HTTPTypes
import Hummingbird
import NIOCore
import QuartetAPI
import ServiceKit

/// Endpoints over HTTP.
extension Routes {
    func add(_ endpoints: [Endpoint], to router: Router<EdgeContext>) {
        for endpoint in endpoints where endpoint.declaration.family == nil {
            let declaration = endpoint.declaration
            router.on(RouterPath(declaration.path), method: declaration.method.inHTTP) { request, context in
                let admitted = try await admit(request, context, to: declaration.access, as: declaration.limit)
                return try await answer(request, context, with: endpoint, admitted)
            }
        }
        // One route each: the router would look through a folder's paths one after the other.
        for family in Endpoint.Family.allCases {
            let members = Dictionary(
                endpoints.filter { $0.declaration.family == family }.map { ($0.declaration.path, $0) },
                uniquingKeysWith: { first, _ in first })
            router.post(RouterPath(family.route)) { request, context in
                let name = try context.parameters.require(family.parameter)
                let endpoint = members["\(family.path)/\(name)"]
                // Only callers learn what there isn't.
                let admitted = try await admit(
                    request, context, to: endpoint?.declaration.access ?? .signedIn,
                    as: endpoint?.declaration.limit ?? family.limit)
                guard let endpoint else { throw family.unknown(name) }
                return try await answer(request, context, with: endpoint, admitted)
            }
        }
    }

    func admit(
        _ request: Request, _ context: EdgeContext, to access: Access, as kind: RequestLimits.Kind?
    ) async throws -> Admitted {
        try await admission.admit(
            request.headers[.authorization], from: addresses.network(of: request, context), to: access, as: kind,
            try? key(of: request, at: clock.now), context.fields.quota.note)
    }

    private func answer(
        _ request: Request, _ context: EdgeContext, with endpoint: Endpoint, _ admitted: Admitted
    ) async throws -> Response {
        let call = try call(request, context)
        let body = endpoint.declaration.body == nil ? [] : try await request.json(context)
        let reply = try await endpoint.answer(
            actions,
            EndpointRequest(
                parameters: request.parameters(context), body: body, caller: admitted.caller, call: call,
                arrived: context.arrived))
        var response = Response(reply, to: request)
        if call.replay.isReplayed { response.headers[.idempotencyReplayed] = "true" }
        return response
    }
}

extension Endpoint.Family {
    /// What the router calls the last part of the path.
    var parameter: String {
        switch self {
        case .commands: "type"
        case .operations: "operation"
        }
    }

    var route: String { "\(path)/{\(parameter)}" }
}

extension Endpoint.Declaration {
    /// Its path as the router knows it.
    var route: String { family?.route ?? path }
}

extension Endpoint.Method {
    var inHTTP: HTTPRequest.Method {
        switch self {
        case .get: .get
        case .post: .post
        case .put: .put
        case .delete: .delete
        }
    }
}

extension Request {
    /// The values of the query, and those of the path instead of any of the same name.
    func parameters(_ context: EdgeContext) -> [String: [String]] {
        var values: [String: [String]] = [:]
        for (name, value) in uri.queryParameters { values[String(name), default: []].append(String(value)) }
        for (name, value) in context.parameters { values[String(name)] = [String(value)] }
        return values
    }

    /// Whether the client has what the tag names (RFC 9110, section 13.1.2): any of a list, weak ones too.
    func has(_ tag: EntityTag) -> Bool {
        guard let header = headers[.ifNoneMatch] else { return false }
        return header == "*"
            || header.split(separator: ",").contains {
                $0.trimmingPrefix { $0 == " " }.replacing("W/", with: "") == tag.text
            }
    }
}

extension Response {
    init(_ reply: EndpointReply, to request: Request) {
        var headers = HTTPFields()
        headers[.location] = reply.location
        headers[.retryAfter] = reply.retryAfter.map(String.init)
        if let tag = reply.entityTag {
            headers[.eTag] = tag.text
            // Private, and revalidated each time, because who may read it changes.
            headers[.cacheControl] = "private, no-cache"
            if request.has(tag) {
                self.init(status: .notModified, headers: headers)
                return
            }
        }
        guard let json = reply.json else {
            self.init(status: reply.meaning == .done ? .noContent : reply.meaning.inHTTP, headers: headers)
            return
        }
        headers[.contentType] = "application/json"
        if reply.entityTag == nil { headers[.cacheControl] = "no-store" }
        self.init(
            status: reply.meaning.inHTTP, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: json)))
    }
}

extension EndpointReply.Meaning {
    fileprivate var inHTTP: HTTPResponse.Status {
        switch self {
        case .done: .ok
        case .created: .created
        case .accepted: .accepted
        }
    }
}
