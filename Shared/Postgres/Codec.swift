/// A type's object identifier in `pg_type`.
public struct OID: RawRepresentable, Hashable, Sendable {
    /// As in `pg_type.oid`.
    public let rawValue: UInt32

    @inlinable public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    @inlinable public static var bool: OID { OID(rawValue: 16) }
    @inlinable public static var bytea: OID { OID(rawValue: 17) }
    @inlinable public static var name: OID { OID(rawValue: 19) }
    @inlinable public static var int8: OID { OID(rawValue: 20) }
    @inlinable public static var int2: OID { OID(rawValue: 21) }
    @inlinable public static var int4: OID { OID(rawValue: 23) }
    @inlinable public static var text: OID { OID(rawValue: 25) }
    @inlinable public static var oid: OID { OID(rawValue: 26) }
    @inlinable public static var json: OID { OID(rawValue: 114) }
    @inlinable public static var float8: OID { OID(rawValue: 701) }
    @inlinable public static var interval: OID { OID(rawValue: 1186) }
    @inlinable public static var unknown: OID { OID(rawValue: 705) }
    @inlinable public static var bpchar: OID { OID(rawValue: 1042) }
    @inlinable public static var varchar: OID { OID(rawValue: 1043) }
    @inlinable public static var timestamptz: OID { OID(rawValue: 1184) }
    @inlinable public static var void: OID { OID(rawValue: 2278) }
    @inlinable public static var uuid: OID { OID(rawValue: 2950) }

    /// The type of arrays of this one; nil for types that this module doesn't send.
    var array: OID? { Self.arrays[self] }

    private static let arrays: [OID: OID] = [
        .bool: OID(rawValue: 1000), .bytea: OID(rawValue: 1001), .int2: OID(rawValue: 1005), .int4: OID(rawValue: 1007),
        .text: OID(rawValue: 1009), .int8: OID(rawValue: 1016), .json: OID(rawValue: 199), .float8: OID(rawValue: 1022),
        .timestamptz: OID(rawValue: 1185), .interval: OID(rawValue: 1187), .uuid: OID(rawValue: 2951),
    ]
}

/// A Swift type that can be bound to a parameter, in PostgreSQL's binary format.
public protocol PostgresEncodable: Sendable {
    static var postgresType: OID { get }
    /// Appends the value's bytes. Returns false for NULL, having appended nothing.
    func encode(into buffer: inout [UInt8]) -> Bool
}

/// A Swift type that can be read from a column in PostgreSQL's binary format.
public protocol PostgresDecodable {
    /// - Parameter bytes: nil for NULL.
    /// - Throws: ``DecodingFailure`` when the bytes aren't such a value.
    init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure)
}

/// A Swift type that a column can hold.
public typealias PostgresCodable = PostgresEncodable & PostgresDecodable

/// Why a column could not be read as the type that was asked for.
public struct DecodingFailure: Error, Hashable, Sendable {
    /// A phrase that follows «the column».
    public let reason: String

    @inlinable public init(_ reason: String) {
        self.reason = reason
    }

    @usableFromInline static let null = DecodingFailure("it is NULL")
}
