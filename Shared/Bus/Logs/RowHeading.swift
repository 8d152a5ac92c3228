import Postgres
package import QuartetVocabulary

/// The part of a row that decides whether anyone in this process wants the rest.
package struct RowHeading: Sendable {
    let position: Position
    package let key: Key
    package let kind: Message.Kind
    package let type: String
    /// The command itself, or the command that led to this row.
    package let commandID: CommandID?
    /// Whether the row has its command's outcome.
    package let hasOutcome: Bool
    /// False for a row that was emptied when its account closed.
    package let isReadable: Bool
    /// The body's size in bytes; 0 if the whole row was read.
    let size: Int

    static let columns = "position, kind, type, key, command_id, outcome IS NOT NULL, octet_length(body::text)"

    /// Reads a row of ``columns``.
    init(_ row: Row, of log: LogName) throws {
        try self.init(
            position: row.decode(0, as: Int64.self), kind: row.decode(1, as: String.self),
            type: row.decode(2, as: String.self), key: row.decode(3, as: String.self),
            commandID: row.decode(4, as: CommandID?.self), hasOutcome: row.decode(5, as: Bool.self),
            size: Int(row.decode(6, as: Int32.self)), of: log)
    }

    /// Reads a row of `Log.columns`.
    init(ofWhole row: Row, of log: LogName) throws {
        try self.init(
            position: row.decode(1, as: Int64.self), kind: row.decode(2, as: String.self),
            type: row.decode(3, as: String.self), key: row.decode(5, as: String.self),
            commandID: row.decode(9, as: CommandID?.self), hasOutcome: row.bytes(10) { $0 != nil }, size: 0, of: log)
    }

    private init(
        position: Int64, kind: String, type: String, key: String, commandID: CommandID?, hasOutcome: Bool, size: Int,
        of log: LogName
    ) throws {
        guard let kind = Message.Kind(rawValue: kind) else { throw BusError.unreadable(log, "kind \(kind)") }
        guard let key = Key(key) else { throw BusError.unreadable(log, "key \(key)") }
        self.position = Position(position)
        self.kind = kind
        self.type = type
        self.key = key
        self.commandID = commandID
        self.hasOutcome = hasOutcome
        self.size = size
        isReadable = type != "Redacted"
    }
}
