public import Vocabulary

/// What a partition is made of, as ``PartitionMachine`` sees it.
public protocol PartitionItem: Sendable {
    associatedtype OrderKey: Hashable & Sendable
    /// Items of one key are handled in order; of others, nothing is promised.
    var orderKey: OrderKey { get }
    /// Its place in the partition.
    var position: Position { get }
}

extension RecordedMessage: PartitionItem {
    /// The message's key.
    public var orderKey: Key { message.key }
}

/// Why a message failed for good, as far as one try can tell.
public struct Fault: Hashable, Sendable, CustomStringConvertible {
    /// As in the column `dead_letter.code`, and the code of the outcome `failed`.
    public enum Code: String, Sendable, Hashable {
        /// The rules or the database said an error that trying again may or may not help against.
        case error
        /// Nobody here knows its type and version: a newer sender. Another replica, or this one after its update, may.
        case unreadable
        /// It ended the process, as often as the limits allow.
        case crashed
        /// An operator gave it up.
        case discarded
    }

    /// What kind it is.
    public let code: Code
    /// What was said.
    public let description: String

    /// All its parts, as the properties describe them.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}

/// The first message of a parked key. Later ones of the key wait behind it.
public struct Parked<OrderKey: Hashable & Sendable>: Hashable, Sendable {
    /// The key that it holds back.
    public var key: OrderKey
    /// Its place in the partition.
    public var position: Position
    /// How often it failed; 0 when it only waited behind another, which is gone.
    public var attempts: Int
    /// When it is tried again; nil when it isn't before an operator says so.
    public var retryAt: ContinuousClock.Instant?
    /// An operator gave it up.
    public var isDiscarded: Bool

    /// All its parts, as the properties describe them.
    public init(
        key: OrderKey, position: Position, attempts: Int, retryAt: ContinuousClock.Instant?, isDiscarded: Bool = false
    ) {
        self.key = key
        self.position = position
        self.attempts = attempts
        self.retryAt = retryAt
        self.isDiscarded = isDiscarded
    }
}
