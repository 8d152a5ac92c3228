public import Foundation

extension FixedWidthInteger {
    /// Appends the bytes in network order.
    @inlinable
    func append(to buffer: inout [UInt8]) {
        withUnsafeBytes(of: bigEndian) { buffer.append(contentsOf: $0) }
    }
}

/// Reads an integer of any of PostgreSQL's widths that fits.
@inlinable
func integer<Value: FixedWidthInteger>(_ bytes: UnsafeRawBufferPointer?, _ type: OID) throws(DecodingFailure) -> Value {
    guard let bytes else { throw DecodingFailure("it is NULL") }
    let wide: Int64
    switch (type, bytes.count) {
    case (.int8, 8): wide = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case (.int4, 4): wide = Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case (.int2, 2): wide = Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case (.oid, 4): wide = Int64(UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))
    default: throw DecodingFailure("it is no integer but of type \(type.rawValue)")
    }
    guard let value = Value(exactly: wide) else { throw DecodingFailure("\(wide) doesn't fit \(Value.self)") }
    return value
}

extension Int16: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int2 }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        append(to: &buffer)
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self = try integer(bytes, type)
    }
}

extension Int32: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int4 }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        append(to: &buffer)
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self = try integer(bytes, type)
    }
}

extension Int64: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int8 }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        append(to: &buffer)
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self = try integer(bytes, type)
    }
}

extension Int: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .int8 }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        Int64(self).append(to: &buffer)
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self = try integer(bytes, type)
    }
}

extension Bool: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .bool }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(self ? 1 : 0)
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .bool, bytes.count == 1 else {
            throw DecodingFailure("it is no bool but of type \(type.rawValue)")
        }
        self = bytes[0] != 0
    }
}

extension Double: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .float8 }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        bitPattern.append(to: &buffer)
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .float8, bytes.count == 8 else {
            throw DecodingFailure("it is no float8 but of type \(type.rawValue)")
        }
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
        guard let bytes else { throw DecodingFailure("it is NULL") }
        switch type {
        case .text, .varchar, .bpchar, .name, .unknown, .json: self = String(decoding: bytes, as: UTF8.self)
        default: throw DecodingFailure("it is no text but of type \(type.rawValue)")
        }
    }
}

extension UUID: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .uuid }
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        withUnsafeBytes(of: uuid) { buffer.append(contentsOf: $0) }
        return true
    }
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .uuid, bytes.count == 16 else {
            throw DecodingFailure("it is no uuid but of type \(type.rawValue)")
        }
        self.init(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
