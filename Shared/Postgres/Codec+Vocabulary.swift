public import QuartetVocabulary

extension ID: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .uuid }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        high.append(to: &buffer)
        low.append(to: &buffer)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        let bytes = try value(bytes, type, is: .uuid, "uuid", size: 16)
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }
}

extension Instant: PostgresEncodable, PostgresDecodable {
    /// From PostgreSQL's epoch, 2000-01-01, to Unix's.
    @usableFromInline static let epochOffset: Int64 = 946_684_800_000_000

    @inlinable public static var postgresType: OID { .timestamptz }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        // A time far before any that the server accepts, but not the least number, which is its -infinity.
        let (moved, overflow) = microseconds.subtractingReportingOverflow(Self.epochOffset)
        max(overflow ? .min : moved, .min + 1).append(to: &buffer)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        let bytes = try value(bytes, type, is: .timestamptz, "timestamptz", size: 8)
        let stored = Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
        let (microseconds, overflow) = stored.addingReportingOverflow(Self.epochOffset)
        guard !overflow, stored != .min else { throw DecodingFailure("it is infinite") }
        self.init(microseconds: microseconds)
    }
}

/// Sent as an interval of microseconds alone. Days are read as 24 hours, as `extract(epoch FROM …)` counts them. Months have
/// no fixed length, so they can't be read.
extension Interval: PostgresEncodable, PostgresDecodable {
    @inlinable public static var postgresType: OID { .interval }

    @inlinable public func encode(into buffer: inout [UInt8]) -> Bool {
        microseconds.append(to: &buffer)
        Int64(0).append(to: &buffer)
        return true
    }

    @inlinable public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        let bytes = try value(bytes, type, is: .interval, "interval", size: 16)
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
