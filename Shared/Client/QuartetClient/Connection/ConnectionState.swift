public import QuartetAPI
public import QuartetSessionContract

/// How the connection to a server stands.
public enum ConnectionState: Hashable, Sendable {
    /// There is no server to connect to.
    case notConfigured
    case disconnected
    /// Opening the stream for the first time.
    case connecting
    /// Every sequence of the stream has begun: what shared state shows is live.
    case connected
    /// Waiting for an attempt or making it. Attempts are counted from 1, until a connection has held for a while.
    case reconnecting(attempt: Int)
    /// Nobody has signed in on this device, as far as it knows: what an earlier start signed out is erased.
    case notSignedIn
    /// The device was signed in and isn't any more: the server or its person signed it out, or what it kept to stay signed in is damaged.
    /// ``Connection/lastError`` says why.
    case needsAuthentication
    /// The policy allows no further attempt. ``Connection/retry()`` begins again.
    case failed(ConnectionError)

    public var isConnected: Bool { self == .connected }

    /// Whether it will change by itself.
    public var isTransitioning: Bool {
        switch self {
        case .connecting, .reconnecting: true
        case .notConfigured, .disconnected, .connected, .notSignedIn, .needsAuthentication, .failed: false
        }
    }

    /// Whether it waits for somebody to sign in, for the first time or again.
    public var needsSignIn: Bool { self == .notSignedIn || self == .needsAuthentication }

    /// Whether ``Connection/connect()`` would do something.
    public var canConnect: Bool {
        switch self {
        case .disconnected, .failed: true
        case .notConfigured, .connecting, .connected, .reconnecting, .notSignedIn, .needsAuthentication: false
        }
    }
}

/// Why a connection was lost or can't be made.
public enum ConnectionError: Error, Hashable, Sendable, CustomStringConvertible {
    case transport(TransportError)
    /// Nothing arrived for longer than the server is ever quiet.
    case silent
    /// The server refused the stream.
    case refused(APIError)
    /// The server ended the stream.
    case ended(StreamEnd.Reason)
    /// The stream ended without a word.
    case closed
    /// Nobody has signed in on this device.
    case notSignedIn
    /// The device isn't signed in any more, as far as it is known why.
    case signedOut(SignOutReason?)
    /// The server doesn't know the device's token. That may be the server's fault, so the device stays signed in and the token is shown
    /// again and again, as after a lost connection. Where it lasts, signing in mends it.
    case tokenRefused
    /// What the device keeps to stay signed in can't be read or written now.
    case tokensUnavailable(String)
    /// What the device kept to stay signed in is damaged, or sealed by a key that is gone. Signing in replaces it.
    case tokensUnreadable
    /// A sequence of the stream can't be continued from what the app has. It begins with a snapshot next time.
    case outOfSequence(StreamName)
    /// What the app knew about the network has changed, or it slept.
    case stale

    /// What a connection is in that ended with it for good.
    public var state: ConnectionState {
        switch self {
        case .notSignedIn: .notSignedIn
        case .signedOut, .tokensUnreadable: .needsAuthentication
        default: .failed(self)
        }
    }

    /// Whether another stream sets right what was wrong, so that there is nothing to wait for.
    var isMendedByOpening: Bool {
        switch self {
        case .ended(.tokenExpired), .outOfSequence: true
        default: false
        }
    }

    /// Whether the network reaches the server: what the server says shows that it does. Nil where it says nothing of that.
    var reachesServer: Bool? {
        switch self {
        case .transport(.unreachable), .transport(.interrupted), .silent: false
        case .transport(.malformed), .refused, .ended, .signedOut, .tokenRefused, .outOfSequence: true
        case .closed, .notSignedIn, .tokensUnavailable, .tokensUnreadable, .stale: nil
        }
    }

    /// Whether nothing goes on until somebody signs in.
    var asksToSignIn: Bool {
        switch self {
        case .notSignedIn, .signedOut, .tokensUnreadable: true
        default: false
        }
    }

    public var description: String {
        switch self {
        case .transport(let error): "\(error)"
        case .silent: "The server has been silent for too long."
        case .refused(let error): error.detail
        case .ended(let reason): "The server ended the connection: \(reason.rawValue)."
        case .closed: "The connection was closed."
        case .notSignedIn: "Nobody is signed in on this device; sign in."
        case .signedOut(let reason?): "Sign in again: \(reason.explanation)."
        case .signedOut(nil): "Sign in again: this device is no longer signed in."
        case .tokenRefused: "The server doesn't know this device's token; sign in, or try again later."
        case .tokensUnavailable(let reason): "This device can't read what it is signed in with: \(reason)"
        case .tokensUnreadable: "This device can't read what it was signed in with; sign in again."
        case .outOfSequence(let name): "Something is missing in \(name); it is loaded again."
        case .stale: "The connection may be dead; it is opened again."
        }
    }
}

/// What happens to a connection.
public enum ConnectionEvent: Hashable, Sendable {
    case willConnect
    case didConnect
    /// It was connected, and isn't any more. Without an error, the app wanted it so.
    case didDisconnect(ConnectionError?)
    case willReconnect(attempt: Int, delay: Duration)
    case didReconnect(attempt: Int)
    /// An attempt failed.
    case didFail(ConnectionError)
    /// The policy allows no further attempt.
    case didGiveUp(attempts: Int)
    /// A sequence couldn't be continued; its state was replaced by what the server has.
    case refetched(StreamName)
}
