import Crypto
public import Vocabulary

/// A hash of a state that is made of entities, by which a reader sees that its own has diverged: the sum of the entities' hashes.
/// An event changes it by what it changes, without reading everything.
///
/// An entity's hash is the first eight bytes of the SHA-256 of its canonical JSON, as an unsigned number in network order. Sums
/// wrap around. `Tests/Unit/ContractTests/Vectors/state-hash.json` has examples for other languages.
public struct StateHash: Hashable, Sendable, CustomStringConvertible {
    private var sum: UInt64 = 0

    /// Of no entities.
    public init() {}

    /// Takes an entity in.
    public mutating func add(_ entity: JSONValue) { sum &+= Self.hash(of: entity) }

    /// Takes an entity out.
    public mutating func remove(_ entity: JSONValue) { sum &-= Self.hash(of: entity) }

    /// Sixteen hexadecimal digits in lower case.
    public var description: String {
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func hash(of entity: JSONValue) -> UInt64 {
        SHA256.hash(data: Array(entity.canonical.utf8)).withUnsafeBytes {
            UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))
        }
    }
}
