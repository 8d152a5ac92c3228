/// A log by its schema and table: `contacts.log`. Its doorbell's channel has the same name.
package struct LogName: Hashable, Sendable, CustomStringConvertible {
    /// The schema, which names the service that owns the log.
    package let schema: String
    package let table: String

    package init(schema: String, table: String) {
        self.schema = schema
        self.table = table
    }

    package var description: String { "\(schema).\(table)" }
    /// The channel of its doorbell.
    package var channel: String { description }
}
