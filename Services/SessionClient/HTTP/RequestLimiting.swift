import API
import Hummingbird
import Synchronization

/// Refuses what can't be handled or what an address asks too often, before anything is done for it.
struct AddressLimiting: RouterMiddleware {
    let limits: RequestLimits
    let addresses: ClientAddress
    /// In bytes, with its parameters.
    static let urlLimit = 4096

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        guard request.uri.string.utf8.count <= Self.urlLimit else { throw APIError(.urlTooLong) }
        if let kind = request.kind {
            try limits.admit(kind, from: addresses.network(of: request, context), context.quota.note)
        }
        return try await next(request, context)
    }
}

/// Refuses what an account asks too often.
struct AccountLimiting: RouterMiddleware {
    let limits: RequestLimits

    func handle(
        _ request: Request, context: EdgeContext, next: @concurrent (Request, EdgeContext) async throws -> Response
    ) async throws -> Response {
        if let caller = context.caller, let kind = request.kind {
            try limits.admit(kind, of: caller.account, context.quota.note)
        }
        return try await next(request, context)
    }
}

extension Request {
    /// Which limit it counts for; nil for signals and uploads, which have limits of their own.
    fileprivate var kind: RequestLimits.Kind? {
        let path = uri.path
        switch method {
        case .get, .head, .options: return path == "/v1/stream" || path == "/v1/stream/hashes" ? .streams : .reads
        case .post where path.hasPrefix("/v1/groups/") && path.hasSuffix("/signals"): return nil
        case .put where path.hasPrefix("/v1/uploads/"): return nil
        default: return path.hasPrefix("/v1/operations/") ? .operations : .commands
        }
    }
}

extension ClientAddress {
    func network(of request: Request, _ context: EdgeContext) -> String {
        network(connection: context.remoteAddress, forwardedFor: request.headers[.forwardedFor])
    }
}

/// What is left to the sender of a request: of the limits that it counted for, the one with the least left.
final class RequestQuota: Sendable {
    private let least = Mutex<RequestLimits.Quota?>(nil)

    @Sendable func note(_ quota: RequestLimits.Quota) {
        least.withLock { least in
            if least.map({ quota.left <= $0.left }) ?? true { least = quota }
        }
    }

    /// As header fields: RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10).
    var fields: (limit: String, policy: String)? {
        least.withLock(\.self).map { quota in
            (
                "\"\(quota.kind.rawValue)\";r=\(quota.left);t=\(quota.refill)",
                "\"\(quota.kind.rawValue)\";q=\(quota.quota);w=\(quota.window)"
            )
        }
    }
}
