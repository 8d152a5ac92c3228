public import Postgres
public import QuartetNotificationsContract
import QuartetNotificationsRules

// How the contract's types are stored in columns

extension NotificationKind: PostgresEncodable, PostgresDecodable {}
extension NotificationCategory: PostgresEncodable {}
extension PushPlatform: PostgresEncodable, PostgresDecodable {}

extension Pace: PostgresEncodable, PostgresDecodable {
    public static var postgresType: OID { String.postgresType }

    public func encode(into buffer: inout [UInt8]) -> Bool { name.encode(into: &buffer) }

    public init(postgres bytes: UnsafeRawBufferPointer?, type: OID) throws(DecodingFailure) {
        self.init(name: try String(postgres: bytes, type: type))
    }
}
