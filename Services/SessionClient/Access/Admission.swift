import API

/// Decides who asks, whether they may, and whether they ask too much.
struct Admission: Sendable {
    let tokens: Tokens
    let devices: Devices
    let limits: RequestLimits

    /// - Parameters:
    ///   - authorization: As in HTTP's header of this name: `Bearer <access token>`.
    ///   - kind: Which limit the request counts for, if any.
    ///   - quota: Gets what is left of that limit.
    /// - Returns: The caller; nil where nobody has to be known.
    /// - Throws: `missingToken`, `invalidToken`, `signedOut`; the limit's refusal.
    func admit(
        _ authorization: String?, to access: Access, as kind: RequestLimits.Kind?,
        _ quota: (RequestLimits.Quota) -> Void = { _ in }
    ) async throws -> Caller? {
        switch access {
        case .open: return nil
        case .signedIn:
            guard let authorization, authorization.hasPrefix("Bearer ") else { throw APIError(.missingToken) }
            let caller = try await tokens.caller(of: String(authorization.dropFirst("Bearer ".count)))
            try await devices.requireActive(caller)
            if let kind { try limits.admit(kind, of: caller.account, quota) }
            return caller
        }
    }
}
