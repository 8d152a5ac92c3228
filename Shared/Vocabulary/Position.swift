import Crypto

/// A type that is nothing but a number of its own kind.
package protocol Numbered: Hashable, Comparable, Sendable, CustomStringConvertible {
    associatedtype Number: FixedWidthInteger
    var number: Number { get }
}

extension Numbered {
    @inlinable package static func < (left: Self, right: Self) -> Bool { left.number < right.number }
    package var description: String { String(number) }
}

/// A numbered shard of a log.
package struct Partition: Numbered {
    /// From 0.
    package let number: Int32

    package init(_ number: Int32) {
        self.number = number
    }

    /// The partition of a key: the first four bytes of the SHA-256 of its UTF-8, as an unsigned number in network
    /// order, modulo the partition count. The same test vectors hold for `bus_partition` in SQL.
    package init(of key: Key, among count: Int32) {
        precondition(count > 0, "a log has at least one partition")
        var text = key.description
        let word = text.withUTF8 { utf8 in
            SHA256.hash(data: UnsafeRawBufferPointer(utf8)).withUnsafeBytes {
                UInt32(bigEndian: $0.loadUnaligned(as: UInt32.self))
            }
        }
        number = Int32(word % UInt32(count))
    }
}

/// The gap-free number of a row in its partition.
package struct Position: Numbered {
    /// From 1.
    package let number: Int64

    package init(_ number: Int64) {
        self.number = number
    }

    /// Before the first row.
    package static let start = Position(0)

    package var next: Position { Position(number + 1) }
}

/// How often a partition's lease has changed hands.
package struct Epoch: Numbered {
    /// From 1.
    package let number: Int64

    package init(_ number: Int64) {
        self.number = number
    }
}
