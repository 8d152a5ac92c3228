public enum PostgresError: Error, Sendable, CustomStringConvertible {
    /// The server refused a statement. The connection is fine.
    case server(ServerError)
    /// The statement was skipped because an earlier one of its pipeline failed.
    indirect case skipped(after: PostgresError)
    /// The connection is gone. Nothing in progress was committed, unless a COMMIT was on its way.
    case connectionLost(String)
    case connectFailed(String)
    /// COMMIT was sent and its answer never came, so it may or may not have happened. Look, don't guess.
    case commitUnknown(String)
    /// COMMIT was answered with ROLLBACK: an earlier statement of the transaction had failed.
    case rolledBack
    /// The task was cancelled before or while the server worked.
    case cancelled
    /// This process closed the connection or pool.
    case closed
    /// A column can't be read as the requested type.
    case decoding(column: String, reason: String)
    /// All connections of the pool are in use, and as many callers wait as may.
    case poolExhausted

    public var description: String {
        switch self {
        case .server(let error): error.description
        case .skipped(let error): "skipped, because: \(error)"
        case .connectionLost(let reason): "the connection to PostgreSQL was lost: \(reason)"
        case .connectFailed(let reason): "can't connect to PostgreSQL: \(reason)"
        case .commitUnknown(let reason): "the answer to COMMIT was lost, so it may or may not have happened: \(reason)"
        case .rolledBack: "the transaction was rolled back because an earlier statement of it had failed"
        case .cancelled: "cancelled"
        case .closed: "the connection was closed"
        case .decoding(let column, let reason): "column \(column) can't be read: \(reason)"
        case .poolExhausted: "all database connections are in use; try again, or raise the limit"
        }
    }

    /// The error that came first, if this one only follows from it.
    public var root: PostgresError {
        if case .skipped(let cause) = self { cause.root } else { self }
    }

    /// The server's five-character code (PostgreSQL manual, appendix A), if there is one.
    public var sqlState: String? {
        if case .server(let error) = root { error.sqlState } else { nil }
    }

    public var constraint: String? {
        if case .server(let error) = root { error.constraint } else { nil }
    }

    /// Whether the connection is unusable.
    public var isConnectionLost: Bool {
        switch root {
        case .connectionLost, .connectFailed, .commitUnknown, .closed: true
        default: false
        }
    }
}

/// An error as the server reports it (PostgreSQL manual, "Error and Notice Message Fields").
public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Five characters (PostgreSQL manual, appendix A).
    public let sqlState: String
    /// ERROR, FATAL or PANIC.
    public let severity: String
    public let message: String
    public let detail: String?
    public let hint: String?
    public let schema: String?
    public let table: String?
    public let column: String?
    /// The name of the violated constraint.
    public let constraint: String?
    /// The call stack, as text.
    public let context: String?

    /// Without the detail of what a row or a value violates, which quotes it: errors are kept and logged.
    public var description: String {
        var text = "\(message) (\(sqlState)"
        if let constraint { text += ", constraint \(constraint)" }
        text += ")"
        if let detail, !["22", "23"].contains(sqlState.prefix(2)) { text += ". \(detail)" }
        if let hint { text += ". \(hint)" }
        return text
    }
}
