public import Postgres
package import QuartetVocabulary

/// A service's table, described once: one list of columns says what is read, inserted, updated and deleted.
///
/// Statements that lock or select are written by hand where they are needed, with ``selection`` for their columns.
public struct Table<Key: Hashable & Comparable & Sendable, Record: Equatable & Sendable>: Sendable {
    public typealias Entry = (key: Key, row: Record)

    /// With its schema.
    public let name: String
    /// What statements call it.
    public let alias: String
    /// The record that rows are read into. A property without a column keeps the value it has here.
    public let blank: Record
    /// All but the key's.
    public let columns: [Column<Record>]
    /// The columns to SELECT: the key's and then the others, each as `alias.column`.
    public let selection: String

    @usableFromInline let key: TableKey<Key>
    @usableFromInline let readers: [Column<Record>.Read]
    private let writers: [Column<Record>.Bind]
    private let deletion: String
    private let insertion: String
    private let update: String
    private let upsert: String

    /// - Parameters:
    ///   - name: With its schema.
    ///   - alias: What statements call it.
    ///   - columns: All but the key's. A column that is also in the key is read into both and written from the key.
    public init(
        _ name: String, as alias: String, key: TableKey<Key>, blank: Record, columns: [Column<Record>]
    ) {
        self.name = name
        self.alias = alias
        self.key = key
        self.blank = blank
        self.columns = columns
        let written = columns.filter { !key.names.contains($0.name) }
        let selected = key.names + columns.filter { $0.read != nil }.map(\.name)
        selection = selected.map { "\(alias).\($0)" }.joined(separator: ", ")
        readers = columns.compactMap(\.read)
        writers = written.map(\.bind)

        let (keyNames, names) = (key.names.joined(separator: ", "), (key.names + written.map(\.name)))
        func parameters(_ count: Int) -> String { (1...count).map { "$\($0)" }.joined(separator: ", ") }
        let all = names.joined(separator: ", ")
        let isSame = key.names.map { "\(alias).\($0) = u.\($0)" }.joined(separator: " AND ")
        deletion =
            "DELETE FROM \(name) AS \(alias) USING unnest(\(parameters(key.names.count))) AS u(\(keyNames)) WHERE \(isSame)"
        insertion = "INSERT INTO \(name) (\(all)) SELECT * FROM unnest(\(parameters(names.count)))"
        update = """
            UPDATE \(name) AS \(alias) SET \(written.map { "\($0.name) = u.\($0.name)" }.joined(separator: ", ")) \
            FROM unnest(\(parameters(names.count))) AS u(\(all)) WHERE \(isSame)
            """
        upsert = """
            \(insertion) ON CONFLICT (\(keyNames)) \
            DO UPDATE SET \(written.map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", "))
            """
    }

    /// The same table with only these columns, to update them alone.
    package func only(_ names: Set<String>) -> Self {
        Self(name, as: alias, key: key, blank: blank, columns: columns.filter { names.contains($0.name) })
    }

    /// Reads a row whose first columns are ``selection``.
    @inlinable
    public func decode(_ row: Row) throws(PostgresError) -> Entry {
        let key = try key.read(row)
        var record = blank
        var position = self.key.names.count
        for read in readers {
            try read(row, position, &record)
            position += 1
        }
        return (key, record)
    }

    /// Reads a statement's rows; none if the statement wasn't queued.
    @inlinable
    public func rows(of pending: Pending?) throws -> [Entry] {
        try pending.rowsIfAsked.map { row throws(PostgresError) in try decode(row) }
    }

    fileprivate func deletion(of keys: [Key]) -> Query {
        var query = Query(stringLiteral: deletion)
        key.bind(keys, &query)
        return query
    }

    fileprivate func insertion(of rows: [Entry]) throws -> Query { try query(insertion, rows) }

    fileprivate func update(of rows: [Entry]) throws -> Query { try query(update, rows) }

    fileprivate func upsert(of rows: [Entry]) throws -> Query { try query(upsert, rows) }

    private func query(_ sql: String, _ rows: [Entry]) throws -> Query {
        var query = Query(stringLiteral: sql)
        key.bind(rows.map(\.key), &query)
        let records = rows.map(\.row)
        for bind in writers { try bind(records, &query) }
        return query
    }
}

extension Pipeline {
    /// Writes the changes of a table, with one statement for each kind of change. Deletes and updates come first,
    /// because a row may free a unique value for another one. An update doesn't find a row that somebody else has
    /// deleted.
    package func save<Key, Record>(_ changes: WorkingSet<Key, Record>.Changes, in table: Table<Key, Record>) throws {
        delete(changes.deleted, from: table)
        try update(changes.updated.map { ($0.key, $0.row) }, in: table)
        try insert(changes.inserted, into: table)
    }

    /// Deletes rows in one statement. Queues nothing if there are no rows.
    @discardableResult
    package func delete<Key, Record>(_ keys: [Key], from table: Table<Key, Record>) -> Pending? {
        keys.isEmpty ? nil : query(table.deletion(of: keys))
    }

    /// Updates rows in one statement. Queues nothing if there are no rows.
    @discardableResult
    package func update<Key, Record>(
        _ rows: [Table<Key, Record>.Entry], in table: Table<Key, Record>
    ) throws -> Pending? {
        rows.isEmpty ? nil : query(try table.update(of: rows))
    }

    /// Inserts rows in one statement. Queues nothing if there are no rows.
    @discardableResult
    package func insert<Key, Record>(
        _ rows: [Table<Key, Record>.Entry], into table: Table<Key, Record>
    ) throws -> Pending? {
        rows.isEmpty ? nil : query(try table.insertion(of: rows))
    }

    /// Inserts rows, or updates those that exist, in one statement. Queues nothing if there are no rows.
    @discardableResult
    package func upsert<Key, Record>(
        _ rows: [Table<Key, Record>.Entry], in table: Table<Key, Record>
    ) throws -> Pending? {
        rows.isEmpty ? nil : query(try table.upsert(of: rows))
    }
}
