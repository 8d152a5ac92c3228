import Foundation

/// What can be said on the bus: a type that encodes to a JSON object and knows its name and version.
///
/// The name is the Swift type's own, the same in SQL, docs and logs. A version never changes its meaning:
/// a changed body is a new version, and old ones stay readable.
public protocol MessageBody: Codable, Hashable, Sendable {
    static var type: String { get }
    static var version: Int16 { get }

    /// Makes what a body of an older version says today. Rows are kept, so every version that was ever published stays
    /// readable for ever; a newer one is never read as an older one.
    /// - Throws: ``MessageError`` when there never was such a version, or the body isn't what it says.
    static func upcast(from body: [UInt8], version: Int16) throws(MessageError) -> Self
}

extension MessageBody {
    /// The Swift type's name.
    public static var type: String { "\(Self.self)" }
    /// 1 unless said otherwise.
    public static var version: Int16 { 1 }

    /// There is no older version unless said otherwise.
    public static func upcast(from body: [UInt8], version: Int16) throws(MessageError) -> Self {
        throw .unknownType(type, version: version)
    }
}

/// An imperative request to one service.
public protocol CommandBody: MessageBody {
    /// The rules that need no state: lengths, forms, ranges. Checked at the edge and again by the service.
    /// - Throws: a ``Rejection`` that names the field and the rule.
    func validate() throws(Rejection)
}

extension CommandBody {
    /// Most commands have no such rules.
    public func validate() throws(Rejection) {}
}

/// A command that apps may send just as it is, for the account that is signed in.
public protocol PublicCommandBody: CommandBody {}

/// A command that a service sends to itself, by a timer for example. No account asks for it, so it names one.
public protocol OwnCommandBody: CommandBody {
    /// The account that it is about.
    var account: AccountID { get }
}

/// A past-tense state change, published by its owner.
public protocol EventBody: MessageBody {
    /// The account whose stream it is in.
    var account: AccountID { get }
}

/// Why a row could not be understood.
public enum MessageError: Error, Hashable, Sendable, CustomStringConvertible {
    case unknownType(String, version: Int16)
    /// A word that isn't on a closed list of the type, as this program knows it.
    case unknownWord(type: String, version: Int16, field: String?, reason: String)
    case malformed(type: String, reason: String, field: String?)

    public var description: String {
        switch self {
        case .unknownType(let type, let version):
            "nobody here knows \(type) version \(version): a newer sender? Update this service"
        case .unknownWord(let type, let version, let field, let reason):
            "\(type) version \(version) has a word in \(field ?? "its body") that nobody here knows: \(reason)"
        case .malformed(let type, let reason, let field):
            "the body of \(type) \(field.map { "has a wrong \($0): " } ?? "can't be read: ")\(reason)"
        }
    }

    /// What a program has to know to read it, where that is what is missing: a type with its version, or a word of one.
    public var needs: String? {
        switch self {
        case .unknownType(let type, let version): "\(type)@\(version)"
        case .unknownWord(let type, let version, let field, let reason):
            String("\(type)@\(version) \(field ?? ""): \(reason)".prefix(200))
        case .malformed: nil
        }
    }
}

extension MessageBody {
    /// The canonical encoding: keys sorted, so that equal bodies have equal hashes.
    public func encoded() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }

    /// Reads a body of this type, in whichever version it was published.
    public static func decoded(from body: [UInt8], version: Int16) throws(MessageError) -> Self {
        if version == Self.version { return try decoded(from: body) }
        guard (1..<Self.version).contains(version) else { throw .unknownType(type, version: version) }
        return try upcast(from: body, version: version)
    }

    /// Reads a body of this very type and version.
    public static func decoded(from body: [UInt8]) throws(MessageError) -> Self {
        do {
            return try JSONDecoder().decode(Self.self, from: Data(body))
        } catch let error as DecodingError {
            if error.isUnknownWord {
                throw .unknownWord(type: type, version: version, field: error.field, reason: error.reason)
            }
            throw .malformed(type: type, reason: error.reason, field: error.field)
        } catch {
            throw .malformed(type: type, reason: "\(error)", field: nil)
        }
    }
}

extension DecodingError {
    /// Whether a value isn't among the cases of an enum: what the standard library says when `init(rawValue:)` gives nil.
    /// Text that a type of ours refuses says something else.
    var isUnknownWord: Bool {
        guard case .dataCorrupted(let context) = self else { return false }
        return context.debugDescription.hasPrefix("Cannot initialize ")
            && context.debugDescription.contains(" from invalid ")
    }

    /// The path of the field at fault, with dots; nil when the whole document is.
    public var field: String? {
        let path: [any CodingKey]
        switch self {
        case .keyNotFound(let key, let context): path = context.codingPath + [key]
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            path = context.codingPath
        @unknown default: path = []
        }
        return path.isEmpty ? nil : path.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }

    /// A phrase that follows the field's name.
    public var reason: String {
        switch self {
        case .keyNotFound: "it is missing"
        case .typeMismatch(let type, _): "it must be a \(type)"
        case .valueNotFound: "it must not be null"
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "\(self)"
        }
    }
}

/// A row that a sender wants in one of its own logs.
public struct Message: Hashable, Sendable {
    /// As in the column `kind`.
    public enum Kind: String, Sendable, Hashable {
        case command, event, outcome
    }

    public var kind: Kind
    /// The row's own, made by the sender.
    public var id: MessageID
    /// The body's type.
    public var type: String
    /// The type's version.
    public var version: Int16
    public var key: Key
    /// Whom it is about or who asked, where there is one.
    public var account: AccountID?
    /// A JSON object in UTF-8, at most 64 kB.
    public var body: [UInt8]
    /// The command that is asked, or that led to this.
    public var commandID: CommandID?
    /// Set on the one row that carries a command's outcome, together with `commandHash`.
    public var outcome: Outcome.Kind?
    /// Set with `outcome`: which body the outcome is of.
    public var commandHash: BodyHash?
    /// Shared by everything that one request led to.
    public var correlationID: CorrelationID?
    /// The message that this one was caused by.
    public var causationID: MessageID?
    /// W3C trace context, as the header `traceparent` has it.
    public var traceParent: String?
    /// How long after its append a command is good for. What its service comes to later is rejected as expired. A span, not
    /// a time: the database's clock alone decides. A row that was read says ``RecordedMessage/expiresAt`` instead.
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

    /// The largest body that a log takes, in bytes.
    public static let bodyLimit = 65_536
}

/// A message in its final place.
public struct RecordedMessage: Hashable, Sendable {
    public let partition: Partition
    public let position: Position
    /// What was said.
    public let message: Message
    /// By the database's clock.
    public let recordedAt: Instant
    /// Until when a command is good, by the database's clock; nil for ever.
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
