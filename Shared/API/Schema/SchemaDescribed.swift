import QuartetContractSupport
package import QuartetNotificationsContract
package import QuartetSessionContract
package import QuartetVocabulary

/// A type whose JSON isn't an object of its fields says what it is.
package protocol SchemaDescribed: Decodable {
    static var schema: Schema { get }
    /// Any value: types are asked for their fields by decoding one.
    static var sample: Self { get }
}

/// A type whose name in documents isn't the one in Swift. Names in documents stay, while in Swift a type must have none that a
/// framework of apps has as well.
package protocol SchemaNamed {
    static var schemaName: String { get }
}

extension GroupAttachment: SchemaNamed {
    package static var schemaName: String { "Attachment" }
}

extension GroupParticipant: SchemaNamed {
    package static var schemaName: String { "Participant" }
}

extension GroupSessionActivity: SchemaNamed {
    package static var schemaName: String { "Activity" }
}

extension QuartetNotification: SchemaNamed {
    package static var schemaName: String { "Notification" }
}

extension ID: SchemaDescribed {
    package static var schema: Schema { .string(format: "uuid") }
    package static var sample: Self { Self(high: 0, low: 0) }
}

extension Microseconds {
    package static var schema: Schema { .integer() }
    package static var sample: Self { Self(microseconds: 0) }
}

extension Instant: SchemaDescribed {}
extension Interval: SchemaDescribed {}

extension JSONValue: SchemaDescribed {
    package static var schema: Schema { .any }
    package static var sample: Self { .null }
}

extension ContentHash: SchemaDescribed {
    package static var schema: Schema { .string(pattern: "^[0-9a-f]{64}$") }
    package static var sample: Self { Self(of: [ChunkHash]()) }
}

extension KeyVersion: SchemaDescribed {
    package static var schema: Schema { .string(pattern: "^[0-9a-f]{8}$") }
    package static var sample: Self { .blank }
}

extension Secret: SchemaDescribed {
    package static var schema: Schema { .string() }
    package static var sample: Self { .blank }
}

extension PlaybackRate: SchemaDescribed {
    package static var schema: Schema {
        .number(Double(slowest.rawValue) / 1000...Double(fastest.rawValue) / 1000)
    }
    package static var sample: Self { .normal }
}

extension Dictionary: SchemaDescribed where Key == String, Value: Decodable {
    package static var schema: Schema { .map(of: (try? Schema(of: Value.self)) ?? .any) }
    package static var sample: Self { [:] }
}
