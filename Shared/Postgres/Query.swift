/// A statement with its parameters. Interpolated values are bound, never pasted into the text.
///
/// ```swift
/// try database.query("SELECT name FROM contacts.contact WHERE id = \(id) AND version > \(version)")
/// ```
public struct Query: ExpressibleByStringInterpolation, Sendable {
    /// The statement with `$1`, `$2`, … for its parameters.
    public internal(set) var sql: String
    @usableFromInline var types: [OID] = []
    /// All parameters' bytes, one after the other.
    @usableFromInline var values: [UInt8] = []
    /// Where each parameter's bytes are; nil for NULL.
    @usableFromInline var ranges: [Range<Int>?] = []

    public init(stringLiteral value: String) {
        sql = value
    }

    /// Binds the next parameter of a statement whose text is complete: an array with one element for each of `items`.
    @inlinable
    public mutating func bind<Item, Element: PostgresEncodable>(
        _ items: some Collection<Item>, _ element: (Item) -> Element
    ) {
        let start = values.count
        [Element].encode(items, into: &values, element)
        ranges.append(start..<values.count)
        types.append([Element].postgresType)
    }

    public init(stringInterpolation: StringInterpolation) {
        self = stringInterpolation.query
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        @usableFromInline var query = Query(stringLiteral: "")

        public init(literalCapacity: Int, interpolationCount: Int) {
            query.sql.reserveCapacity(literalCapacity + interpolationCount * 4)
            query.types.reserveCapacity(interpolationCount)
            query.ranges.reserveCapacity(interpolationCount)
        }

        public mutating func appendLiteral(_ literal: String) {
            query.sql += literal
        }

        @inlinable
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value) {
            appendInterpolation(Optional(value))
        }

        @inlinable
        public mutating func appendInterpolation<Value: PostgresEncodable>(_ value: Value?) {
            let start = query.values.count
            let isNull = value?.encode(into: &query.values) != true
            bind(isNull ? nil : start..<query.values.count, Value.postgresType)
        }

        @usableFromInline
        mutating func bind(_ range: Range<Int>?, _ type: OID) {
            query.ranges.append(range)
            query.types.append(type)
            query.sql += "$\(query.ranges.count)"
        }

        /// Inserts another query, with its parameters renumbered.
        public mutating func appendInterpolation(_ other: Query) {
            let (shift, offset) = (query.ranges.count, query.values.count)
            query.sql += shift == 0 ? other.sql : Self.renumbered(other.sql, by: shift)
            query.values += other.values
            query.types += other.types
            query.ranges += other.ranges.map { $0.map { $0.lowerBound + offset..<$0.upperBound + offset } }
        }

        private static func renumbered(_ sql: String, by shift: Int) -> String {
            var (text, number) = ([UInt8](), Int?.none)
            text.reserveCapacity(sql.utf8.count + 16)
            for byte in sql.utf8 {
                if let digits = number, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                    number = digits * 10 + Int(byte - UInt8(ascii: "0"))
                    continue
                }
                if let digits = number, digits > 0 { text += "\(digits + shift)".utf8 }
                number = byte == UInt8(ascii: "$") ? 0 : nil
                text.append(byte)
            }
            if let digits = number, digits > 0 { text += "\(digits + shift)".utf8 }
            return String(decoding: text, as: UTF8.self)
        }

        /// Inserts text as it is. Never pass text from outside.
        public mutating func appendInterpolation(unescaped text: String) {
            query.sql += text
        }

        /// Inserts a name, quoted.
        public mutating func appendInterpolation(identifier name: String) {
            query.sql += "\"" + name.filter { $0 != "\u{0}" }.replacing("\"", with: "\"\"") + "\""
        }
    }
}
