/// What can go wrong between this process and PostgreSQL.
public enum PostgresError: Error, Sendable, CustomStringConvertible {
    /// The server refused a statement. The connection is fine.
    case server(ServerError)
    /// A statement of a pipeline was skipped because an earlier one failed.
    indirect case skipped(after: PostgresError)
    /// The connection is gone. What was in hand was not committed, unless a COMMIT was on its way.
    case connectionLost(String)
    /// No connection could be made.
    case connectFailed(String)
    /// COMMIT was sent and its answer never came: nobody knows whether it happened. Look, don't guess.
    case commitUnknown(String)
    /// COMMIT was answered with ROLLBACK: an earlier statement of the transaction had failed.
    case rolledBack
    /// The task was cancelled before or while the server worked.
    case cancelled
    /// The connection or pool was closed by this process.
    case closed
    /// A column isn't what was asked for.
    case decoding(column: String, reason: String)
    /// All connections of the pool are in use, and as many wait as may.
    case poolExhausted

    public var description: String {
        switch self {
        case .server(let error): error.description
        case .skipped(let error): "skipped, because: \(error)"
        case .connectionLost(let reason): "the connection to PostgreSQL was lost: \(reason)"
        case .connectFailed(let reason): "can't connect to PostgreSQL: \(reason)"
        case .commitUnknown(let reason): "nobody knows whether the commit happened, its answer was lost: \(reason)"
        case .rolledBack: "the transaction was rolled back because an earlier statement of it had failed"
        case .cancelled: "cancelled"
        case .closed: "the connection was closed"
        case .decoding(let column, let reason): "column \(column) can't be read: \(reason)"
        case .poolExhausted: "all database connections are in use; try again, or allow more"
        }
    }

    /// The error that came first, where this one only follows from it.
    public var root: PostgresError {
        if case .skipped(let cause) = self { cause.root } else { self }
    }

    /// The server's five-character code (PostgreSQL manual, appendix A), where there is one.
    public var sqlState: String? {
        if case .server(let error) = root { error.sqlState } else { nil }
    }

    /// The constraint that was violated, where there is one.
    public var constraint: String? {
        if case .server(let error) = root { error.constraint } else { nil }
    }

    /// Whether the connection can't be used any more.
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
    /// What is wrong, in a sentence.
    public let message: String
    /// More about it.
    public let detail: String?
    /// What to do about it.
    public let hint: String?
    public let schema: String?
    public let table: String?
    public let column: String?
    /// The constraint that was violated.
    public let constraint: String?
    /// Where in which function, as a call stack.
    public let context: String?

    public var description: String {
        var text = "\(message) (\(sqlState)"
        if let constraint { text += ", constraint \(constraint)" }
        text += ")"
        if let detail { text += ". \(detail)" }
        if let hint { text += ". \(hint)" }
        return text
    }
}
