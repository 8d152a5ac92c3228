package import QuartetSessionContract
package import QuartetVocabulary

/// What an operator's key, or a message on the bus, is identified by.
package enum OperatorKeySubject {}
package enum BusMessageSubject {}
package enum TestPushSubject {}
package typealias OperatorKeyID = ID<OperatorKeySubject>
package typealias BusMessageID = ID<BusMessageSubject>
package typealias TestPushID = ID<TestPushSubject>

/// What an operator's key opens.
package enum OperatorRole: String, Codable, Hashable, Sendable, CaseIterable {
    /// Looks at everything and changes nothing.
    case read
    /// May do besides what ``OperatorAct`` lists.
    case act
}

/// What an operator may do: each has a reason, which the audit keeps with the operator and the time.
package protocol OperatorAct: MessageBody {
    /// Why; 1 to 1,000 characters.
    var reason: String { get }
}

/// The services by their schemas.
package enum ServiceSchema: String, Codable, Hashable, Sendable, CaseIterable {
    case session, contacts, notifications
    case sessionClient = "session_client"
}

/// Sends a dead letter again, once, as a new command.
package struct RetryDeadLetter: OperatorAct {
    package let message: BusMessageID
    package let reason: String
}

/// Decides that nothing will be done about a dead letter.
package struct DiscardDeadLetter: OperatorAct {
    package let message: BusMessageID
    package let reason: String
}

/// Tries the parked message of a key again, now.
package struct RetryParked: OperatorAct {
    /// The service that couldn't handle it.
    package let service: ServiceSchema
    /// The log that it is in, as `session_client.contacts_commands`.
    package let source: String
    package let key: String
    package let reason: String
}

/// Gives up the parked message of a key, which becomes a dead letter.
package struct DiscardParked: OperatorAct {
    package let service: ServiceSchema
    package let source: String
    package let key: String
    package let reason: String
}

/// Sets how long a service keeps the rows of a table.
package struct SetRetention: OperatorAct {
    package let service: ServiceSchema
    /// The table's name.
    package let subject: String
    /// Rows are kept at least so long, and until they are handled. From a minute to 3,650 days.
    package let keep: Interval
    /// Older rows are deleted even if they aren't handled; nil: never. 3,650 days at most.
    package let truncateAfter: Interval?
    package let reason: String
}

/// Goes on where a log now begins, after retention deleted what a service hadn't handled.
package struct AcceptTruncation: OperatorAct {
    package let service: ServiceSchema
    package let source: String
    package let reason: String
}

/// Empties what a service's logs say of an account.
package struct RedactAccount: OperatorAct {
    package let service: ServiceSchema
    package let account: AccountID
    package let reason: String
}

/// Has an operation that failed, or that can't go on, run again: its steps without an accepted outcome are asked again.
package struct ResumeOperation: OperatorAct {
    package let operation: ID<OperationSubject>
    package let reason: String
}

/// Pushes a test to a device, which says that it is one; five times a day at most. Nobody counts as told by it.
package struct SendTestPush: OperatorAct {
    package let account: AccountID
    package let device: DeviceID
    package let reason: String
}

/// What an act did.
package struct OperatorActReply: Codable, Hashable, Sendable {
    /// The command that was sent instead of a dead letter.
    package let command: CommandID?
    /// How many messages it concerned.
    package let messages: Int64?
    /// The test push, of which the named query `test_pushes` says what became of it.
    package let push: TestPushID?

    package init(command: CommandID? = nil, messages: Int64? = nil, push: TestPushID? = nil) {
        self.command = command
        self.messages = messages
        self.push = push
    }
}

/// A named query, as `make psql` has it.
package struct NamedQuery: Codable, Hashable, Sendable {
    package let name: String
    /// What it answers.
    package let help: String
    /// What it needs: `id`, `alarm` or `handle`.
    package let parameters: [String]
    package let sql: String

    package init(name: String, help: String, parameters: [String], sql: String) {
        self.name = name
        self.help = help
        self.parameters = parameters
        self.sql = sql
    }
}

/// `GET /v1/operator/queries`.
package struct NamedQueries: Codable, Hashable, Sendable {
    package let queries: [NamedQuery]

    package init(queries: [NamedQuery]) {
        self.queries = queries
    }
}

/// `GET /v1/operator`: whose key it is.
package struct OperatorReply: Codable, Hashable, Sendable {
    package let key: OperatorKeyID
    package let name: String
    package let role: OperatorRole

    package init(key: OperatorKeyID, name: String, role: OperatorRole) {
        self.key = key
        self.name = name
        self.role = role
    }
}

/// `GET /v1/operator/metrics`.
package struct OperatorMetrics: Codable, Hashable, Sendable {
    /// In Prometheus's text format 0.0.4.
    package let text: String

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
