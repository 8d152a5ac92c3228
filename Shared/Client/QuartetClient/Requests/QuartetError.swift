public import API

/// Why something that an app asked for didn't happen, or may not have.
public enum QuartetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server refused it. Nothing was changed.
    case refused(APIError)
    /// The server wasn't reached. Nothing was changed.
    case offline
    /// The server was reached and didn't answer. It may have happened; if so, shared state will show it.
    case unknown
    /// Nobody is signed in.
    case needsAuthentication
    /// There is no server, or nobody has set the clients.
    case notConfigured(String)
    case cancelled
    /// What the server answered can't be read: this app is too old for it.
    case unreadable(String)

    /// For people.
    public var description: String {
        switch self {
        case .refused(let error): error.detail
        case .offline: "There is no connection; try again later."
        case .unknown: "The server didn't answer; look whether it happened before you try again."
        case .needsAuthentication: "Sign in first."
        case .notConfigured(let what): "\(what) isn't configured."
        case .cancelled: "It was cancelled."
        case .unreadable(let reason): "The server's answer can't be read: \(reason)"
        }
    }

    /// The code of a refusal.
    public var code: APIError.Code? {
        if case .refused(let error) = self { error.code } else { nil }
    }
}
