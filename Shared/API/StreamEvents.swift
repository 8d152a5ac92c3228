public import SessionContract
public import Vocabulary

/// The sequences that one connection carries, each in its own order.
public enum StreamName: String, CaseIterable, Codable, Sendable {
    case account, contacts, notifications, operations
}

/// What a stream carries. States and bodies are JSON as their owners published it, so that it is encoded once however many
/// connections carry it.
public enum StreamEvent: Hashable, Sendable {
    /// The state of a sequence from which its events go on.
    case snapshot(StreamName, StreamSnapshot)
    /// A sequence goes on where the app was.
    case resumed(StreamName)
    case event(StreamName, StreamedEvent)
    /// A person among the contacts, whole each time.
    case person(Encoded<Person>)
    /// No contact any more: forget them.
    case personEnded(PersonEnded)
    /// An unreliable message in a group session.
    case signal(SignalEvent)
}

public struct StreamSnapshot: Hashable, Sendable {
    /// Whether what came before can't be continued.
    public let isRefetched: Bool
    public let state: [UInt8]

    package init(isRefetched: Bool, state: [UInt8]) {
        self.isRefetched = isRefetched
        self.state = state
    }
}

/// An owner's event. On the wire it has these fields, ids that it lacks as null.
public struct StreamedEvent: Hashable, Sendable {
    public let type: String
    public let version: Int16
    /// When it was recorded.
    public let at: Instant
    /// Everything that one request led to has the same.
    public let correlation: CorrelationID?
    /// The command that caused it.
    public let command: CommandID?
    public let body: [UInt8]

    package init(_ recorded: RecordedMessage) {
        let message = recorded.message
        (type, version, at) = (message.type, message.version, recorded.recordedAt)
        (correlation, command, body) = (message.correlationID, message.commandID, message.body)
    }
}

/// Whom to forget.
public struct PersonEnded: Codable, Hashable, Sendable {
    public let account: AccountID

    package init(account: AccountID) {
        self.account = account
    }
}

/// Why a stream ends: the data of `end`.
public struct StreamEnd: Codable, Hashable, Sendable {
    public enum Reason: String, Codable, Sendable {
        /// The device isn't signed in any more.
        case signedOut
        /// The access token is over: come again with the next one.
        case tokenExpired
        /// Come again, to another process.
        case serverStopping
        /// Something can't go on: come again.
        case serverError
        /// What was known of devices may be wrong: come again.
        case reconnect
    }

    public let reason: Reason
    /// With ``Reason/signedOut``, as far as it is remembered.
    public let why: SignOutReason?

    package init(_ reason: Reason, why: SignOutReason? = nil) {
        self.reason = reason
        self.why = why
    }
}
