public import QuartetSessionContract
public import QuartetVocabulary

/// The sequences that one connection carries, each in its own order.
public enum StreamName: Hashable, Sendable, LosslessStringConvertible {
    case account, contacts, notifications, operations
    /// A group session's.
    case group(GroupID)

    /// Those of every account, which each connection carries.
    public static let ofAccount: [StreamName] = [.account, .contacts, .notifications, .operations]

    /// As it stands in an event's id: `contacts`, or `group/01a1…`.
    public init?(_ text: String) {
        if let name = Self.ofAccount.first(where: { $0.description == text }) {
            self = name
        } else if text.hasPrefix("group/"), let group = GroupID(String(text.dropFirst("group/".count))) {
            self = .group(group)
        } else {
            return nil
        }
    }

    public var description: String {
        switch self {
        case .account, .contacts, .notifications, .operations: family
        case .group(let group): "\(family)/\(group)"
        }
    }

    /// What its events' names begin with.
    public var family: String {
        switch self {
        case .account: "account"
        case .contacts: "contacts"
        case .notifications: "notifications"
        case .operations: "operations"
        case .group: "group"
        }
    }

    /// The session whose sequence it is, if it is one's.
    public var group: GroupID? {
        if case .group(let group) = self { group } else { nil }
    }
}

/// What a stream carries. States and bodies are JSON as their owners published it, so that it is encoded once however many
/// connections carry it.
public enum StreamEvent: Hashable, Sendable {
    /// The stream's own name, before everything else.
    case begun(StreamBegun)
    /// The state of a sequence from which its events go on.
    case snapshot(StreamName, StreamSnapshot)
    /// A sequence goes on where the app was.
    case resumed(StreamName)
    case event(StreamName, StreamedEvent)
    /// A group session's sequence is over for this reader; nothing of it follows.
    case groupEnded(GroupStreamEnded)
    /// The group sessions that the account is in or may join, all of them each time.
    case groups(Encoded<GroupsPage>)
    /// A person among the contacts, or in a group session that the app follows, whole each time.
    case person(Encoded<Person>)
    /// No contact any more: forget them.
    case personEnded(PersonEnded)
    /// An unreliable message in a group session.
    case signal(SignalEvent)
}

public struct StreamSnapshot: Hashable, Sendable {
    /// Whether what came before can't be continued.
    public let isRefetched: Bool
    /// Of a group session: the hash of the state.
    public let hash: String?
    public let state: [UInt8]

    public init(isRefetched: Bool, hash: String? = nil, state: [UInt8]) {
        self.isRefetched = isRefetched
        self.hash = hash
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
    /// Of a group session: the hash of the state after this event, as far as it is known.
    public let hash: String?
    public let body: [UInt8]

    public init(
        type: String, version: Int16, at: Instant, correlation: CorrelationID? = nil, command: CommandID? = nil,
        hash: String? = nil, body: [UInt8]
    ) {
        self.type = type
        self.version = version
        self.at = at
        self.correlation = correlation
        self.command = command
        self.hash = hash
        self.body = body
    }

    package init(_ recorded: RecordedMessage, hash: String? = nil) {
        let message = recorded.message
        self.hash = hash
        (type, version, at) = (message.type, message.version, recorded.recordedAt)
        (correlation, command) = (message.correlationID, message.commandID)
        body = GroupAudience.withheld(from: message.body, of: message.type)
    }

    /// In place of a message that isn't for the reader: at its position, without anything of it.
    package init(withheld recorded: RecordedMessage, hash: String?) {
        (type, version, at) = (MessageWithheld.type, MessageWithheld.version, recorded.recordedAt)
        (correlation, command, self.hash, body) = (nil, nil, hash, Array("{}".utf8))
    }
}

/// Why a group session's sequence is over for a reader: the data of `group.ended`.
public struct GroupStreamEnded: Codable, Hashable, Sendable {
    public enum Reason: String, Codable, CaseIterable, Sendable {
        /// The reader left.
        case left
        /// The host removed the reader.
        case removed
        /// The reader was without a connection for too long.
        case dropped
        /// The invitation was declined or withdrawn.
        case withdrawn
        /// The session was ended for everyone.
        case ended
        /// Nobody was in the session for too long.
        case expired
        /// There is no such session for the reader, or it isn't open to them any more.
        case groupNotFound
    }

    public let group: GroupID
    public let reason: Reason

    package init(group: GroupID, reason: Reason) {
        self.group = group
        self.reason = reason
    }
}

/// Whom to forget.
public struct PersonEnded: Codable, Hashable, Sendable {
    public let account: AccountID

    public init(account: AccountID) {
        self.account = account
    }
}

/// Why a stream ends: the data of `end`.
public struct StreamEnd: Codable, Hashable, Sendable {
    public enum Reason: String, Codable, CaseIterable, Sendable {
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
