import Crypto
public import QuartetVocabulary

/// A hash of a state that is made of entities, by which a reader sees that its own has diverged: the sum of the entities' hashes.
/// An event changes it by what it changes, without reading everything.
///
/// An entity's hash is the first eight bytes of the SHA-256 of its canonical JSON, as an unsigned number in network order. Sums
/// wrap around. `Tests/Unit/ContractTests/Vectors/state-hash.json` has examples for other languages.
public struct StateHash: Hashable, Sendable, CustomStringConvertible {
    private var sum: UInt64 = 0

    /// Of no entities.
    public init() {}

    /// Of a state that is one entity. Members of objects that are null mean the same as none.
    public init(ofWhole state: JSONValue) { add(Entity(state.withoutNulls)) }

    /// One entity's hash.
    public struct Entity: Hashable, Sendable {
        fileprivate let value: UInt64

        public init(_ entity: JSONValue) {
            value = SHA256.hash(data: Array(entity.canonical.utf8)).withUnsafeBytes {
                UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))
            }
        }
    }

    /// Takes an entity in.
    public mutating func add(_ entity: Entity) { sum &+= entity.value }

    /// Takes an entity out.
    public mutating func remove(_ entity: Entity) { sum &-= entity.value }

    /// Sixteen hexadecimal digits in lower case.
    public var description: String {
        let digits = String(sum, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

extension JSONValue {
    fileprivate var withoutNulls: JSONValue {
        switch self {
        case .object(let members):
            .object(members.compactMapValues { $0 == .null ? nil : $0.withoutNulls })
        case .array(let elements): .array(elements.map(\.withoutNulls))
        case .null, .bool, .integer, .number, .string: self
        }
    }
}
