import API

/// Decides who asks, and whether they may.
struct Admission: Sendable {
    let tokens: Tokens
    let devices: Devices

    /// - Parameter authorization: As in HTTP's header of this name: `Bearer <access token>`.
    /// - Returns: The caller; nil where nobody has to be known.
    /// - Throws: `missingToken`, `invalidToken`, `signedOut`.
    func admit(_ authorization: String?, to access: Access) async throws -> Caller? {
        switch access {
        case .open: return nil
        case .signedIn:
            guard let authorization, authorization.hasPrefix("Bearer ") else { throw APIError(.missingToken) }
            let caller = try await tokens.caller(of: String(authorization.dropFirst("Bearer ".count)))
            try await devices.requireActive(caller)
            return caller
        // Operators have no keys yet.
        case .operators: throw APIError(.missingToken)
        }
    }
}
