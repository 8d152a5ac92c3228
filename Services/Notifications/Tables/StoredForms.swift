public import NotificationsContract
import NotificationsRules
public import Postgres

// How the words of the contract are kept in columns.

extension NotificationKind: PostgresEncodable, PostgresDecodable {}
extension NotificationCategory: PostgresEncodable {}
extension PushPlatform: PostgresEncodable, PostgresDecodable {}

extension Pace: PostgresEncodable, PostgresDecodable {
    /// The type that it is sent as.
    public static var postgresType: OID { String.postgresType }

    /// Appends its name's bytes in PostgreSQL's binary format.
    public func encode(into buffer: inout [UInt8]) -> Bool { name.encode(into: &buffer) }

    /// Reads its name's bytes in PostgreSQL's binary format.
    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init(name: try String(postgres: bytes, type: type))
    }
}
