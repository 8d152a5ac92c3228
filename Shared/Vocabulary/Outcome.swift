import Crypto

/// Why a command was refused: a stable code for programs, a sentence for people, and the field at fault if one is.
public struct Rejection: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// Lower camel case, stable for ever, for example `alreadyContact`.
    public struct Code: RawRepresentable, Hashable, Sendable, Codable, ExpressibleByStringLiteral {
        /// The code as it is written.
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public init(stringLiteral value: StaticString) {
            rawValue = "\(value)"
        }
    }

    /// For programs.
    public let code: Code
    /// Says what to do, in a sentence.
    public let message: String
    /// The name of the field at fault as in the command's JSON, with dots for nested ones.
    public let field: String?
    /// After how long the same may be accepted, where only time is in the way.
    public let retryAfter: Interval?

    public init(_ code: Code, _ message: String, field: String? = nil, retryAfter: Interval? = nil) {
        self.code = code
        self.message = message
        self.field = field
        self.retryAfter = retryAfter
    }

    public var description: String {
        field.map { "\(code.rawValue) (\($0)): \(message)" } ?? "\(code.rawValue): \(message)"
    }
}

extension Rejection.Code {
    /// The command's time was up before its service came to it; nothing was done.
    public static let expired: Self = "expired"
    /// The command's id was used before, with another body.
    public static let idReused: Self = "idReused"
    /// The command's id is older than outcomes are remembered, so doing it might do it twice.
    public static let idTooOld: Self = "idTooOld"
    /// The command's body isn't what its type and version say.
    public static let malformed: Self = "malformed"
    /// A field has a value that its rule refuses.
    public static let invalidField: Self = "invalidField"
}

/// How a command ended. Exactly one is recorded per command.
public enum Outcome: Hashable, Sendable {
    /// Done. What it caused begins with `event`; nil when it changed nothing.
    case accepted(event: CausedEvent?)
    /// Refused for a reason; nothing was done.
    case rejected(Rejection)
    /// Given up after retries; nothing was done. An operator finds it among the dead letters.
    case failed(code: String)

    /// As in the column `outcome`.
    public enum Kind: String, Sendable, Hashable {
        case accepted, rejected, failed
    }

    /// Without the details.
    public var kind: Kind {
        switch self {
        case .accepted: .accepted
        case .rejected: .rejected
        case .failed: .failed
        }
    }
}

/// The first event that an accepted command caused: its place tells a reader when it has seen the change, its body is
/// the command's result.
public struct CausedEvent: Hashable, Sendable {
    public let partition: Partition
    public let position: Position
    public let type: String
    public let body: [UInt8]

    public init(partition: Partition, position: Position, type: String, body: [UInt8]) {
        self.partition = partition
        self.position = position
        self.type = type
        self.body = body
    }
}

/// What a command said, in sixteen bytes: the same id with another body has another hash.
public struct BodyHash: Hashable, Sendable {
    /// Sixteen bytes.
    public let id: ID<Self>

    public init(id: ID<Self>) {
        self.id = id
    }

    /// The first half of a SHA-256 over type, version, key, account and body.
    public init(type: String, version: Int16, key: Key, account: AccountID?, body: [UInt8]) {
        var hash = SHA256()
        hash.update(data: Array("\(type)\u{0}\(version)\u{0}\(key)\u{0}".utf8))
        hash.update(data: account?.bytes ?? [])
        hash.update(data: [0])
        hash.update(data: body)
        id = hash.finalize().withUnsafeBytes {
            ID(
                high: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }
}
