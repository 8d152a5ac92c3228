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
        guard let bytes else { throw .null }
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
            throw .notAnArray
        }
        reserveCapacity(Int(count))
        for _ in 0..<count {
            let length = try reader.integer()
            append(try Element(postgres: length < 0 ? nil : try reader.take(Int(length)), type: elementType))
        }
    }
}

extension DecodingFailure {
    fileprivate static let notAnArray = DecodingFailure("it isn't an array")
}

private struct ArrayReader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    mutating func integer() throws(DecodingFailure) -> Int32 {
        let part = try take(4)
        return Int32(bigEndian: part.loadUnaligned(as: Int32.self))
    }

    mutating func take(_ count: Int) throws(DecodingFailure) -> UnsafeRawBufferPointer {
        guard count >= 0, offset + count <= bytes.count else { throw .notAnArray }
        defer { offset += count }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count])
    }
}
