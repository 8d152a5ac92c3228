/// A row for one of the sender's own logs.
package struct Message: Hashable, Sendable {
    /// As in the column `kind`.
    package enum Kind: String, Sendable, Hashable {
        case command, event, outcome
    }

    package var kind: Kind
    /// The row's own id, made by the sender.
    package var id: MessageID
    package var type: String
    package var version: Int16
    package var key: Key
    /// The account that asked or that it is about, if there is one.
    package var account: AccountID?
    /// A JSON object in UTF-8, at most 64 kB.
    package var body: [UInt8]
    /// The command itself, or the command that led to this row.
    package var commandID: CommandID?
    /// Set, together with `commandHash`, on the one row that has its command's outcome.
    package var outcome: Outcome.Kind?
    /// Tells which body the outcome is for.
    package var commandHash: BodyHash?
    /// Shared by everything that one request caused.
    package var correlationID: CorrelationID?
    /// The message that caused this one.
    package var causationID: MessageID?
    /// W3C trace context, as the header `traceparent` has it.
    package var traceParent: String?
    /// How long a command is valid after its append. If its service gets to it later, it is rejected as expired. A
    /// span, not a time, so that only the database's clock counts. A recorded message has ``RecordedMessage/expiresAt``
    /// instead.
    package var timeToLive: Interval?

    package init(
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
    package static let bodyLimit = 65_536
}

/// A message in its final place.
package struct RecordedMessage: Hashable, Sendable {
    package let partition: Partition
    package let position: Position
    package let message: Message
    /// By the database's clock.
    package let recordedAt: Instant
    /// Until when a command is valid, by the database's clock; nil if without limit.
    package let expiresAt: Instant?

    package init(
        partition: Partition, position: Position, message: Message, recordedAt: Instant, expiresAt: Instant? = nil
    ) {
        self.partition = partition
        self.position = position
        self.message = message
        self.recordedAt = recordedAt
        self.expiresAt = expiresAt
    }
}
