public import QuartetAPI

/// Why something that an app asked for didn't happen, or may not have.
public enum QuartetError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The server refused it. Nothing was changed.
    case refused(APIError)
    /// There is no connection, or the device is no longer signed in. The change is kept on the device, shows, and is sent when there
    /// is a connection and its person is signed in again.
    case willBeSentWhenOnline
    /// The server can't do it now, or hasn't yet. The change is kept on the device, shows, and is sent again by itself.
    case serverError(APIError)
    /// The change waited for a connection for so long that it would no longer mean the same. It was taken back.
    case expired
    /// Too many changes wait for a connection. This one was taken back. An urgent one never is.
    case outboxFull
    /// A later change took its place before it was sent.
    case superseded
    /// The device couldn't keep the change, so it was taken back.
    case notStored(String)
    /// The server wasn't reached. Nothing was changed.
    case offline
    /// The server was reached and didn't answer. It may have happened; if so, shared state will show it.
    case unknown
    /// Nobody is signed in, or what the device kept of it is damaged.
    case needsAuthentication
    /// What the device keeps to stay signed in can't be read or written now. It stays signed in.
    case tokensUnavailable(String)
    /// The device is signed out and keeps nothing, but what it was signed in with was damaged, so the server doesn't know: it still
    /// pushes to the device until the device is signed out from another one.
    case signOutUntold
    /// So many accounts are signed in on this device, and one has to be removed before another one can be.
    case tooManyAccounts(limit: Int)
    /// There is no server, or nobody has set the clients.
    case notConfigured(String)
    /// It was taken back before it was sent, or its caller gave up what nobody keeps.
    case cancelled
    /// What the server answered can't be read: this app is too old for it.
    case unreadable(String)

    /// In English, with the reasons that logs need. People read `localizedDescription`, or ask ``Texts``.
    public var description: String {
        switch self {
        case .refused(let error): error.detail
        case .willBeSentWhenOnline: "Changes are sent when there is a connection."
        case .serverError(let error): "\(error.detail) The change is sent again by itself."
        case .expired: "There was no connection for too long; look whether you still want it."
        case .outboxFull: "Too many changes wait for a connection; connect first."
        case .superseded: "A later change took its place."
        case .notStored(let reason): "This device can't keep the change: \(reason)"
        case .offline: "There is no connection; try again later."
        case .unknown: "The server didn't answer; look whether it happened before you try again."
        case .needsAuthentication: "Sign in first."
        case .tokensUnavailable(let reason): "This device can't read what it is signed in with: \(reason)"
        case .signOutUntold:
            "This device is signed out, but couldn't tell the server; sign it out from another device as well."
        case .tooManyAccounts(let limit):
            "This device can have \(limit) accounts; remove one before you sign in to another."
        case .notConfigured(let what): "\(what) isn't configured."
        case .cancelled: "It was cancelled."
        case .unreadable(let reason): "The server's answer can't be read: \(reason)"
        }
    }

    /// Whether the change is kept and will be sent. Otherwise it is over: it happened or was taken back.
    public var isPending: Bool {
        switch self {
        case .willBeSentWhenOnline, .serverError: true
        default: false
        }
    }

    /// The code of a refusal.
    public var code: APIError.Code? {
        if case .refused(let error) = self { error.code } else { nil }
    }
}
