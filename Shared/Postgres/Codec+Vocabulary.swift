public import Vocabulary

extension ID: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .uuid }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        withUnsafeBytes(of: high.bigEndian) { buffer.append(contentsOf: $0) }
        withUnsafeBytes(of: low.bigEndian) { buffer.append(contentsOf: $0) }
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .uuid, bytes.count == 16 else {
            throw DecodingFailure("it is no uuid but of type \(type.rawValue)")
        }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension Instant: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { Timestamp.postgresType }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        Timestamp(microseconds: microseconds).encode(into: &buffer)
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init(microseconds: try Timestamp(postgres: bytes, type: type).microseconds)
    }
}

/// Kept as an interval of microseconds alone. Days are read as 24 hours, as `extract(epoch FROM …)` counts them; months
/// have no length, so they can't be read.
extension Interval: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .interval }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        microseconds.append(to: &buffer)
        Int64(0).append(to: &buffer)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .interval, bytes.count == 16 else {
            throw DecodingFailure("it is no interval but of type \(type.rawValue)")
        }
        guard bytes.loadUnaligned(fromByteOffset: 12, as: Int32.self) == 0 else {
            throw DecodingFailure("it has months")
        }
        let days = Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: Int32.self))
        let (whole, isTooLong) = Int64(days).multipliedReportingOverflow(by: 86_400_000_000)
        let (sum, overflow) = whole.addingReportingOverflow(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        guard !isTooLong, !overflow else { throw DecodingFailure("it is too long") }
        self.init(microseconds: sum)
    }
}

extension Key: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { String.postgresType }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool { description.encode(into: &buffer) }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let key = Self(try String(postgres: bytes, type: type)) else { throw DecodingFailure("it isn't a key") }
        self = key
    }
}
