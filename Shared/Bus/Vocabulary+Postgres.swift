public import Postgres
public import Vocabulary

extension ID: PostgresEncodable, PostgresDecodable {
    /// The type that it is sent as.
    @inlinable public static var postgresType: OID { .uuid }

    /// Appends its bytes in PostgreSQL's binary format.
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        withUnsafeBytes(of: high.bigEndian) { buffer.append(contentsOf: $0) }
        withUnsafeBytes(of: low.bigEndian) { buffer.append(contentsOf: $0) }
        return true
    }

    /// Reads its bytes in PostgreSQL's binary format.
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
    /// The type that it is sent as.
    @inlinable public static var postgresType: OID { Timestamp.postgresType }

    /// Appends its bytes in PostgreSQL's binary format.
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        Timestamp(microseconds: microseconds).encode(into: &buffer)
    }

    /// Reads its bytes in PostgreSQL's binary format.
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init(microseconds: try Timestamp(postgres: bytes, type: type).microseconds)
    }
}
