/// A timestamptz: whole microseconds since 1970-01-01 00:00 UTC. Never a `Date`: what is compared or stored must come
/// back the same.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Since 1970-01-01 00:00 UTC.
    public let microseconds: Int64

    @inlinable public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// From PostgreSQL's epoch, 2000-01-01, to Unix's.
    public static let epochOffset: Int64 = 946_684_800_000_000

    @inlinable public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }
}

extension Timestamp: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .timestamptz }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        // Far before any time that the server takes; not the least number, which is its -infinity.
        let (moved, overflow) = microseconds.subtractingReportingOverflow(Self.epochOffset)
        max(overflow ? .min : moved, .min + 1).append(to: &buffer)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .timestamptz, bytes.count == 8 else {
            throw DecodingFailure("it is no timestamptz but of type \(type.rawValue)")
        }
        let stored = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        let (microseconds, overflow) = stored.addingReportingOverflow(Self.epochOffset)
        guard !overflow, stored != .min else { throw DecodingFailure("it is infinite") }
        self.microseconds = microseconds
    }
}

/// A json document as the UTF-8 that it is.
public struct JSON: Hashable, Sendable {
    public let bytes: [UInt8]

    @inlinable public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension JSON: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .json }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(contentsOf: bytes)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .json else { throw DecodingFailure("it is no json but of type \(type.rawValue)") }
        self.init([UInt8](bytes))
    }
}

/// Bytes, as bytea.
public struct Bytes: Hashable, Sendable {
    public let bytes: [UInt8]

    @inlinable public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }
}

extension Bytes: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .bytea }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(contentsOf: bytes)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .bytea else { throw DecodingFailure("it is no bytea but of type \(type.rawValue)") }
        self.init([UInt8](bytes))
    }
}

extension Optional: PostgresEncodable where Wrapped: PostgresEncodable {
    @inlinable public static var postgresType: OID { Wrapped.postgresType }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool { self?.encode(into: &buffer) ?? false }
}

extension Optional: PostgresDecodable where Wrapped: PostgresDecodable {
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self = bytes == nil ? nil : try Wrapped(postgres: bytes, type: type)
    }
}

/// One-dimensional arrays in the binary format: dimensions, a flag for NULLs, the element type, length and lower bound,
/// then each element with its length (`src/backend/utils/adt/arrayfuncs.c`, `array_send`).
extension Array: PostgresEncodable where Element: PostgresEncodable {
    public static var postgresType: OID { Element.postgresType.array ?? .unknown }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        Self.encode(self, into: &buffer) { $0 }
        return true
    }

    /// Appends the bytes of an array with one element for each of `items`, without making the array.
    @inlinable
    static func encode<Item>(_ items: some Collection<Item>, into buffer: inout [UInt8], _ element: (Item) -> Element) {
        buffer.reserveCapacity(buffer.count + 20 + items.count * 20)
        Int32(items.isEmpty ? 0 : 1).append(to: &buffer)
        let flagAt = buffer.count
        Int32(0).append(to: &buffer)
        Element.postgresType.rawValue.append(to: &buffer)
        guard !items.isEmpty else { return }
        Int32(items.count).append(to: &buffer)
        Int32(1).append(to: &buffer)
        for item in items {
            let lengthAt = buffer.count
            Int32(-1).append(to: &buffer)
            if element(item).encode(into: &buffer) {
                let length = UInt32(buffer.count - lengthAt - 4)
                for shift in 0..<4 {
                    buffer[lengthAt + shift] = UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32(shift)))
                }
            } else {
                buffer[flagAt + 3] = 1
            }
        }
    }
}

extension Array: PostgresDecodable where Element: PostgresDecodable {
    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        var reader = ArrayReader(bytes: bytes)
        let dimensions = try reader.integer()
        _ = try reader.integer()
        let elementType = OID(rawValue: UInt32(bitPattern: try reader.integer()))
        self = []
        guard dimensions != 0 else { return }
        guard dimensions == 1 else { throw DecodingFailure("it has \(dimensions) dimensions") }
        let count = try reader.integer()
        _ = try reader.integer()
        // Each element has its length before it.
        guard count >= 0, Int(count) <= (bytes.count - reader.offset) / 4 else {
            throw DecodingFailure("it is no array")
        }
        reserveCapacity(Int(count))
        for _ in 0..<count {
            let length = try reader.integer()
            append(try Element(postgres: length < 0 ? nil : try reader.take(Int(length)), type: elementType))
        }
    }
}

private struct ArrayReader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    mutating func integer() throws(DecodingFailure) -> Int32 {
        let part = try take(4)
        return Int32(bigEndian: part.loadUnaligned(as: Int32.self))
    }

    mutating func take(_ count: Int) throws(DecodingFailure) -> UnsafeRawBufferPointer {
        guard count >= 0, offset + count <= bytes.count else { throw DecodingFailure("it is no array") }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }
}
