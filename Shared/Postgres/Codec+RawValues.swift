/// An enumeration is stored as its raw value: `extension Platform: PostgresEncodable, PostgresDecodable {}`.
extension RawRepresentable where RawValue: PostgresEncodable, Self: PostgresEncodable {
    @inlinable public static var postgresType: OID { RawValue.postgresType }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool { rawValue.encode(into: &buffer) }
}

extension RawRepresentable where RawValue: PostgresDecodable, Self: PostgresDecodable {
    /// - Throws: ``DecodingFailure`` for a raw value that this release doesn't know. A newer one may have written it.
    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        let rawValue = try RawValue(postgres: bytes, type: type)
        guard let value = Self(rawValue: rawValue) else { throw DecodingFailure("\(Self.self) has no \(rawValue)") }
        self = value
    }
}
