public import Postgres
public import Vocabulary

extension ID: PostgresEncodable, PostgresDecodable {
    public static var postgresType: OID { .uuid }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        withUnsafeBytes(of: high.bigEndian) { buffer.append(contentsOf: $0) }
        withUnsafeBytes(of: low.bigEndian) { buffer.append(contentsOf: $0) }
        return true
    }

    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        guard let bytes else { throw DecodingFailure("it is NULL") }
        guard type == .uuid, bytes.count == 16 else { throw DecodingFailure("it is no uuid but of type \(type.rawValue)") }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension Instant: PostgresEncodable, PostgresDecodable {
    public static var postgresType: OID { Timestamp.postgresType }

    public func encode(into buffer: inout [UInt8]) -> Bool {
        Timestamp(microseconds: microseconds).encode(into: &buffer)
    }

    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init(microseconds: try Timestamp(postgres: bytes, type: type).microseconds)
    }
}
