import Foundation

/// A type's object identifier in `pg_type`.
public struct OID: RawRepresentable, Hashable, Sendable {
    /// As in `pg_type.oid`.
    public let rawValue: UInt32

    /// From its raw form.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// The type `bool `.
    public static let bool = OID(rawValue: 16)
    /// The type `bytea `.
    public static let bytea = OID(rawValue: 17)
    /// The type `name `.
    public static let name = OID(rawValue: 19)
    /// The type `int8 `.
    public static let int8 = OID(rawValue: 20)
    /// The type `int2 `.
    public static let int2 = OID(rawValue: 21)
    /// The type `int4 `.
    public static let int4 = OID(rawValue: 23)
    /// The type `text `.
    public static let text = OID(rawValue: 25)
    /// The type `oid `.
    public static let oid = OID(rawValue: 26)
    /// The type `json `.
    public static let json = OID(rawValue: 114)
    /// The type `float8 `.
    public static let float8 = OID(rawValue: 701)
    /// The type `unknown `.
    public static let unknown = OID(rawValue: 705)
    /// The type `bpchar `.
    public static let bpchar = OID(rawValue: 1042)
    /// The type `varchar `.
    public static let varchar = OID(rawValue: 1043)
    /// The type `timestamptz `.
    public static let timestamptz = OID(rawValue: 1184)
    /// The type `void `.
    public static let void = OID(rawValue: 2278)
    /// The type `uuid `.
    public static let uuid = OID(rawValue: 2950)
    /// The type `jsonb `.
    public static let jsonb = OID(rawValue: 3802)

    /// The type of arrays of this one; nil for types that this module doesn't send.
    var array: OID? { Self.arrays[self] }

    private static let arrays: [OID: OID] = [
        .bool: OID(rawValue: 1000), .bytea: OID(rawValue: 1001), .int2: OID(rawValue: 1005), .int4: OID(rawValue: 1007),
        .text: OID(rawValue: 1009), .int8: OID(rawValue: 1016), .json: OID(rawValue: 199), .float8: OID(rawValue: 1022),
        .timestamptz: OID(rawValue: 1185), .uuid: OID(rawValue: 2951), .jsonb: OID(rawValue: 3807),
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

/// Why a column could not be read as the type that was asked for.
public struct DecodingFailure: Error, Hashable, Sendable {
    /// A phrase that follows «the column».
    public let reason: String

    /// All its parts, as the properties describe them.
    public init(_ reason: String) {
        self.reason = reason
    }
}
