/// Bytes that PostgreSQL stores as they are.
public protocol PostgresBytes: PostgresEncodable, PostgresDecodable {
    var bytes: [UInt8] { get }
    init(_ bytes: [UInt8])
}

extension PostgresBytes {
    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        buffer.append(contentsOf: bytes)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init([UInt8](try value(bytes, type, is: Self.postgresType, "\(Self.self)")))
    }
}

/// A json document in UTF-8.
public struct JSON: PostgresBytes, Hashable, Sendable {
    public let bytes: [UInt8]

    @inlinable public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    @inlinable public static var postgresType: OID { .json }
}

/// Bytes, as bytea.
public struct Bytes: PostgresBytes, Hashable, Sendable {
    public let bytes: [UInt8]

    @inlinable public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    @inlinable public static var postgresType: OID { .bytea }
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
