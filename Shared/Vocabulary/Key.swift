import Crypto

/// What keeps order: the account that asks, or the group session. Messages with one key are handled in the order in
/// which they were appended.
///
/// Text of the form `kind/id`, 1 to 128 bytes of UTF-8.
public struct Key: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    /// Returns nil for empty text, more than 128 bytes of UTF-8, or U+0000.
    public init?(_ text: String) {
        guard (1...128).contains(text.utf8.count), !text.utf8.contains(0) else { return nil }
        description = text
    }

    /// The key of what an account asks, and of the streams about it.
    public static func account(_ account: AccountID) -> Self { Self(kind: "account", id: account.description) }

    /// The account, where this key is one's.
    public var account: AccountID? {
        description.hasPrefix("account/") ? AccountID(String(description.dropFirst("account/".count))) : nil
    }

    package init(kind: StaticString, id: String) {
        description = "\(kind)/\(id)"
    }
}

extension Key: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let key = Self(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "must have 1 to 128 bytes")
        }
        self = key
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// One numbered shard of a log.
public struct Partition: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// From 0 for a partition, from 1 for what is counted.
    public let number: Int32

    public init(_ number: Int32) {
        self.number = number
    }

    /// Where a key's messages go: the first four bytes of the SHA-256 of its UTF-8, as an unsigned number in network
    /// order, modulo the partition count. `bus_partition` is the same in SQL; both are held to the same vectors.
    public init(of key: Key, among count: Int32) {
        precondition(count > 0, "a log has at least one partition")
        var text = key.description
        let word = text.withUTF8 { utf8 in
            SHA256.hash(data: UnsafeRawBufferPointer(utf8)).withUnsafeBytes {
                UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self))
            }
        }
        number = Int32(word % UInt32(count))
    }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    public var description: String { String(number) }
}

/// The gap-free number of a row in its partition; the first row's is 1.
public struct Position: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// From 0 for a partition, from 1 for what is counted.
    public let number: Int64

    public init(_ number: Int64) {
        self.number = number
    }

    /// Before the first row.
    public static let start = Position(0)

    /// The one after it.
    public var next: Position { Position(number + 1) }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    public var description: String { String(number) }
}

/// How often a partition's lease changed hands.
public struct Epoch: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// From 0 for a partition, from 1 for what is counted.
    public let number: Int64

    public init(_ number: Int64) {
        self.number = number
    }

    public static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    public var description: String { String(number) }
}

/// A log by its schema and table: `contacts.log`. Its doorbell's channel has the same name.
public struct LogName: Hashable, Sendable, CustomStringConvertible {
    /// The schema, and with it the service that owns it.
    public let schema: String
    public let table: String

    public init(schema: String, table: String) {
        self.schema = schema
        self.table = table
    }

    public var description: String { "\(schema).\(table)" }
    /// The channel of its doorbell.
    public var channel: String { description }
}
