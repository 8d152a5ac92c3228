import CLibpq

/// A statement's result. Its rows live as long as this object.
public final class Rows: Sequence {
    let result: OpaquePointer

    init(_ result: OpaquePointer) {
        self.result = result
    }

    deinit { PQclear(result) }

    public var count: Int { Int(PQntuples(result)) }
    public var isEmpty: Bool { count == 0 }
    public var only: Row? { isEmpty ? nil : self[0] }
    /// How many rows the statement inserted, updated, deleted or returned.
    public var affected: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }
    /// For example `COMMIT` or `INSERT 0 1`.
    public var commandTag: String { String(cString: PQcmdStatus(result)) }

    public subscript(index: Int) -> Row {
        precondition(index >= 0 && index < count, "row \(index) of \(count)")
        return Row(rows: self, index: Int32(index))
    }

    public func makeIterator() -> AnyIterator<Row> {
        var next = 0
        return AnyIterator {
            guard next < self.count else { return nil }
            defer { next += 1 }
            return self[next]
        }
    }
}

/// One row, in the binary format.
public struct Row {
    private let rows: Rows
    private let index: Int32

    init(rows: Rows, index: Int32) {
        self.rows = rows
        self.index = index
    }

    /// - Throws: ``PostgresError/decoding(column:reason:)`` when it isn't a `Value`, or is NULL where that isn't optional.
    @inlinable
    public func decode<Value: PostgresDecodable>(_ column: Int, as type: Value.Type) throws(PostgresError) -> Value {
        let type = try self.type(of: column)
        do {
            return try Value(postgres: value(Int32(column)), type: type)
        } catch {
            throw unreadable(column, error)
        }
    }

    @usableFromInline
    func type(of column: Int) throws(PostgresError) -> OID {
        guard column >= 0, column < PQnfields(rows.result) else {
            throw .decoding(column: "\(column)", reason: "there are only \(PQnfields(rows.result)) columns")
        }
        return OID(rawValue: PQftype(rows.result, Int32(column)))
    }

    @usableFromInline
    func unreadable(_ column: Int, _ failure: DecodingFailure) -> PostgresError {
        .decoding(column: String(cString: PQfname(rows.result, Int32(column))), reason: failure.reason)
    }

    /// Reads the first columns, in order.
    public func decode<each Value: PostgresDecodable>(
        _ types: repeat (each Value).Type
    ) throws(PostgresError) -> (repeat each Value) {
        var column = -1
        func next<V: PostgresDecodable>(_ type: V.Type) throws(PostgresError) -> V {
            column += 1
            return try decode(column, as: type)
        }
        return (repeat try next(each types))
    }

    /// The column's bytes, in place; nil for NULL. Valid only within `body`.
    public func bytes<Result>(_ column: Int, _ body: (UnsafeRawBufferPointer?) throws -> Result) rethrows -> Result {
        try body(value(Int32(column)))
    }

    @usableFromInline
    func value(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard PQgetisnull(rows.result, index, column) == 0, let value = PQgetvalue(rows.result, index, column) else {
            return nil
        }
        return UnsafeRawBufferPointer(start: value, count: Int(PQgetlength(rows.result, index, column)))
    }
}
