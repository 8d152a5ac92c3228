public import Vocabulary

/// What an operator's key, or a message on the bus, is identified by.
public enum OperatorKeySubject {}
public enum BusMessageSubject {}
public typealias OperatorKeyID = ID<OperatorKeySubject>
public typealias BusMessageID = ID<BusMessageSubject>

/// What an operator's key opens.
public enum OperatorRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// Looks at everything and changes nothing.
    case read
    /// May do besides what ``OperatorAct`` lists.
    case act
}

/// What an operator may do: each has a reason, which the audit keeps with the operator and the time.
public protocol OperatorAct: MessageBody {
    /// Why; 1 to 1,000 characters.
    var reason: String { get }
}

/// The services by their schemas.
public enum ServiceSchema: String, Codable, Hashable, Sendable, CaseIterable {
    case session, contacts, notifications
    case sessionClient = "session_client"
}

/// Sends a dead letter again, once, as a new command.
public struct RetryDeadLetter: OperatorAct {
    public let message: BusMessageID
    public let reason: String
}

/// Decides that nothing will be done about a dead letter.
public struct DiscardDeadLetter: OperatorAct {
    public let message: BusMessageID
    public let reason: String
}

/// Tries the parked message of a key again, now.
public struct RetryParked: OperatorAct {
    /// The service that couldn't handle it.
    public let service: ServiceSchema
    /// The log that it is in, as `session_client.contacts_commands`.
    public let source: String
    public let key: String
    public let reason: String
}

/// Gives up the parked message of a key, which becomes a dead letter.
public struct DiscardParked: OperatorAct {
    public let service: ServiceSchema
    public let source: String
    public let key: String
    public let reason: String
}

/// Sets how long a service keeps the rows of a table.
public struct SetRetention: OperatorAct {
    public let service: ServiceSchema
    /// The table's name.
    public let subject: String
    /// Rows are kept at least so long, and until they are handled. From a minute to 3,650 days.
    public let keep: Interval
    /// Older rows are deleted even if they aren't handled; nil: never. 3,650 days at most.
    public let truncateAfter: Interval?
    public let reason: String
}

/// Goes on where a log now begins, after retention deleted what a service hadn't handled.
public struct AcceptTruncation: OperatorAct {
    public let service: ServiceSchema
    public let source: String
    public let reason: String
}

/// Empties what a service's logs say of an account.
public struct RedactAccount: OperatorAct {
    public let service: ServiceSchema
    public let account: AccountID
    public let reason: String
}

/// Has an operation that failed, or that can't go on, run again: its steps without an accepted outcome are asked again.
public struct ResumeOperation: OperatorAct {
    public let operation: ID<OperationSubject>
    public let reason: String
}

/// What an act did.
public struct OperatorActReply: Codable, Hashable, Sendable {
    /// The command that was sent instead of a dead letter.
    public let command: CommandID?
    /// How many messages it concerned.
    public let messages: Int64?

    package init(command: CommandID? = nil, messages: Int64? = nil) {
        self.command = command
        self.messages = messages
    }
}

/// A named query, as `make psql` has it.
public struct NamedQuery: Codable, Hashable, Sendable {
    public let name: String
    /// What it answers.
    public let help: String
    /// What it needs: `id`, `alarm` or `handle`.
    public let parameters: [String]
    public let sql: String

    package init(name: String, help: String, parameters: [String], sql: String) {
        self.name = name
        self.help = help
        self.parameters = parameters
        self.sql = sql
    }
}

/// `GET /v1/operator/queries`.
public struct NamedQueries: Codable, Hashable, Sendable {
    public let queries: [NamedQuery]

    package init(queries: [NamedQuery]) {
        self.queries = queries
    }
}

/// `GET /v1/operator`: whose key it is.
public struct OperatorReply: Codable, Hashable, Sendable {
    public let key: OperatorKeyID
    public let name: String
    public let role: OperatorRole

    package init(key: OperatorKeyID, name: String, role: OperatorRole) {
        self.key = key
        self.name = name
        self.role = role
    }
}

/// `GET /v1/operator/metrics`.
public struct OperatorMetrics: Codable, Hashable, Sendable {
    /// In Prometheus's text format 0.0.4.
    public let text: String

    package init(text: String) {
        self.text = text
    }
}

/// `GET /v1/operator/groups/{group}`: a group session at a position of its stream.
public struct GroupHistory: Codable, Hashable, Sendable {
    /// The newest positions of its stream, ascending.
    public let positions: [Int64]
    public let moment: GroupMoment

    package init(positions: [Int64], moment: GroupMoment) {
        (self.positions, self.moment) = (positions, moment)
    }
}
