import Foundation
public import Postgres
import QuartetVocabulary

/// A column of a table, and the property that it is stored from.
///
/// ```swift
/// Column("low_nickname", \.low.nickname)
/// ```
///
/// The property's type says how it is stored: ids, times, texts and numbers as they are, an enumeration as its raw
/// value, an `Interval` as an interval. An `Int` goes into any integer column that it fits.
///
/// Public and inlinable, so that the code for each property's type is generated where the table is described. With
/// `package`, binding a row takes ten times as long.
public struct Column<Record: Sendable>: Sendable {
    /// Reads a row's column at a position into a record.
    public typealias Read = @Sendable (Row, Int, inout Record) throws(PostgresError) -> Void
    /// Binds an array with one element for each record.
    public typealias Bind = @Sendable ([Record], inout Query) throws -> Void

    public let name: String
    /// The type of the stored property; nil for anything else.
    package let type: Any.Type?
    package let read: Read?
    let bind: Bind

    @usableFromInline
    init(_ name: String, _ type: Any.Type?, read: Read?, bind: @escaping Bind) {
        self.name = name
        self.type = type
        self.read = read
        self.bind = bind
    }

    /// - Parameter path: The property. A stored one is reached by its offset, which takes a third of the time.
    @inlinable @inline(__always)
    public init<Value: PostgresCodable>(
        _ name: String, _ path: any WritableKeyPath<Record, Value> & Sendable
    ) {
        guard let offset = MemoryLayout<Record>.offset(of: path) else {
            self.init(name, nil) { row, position, record throws(PostgresError) in
                record[keyPath: path] = try row.decode(position, as: Value.self)
            } bind: { records, query in
                query.bind(records) { $0[keyPath: path] }
            }
            return
        }
        self.init(name, Value.self) { row, position, record throws(PostgresError) in
            let value = try row.decode(position, as: Value.self)
            withUnsafeMutablePointer(to: &record) {
                // `MemoryLayout.offset(of:)` guarantees that a stored `Value` is at this offset.
                (UnsafeMutableRawPointer($0) + offset).assumingMemoryBound(to: Value.self).pointee = value
            }
        } bind: { records, query in
            records.withUnsafeBytes { bytes in
                query.bind(0..<records.count) {
                    bytes.load(fromByteOffset: $0 * MemoryLayout<Record>.stride + offset, as: Value.self)
                }
            }
        }
    }

    /// A column derived from others: written for indexes and people, never read.
    @inlinable @inline(__always)
    public init<Value: PostgresEncodable>(_ name: String, writing value: @escaping @Sendable (Record) -> Value) {
        self.init(name, nil, read: nil) { records, query in query.bind(records, value) }
    }

    /// A column of the type `json`. NULL is nil.
    public init<Value: Codable & Sendable>(
        json name: String, _ path: any WritableKeyPath<Record, Value> & Sendable
    ) {
        let isStored = MemoryLayout<Record>.offset(of: path) != nil
        self.init(name, isStored ? Value.self : nil) { row, position, record throws(PostgresError) in
            let json = try row.decode(position, as: JSON?.self) ?? .null
            do {
                record[keyPath: path] = try json.decode(as: Value.self)
            } catch {
                throw .decoding(column: name, reason: "\(error)")
            }
        } bind: { records, query in
            let documents = try records.map { try JSON(encoding: $0[keyPath: path]) }
            query.bind(documents) { $0 == .null ? nil : $0 }
        }
    }
}

extension JSON {
    fileprivate static let null = JSON(Array("null".utf8))

    /// With sorted keys, so that equal values have equal documents.
    package init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        self.init(Array(try encoder.encode(value)))
    }

    package func decode<Value: Decodable>(as type: Value.Type) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }
}
