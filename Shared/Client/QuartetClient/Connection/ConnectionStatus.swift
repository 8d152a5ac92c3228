/// How something stands, for its colour.
public enum StatusTone: String, CaseIterable, Hashable, Sendable {
    case good, neutral, warning, critical
}

/// How the connection stands and whether its person is in a group session, for one label. ``Texts`` has its words.
///
/// ```swift
/// let status = ConnectionStatus(connection.state, isInSession: groups.isInSession)
/// print(Texts().sentence(status))    // Connected • Session Active
/// ```
public struct ConnectionStatus: Hashable, Sendable {
    public let connection: ConnectionState
    public let isInSession: Bool

    public init(_ connection: ConnectionState, isInSession: Bool) {
        (self.connection, self.isInSession) = (connection, isInSession)
    }

    /// Whether the label is worth its room: in a session, or when something is wrong. Outside one, nobody needs to read that everything
    /// works, or that it is about to.
    public var isNoteworthy: Bool {
        switch connection {
        case .connected, .connecting: isInSession
        case .notConfigured, .disconnected, .reconnecting, .notSignedIn, .needsAuthentication, .failed: true
        }
    }

    public var tone: StatusTone {
        switch connection {
        case .connected: .good
        case .connecting, .reconnecting: .warning
        case .disconnected, .needsAuthentication, .failed: .critical
        case .notConfigured, .notSignedIn: .neutral
        }
    }
}
