/// A row for one of the sender's own logs.
public struct Message: Hashable, Sendable {
    /// As in the column `kind`.
    public enum Kind: String, Sendable, Hashable {
        case command, event, outcome
    }

    public var kind: Kind
    /// The row's own id, made by the sender.
    public var id: MessageID
    public var type: String
    public var version: Int16
    public var key: Key
    /// The account that asked or that it is about, if there is one.
    public var account: AccountID?
    /// A JSON object in UTF-8, at most 64 kB.
    public var body: [UInt8]
    /// The command itself, or the command that led to this row.
    public var commandID: CommandID?
    /// Set, together with `commandHash`, on the one row that has its command's outcome.
    public var outcome: Outcome.Kind?
    /// Tells which body the outcome is for.
    public var commandHash: BodyHash?
    /// Shared by everything that one request caused.
    public var correlationID: CorrelationID?
    /// The message that caused this one.
    public var causationID: MessageID?
    /// W3C trace context, as the header `traceparent` has it.
    public var traceParent: String?
    /// How long a command is valid after its append. If its service gets to it later, it is rejected as expired. A
    /// span, not a time, so that only the database's clock counts. A recorded message has ``RecordedMessage/expiresAt``
    /// instead.
    public var timeToLive: Interval?

    public init(
        kind: Kind, id: MessageID = .new(), type: String, version: Int16 = 1, key: Key, account: AccountID? = nil,
        body: [UInt8], commandID: CommandID? = nil, outcome: Outcome.Kind? = nil, commandHash: BodyHash? = nil,
        correlationID: CorrelationID? = nil, causationID: MessageID? = nil, traceParent: String? = nil,
        timeToLive: Interval? = nil
    ) {
        self.kind = kind
        self.id = id
        self.type = type
        self.version = version
        self.key = key
        self.account = account
        self.body = body
        self.commandID = commandID
        self.outcome = outcome
        self.commandHash = commandHash
        self.correlationID = correlationID
        self.causationID = causationID
        self.traceParent = traceParent
        self.timeToLive = timeToLive
    }

    /// The largest body that a log accepts, in bytes.
    public static let bodyLimit = 65_536
}

/// A message in its final place.
public struct RecordedMessage: Hashable, Sendable {
    public let partition: Partition
    public let position: Position
    public let message: Message
    /// By the database's clock.
    public let recordedAt: Instant
    /// Until when a command is valid, by the database's clock; nil if without limit.
    public let expiresAt: Instant?

    public init(
        partition: Partition, position: Position, message: Message, recordedAt: Instant, expiresAt: Instant? = nil
    ) {
        self.partition = partition
        self.position = position
        self.message = message
        self.recordedAt = recordedAt
        self.expiresAt = expiresAt
    }
}
