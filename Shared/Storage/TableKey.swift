public import Postgres

/// A column of a table's key.
public struct KeyColumn<Key, Value: PostgresCodable>: Sendable {
    @usableFromInline let name: String
    @usableFromInline let path: any KeyPath<Key, Value> & Sendable

    @inlinable
    public init(_ name: String, _ path: any KeyPath<Key, Value> & Sendable) {
        self.name = name
        self.path = path
    }
}

/// The columns of a table's key.
///
/// ```swift
/// TableKey(KeyColumn("low", \.low), KeyColumn("high", \.high), make: Pair.init)
/// ```
public struct TableKey<Key: Sendable>: Sendable {
    @usableFromInline let names: [String]
    /// Reads them from the first columns of a row.
    @usableFromInline let read: @Sendable (Row) throws(PostgresError) -> Key
    @usableFromInline let bind: @Sendable ([Key], inout Query) -> Void

    /// - Parameter make: Makes a key from its parts, in the order of the columns.
    @inlinable @inline(__always)
    public init<each Value: PostgresCodable>(
        _ columns: repeat KeyColumn<Key, each Value>, make: @escaping @Sendable (repeat each Value) -> Key
    ) {
        var names: [String] = []
        for column in repeat each columns { names.append(column.name) }
        self.names = names
        read = { row throws(PostgresError) in
            var position = -1
            func next<Part: PostgresCodable>(_ column: KeyColumn<Key, Part>) throws(PostgresError) -> Part {
                position += 1
                return try row.decode(position, as: Part.self)
            }
            return make(repeat try next(each columns))
        }
        bind = { keys, query in
            for column in repeat each columns { query.bind(keys) { $0[keyPath: column.path] } }
        }
    }

    @inlinable @inline(__always)
    public init(_ name: String) where Key: PostgresCodable {
        names = [name]
        read = { row throws(PostgresError) in try row.decode(0, as: Key.self) }
        bind = { keys, query in query.bind(keys) { $0 } }
    }
}
