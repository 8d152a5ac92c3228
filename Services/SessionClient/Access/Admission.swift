import QuartetAPI

/// Decides who asks, whether they may, and whether they ask too much.
struct Admission: Sendable {
    let tokens: Tokens
    let devices: Devices
    /// Nil if operators aren't configured.
    let operators: Operators?
    let limits: RequestLimits
    let answers: StoredAnswers

    /// - Parameters:
    ///   - authorization: As in HTTP's header of this name: `Bearer <access token>`, or an operator's API key instead.
    ///   - address: The client's network, for which wrong API keys are counted.
    ///   - kind: Which limit the request counts for, if any. Beyond it, some that were answered before are let in all the same.
    ///   - key: The request's.
    ///   - quota: Gets what is left of that limit.
    /// - Throws: `missingToken`, `invalidToken`, `signedOut`; the limit's refusal. Of operators `tooManyAttempts`, `keyMayOnlyRead`,
    ///   and `notFound` where they aren't configured.
    func admit(
        _ authorization: String?, from address: String, to access: Access, as kind: RequestLimits.Kind?,
        _ key: IdempotencyKey?,
        _ quota: (RequestLimits.Quota) -> Void
    ) async throws -> Admitted {
        switch access {
        case .open: return .anyone
        case .signedIn:
            let caller = try await tokens.caller(of: Self.bearer(authorization))
            try await devices.requireActive(caller)
            if let kind {
                do {
                    try limits.admit(kind, of: caller.account, quota)
                } catch {
                    guard let key, key.isGiven, limits.admitRepeat(kind, of: caller.account),
                        await answers.has(key, of: caller, as: kind)
                    else { throw error }
                }
            }
            return .caller(caller)
        case .operators(let role):
            guard let operators else { throw APIError.noSuchPath }
            let who = try await operators.owner(of: Self.bearer(authorization), from: address)
            guard role == .read || who.role == .act else { throw APIError(.keyMayOnlyRead) }
            return .operator(who)
        }
    }

    /// Counts a request for its address, before anything is done for it. Urgent ones of people whose token was used here lately are
    /// counted by themselves, so that strangers of their address can't use up what those may ask.
    /// - Throws: `tooManyRequests`.
    func admit(
        _ kind: RequestLimits.Kind, from address: String, _ authorization: String?,
        _ quota: (RequestLimits.Quota) -> Void
    ) throws(APIError) {
        try limits.admit(kind, from: address, isKnown: kind == .urgent && isKnown(authorization), quota)
    }

    /// Whether it is an access token that this process verified lately, of a device that isn't known to be signed out. Nothing is
    /// looked up for it.
    private func isKnown(_ authorization: String?) -> Bool {
        guard let token = try? Self.bearer(authorization), let bearer = tokens.verified(token) else { return false }
        return !devices.isKnownSignedOut(bearer.device)
    }

    private static func bearer(_ authorization: String?) throws(APIError) -> String {
        guard let authorization, authorization.hasPrefix("Bearer ") else { throw APIError(.missingToken) }
        return String(authorization.dropFirst("Bearer ".count))
    }
}

/// Who was let in.
enum Admitted: Sendable {
    /// Nobody has to be known.
    case anyone
    case caller(Caller)
    case `operator`(Operator)

    var caller: Caller? { if case .caller(let caller) = self { caller } else { nil } }
    var `operator`: Operator? { if case .operator(let who) = self { who } else { nil } }
}
