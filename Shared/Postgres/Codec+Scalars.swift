extension FixedWidthInteger {
    /// Appends the bytes in network order.
    @inlinable
    func append(to buffer: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { buffer.append(contentsOf: $0) }
    }
}

/// The bytes of a value of one type.
/// - Throws: ``DecodingFailure`` for NULL, another type, or another size if one is given.
@inlinable
func value(
    _ bytes: UnsafeRawBufferPointer?, _ type: OID, is expected: OID, _ name: @autoclosure () -> String, size: Int? = nil
) throws(DecodingFailure) -> UnsafeRawBufferPointer {
    guard let bytes else { throw .null }
    guard type == expected, bytes.count == size ?? bytes.count else {
        throw DecodingFailure("it is of type \(type.rawValue), not \(name())")
    }
    return bytes
}

// Each integer type is sent as its own width and read from any width that fits.

extension FixedWidthInteger where Self: PostgresEncodable {
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        append(to: &buffer)
        return true
    }
}

extension FixedWidthInteger where Self: PostgresDecodable {
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw .null }
        let wide: Int64
        switch (type, bytes.count) {
        case (.int8, 8): wide = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        case (.int4, 4): wide = Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
        case (.int2, 2): wide = Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
        case (.oid, 4): wide = Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
        default: throw DecodingFailure("it is of type \(type.rawValue), not an integer")
        }
        guard let value = Self(exactly: wide) else { throw DecodingFailure("\(wide) doesn't fit \(Self.self)") }
        self = value
    }
}

extension Int16: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int2 }
}

extension Int32: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int4 }
}

extension Int64: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int8 }
}

extension Int: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int8 }
}

extension Bool: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .bool }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(self ? 1 : 0)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self = try value(bytes, type, is: .bool, "bool", size: 1)[0] != 0
    }
}

extension Double: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .float8 }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        bitPattern.append(to: &buffer)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        let bytes = try value(bytes, type, is: .float8, "float8", size: 8)
        self.init(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }
}

extension String: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .text }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(contentsOf: utf8)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw .null }
        switch type {
        case .text, .varchar, .bpchar, .name, .unknown, .json: self = String(decoding: bytes, as: UTF8.self)
        default: throw DecodingFailure("it is of type \(type.rawValue), not text")
        }
    }
}
