import Synchronization

/// What every answer says besides what was asked for: what is left of the limits that the request counted for, and which things
/// that it used will go away. HTTP has it as header fields, gRPC as metadata of the same names.
struct AnswerFields: Sendable {
    let quota = RequestQuota()
    let deprecated = DeprecatedUses()

    var all: [(name: String, value: String)] { quota.fields + deprecated.fields }
}

/// What is left to the sender of a request: of the limits that it counted for, the one with the least left.
final class RequestQuota: Sendable {
    private let least = Mutex<RequestLimits.Quota?>(nil)

    @Sendable func note(_ quota: RequestLimits.Quota) {
        least.withLock { least in
            if least.map({ quota.left <= $0.left }) ?? true { least = quota }
        }
    }

    /// RateLimit and RateLimit-Policy (draft-ietf-httpapi-ratelimit-headers-10).
    var fields: [(name: String, value: String)] {
        guard let quota = least.withLock(\.self) else { return [] }
        return [
            ("RateLimit", "\"\(quota.kind.rawValue)\";r=\(quota.left);t=\(quota.refill)"),
            ("RateLimit-Policy", "\"\(quota.kind.rawValue)\";q=\(quota.quota);w=\(quota.window)"),
        ]
    }
}
