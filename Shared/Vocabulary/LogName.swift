/// A log by its schema and table: `contacts.log`. Its doorbell's channel has the same name.
public struct LogName: Hashable, Sendable, CustomStringConvertible {
    /// The schema, which names the service that owns the log.
    public let schema: String
    public let table: String

    public init(schema: String, table: String) {
        self.schema = schema
        self.table = table
    }

    public var description: String { "\(schema).\(table)" }
    /// The channel of its doorbell.
    public var channel: String { description }
}
