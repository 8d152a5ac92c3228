import Foundation

/// Any JSON, for clients that know nothing of the server's types.
public enum JSON: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    /// It is no JSON.
    public struct Malformed: Error, CustomStringConvertible {
        /// The text, and what is wrong with it.
        public let description: String
    }

    /// Reads a text.
    /// - Throws: ``Malformed``.
    public init(parsing text: String) throws {
        do { self = try JSONDecoder().decode(Self.self, from: Data(text.utf8)) } catch {
            throw Malformed(description: "this is no JSON: \(text.prefix(500)) (\(error))")
        }
    }

    /// A field; null where there is none.
    public subscript(name: String) -> JSON {
        if case .object(let fields) = self { fields[name] ?? .null } else { .null }
    }

    /// An element; null where there is none.
    public subscript(index: Int) -> JSON {
        array.indices.contains(index) ? array[index] : .null
    }

    /// The text, where it is one.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    /// The number, where it is a whole one.
    public var int: Int64? { if case .int(let number) = self { number } else { nil } }
    /// The number, whole or not.
    public var number: Double? { if case .double(let number) = self { number } else { int.map(Double.init) } }
    /// The fields; none where it is no object.
    public var members: [String: JSON] { if case .object(let fields) = self { fields } else { [:] } }
    /// Whether it is true.
    public var isTrue: Bool { self == .bool(true) }
    /// The elements; none where it is no array.
    public var array: [JSON] { if case .array(let elements) = self { elements } else { [] } }
}

extension JSON: Codable {
    /// Reads any JSON.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    /// Writes it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }
}

extension JSON: CustomStringConvertible {
    /// As JSON, fields in the order of their names.
    public var description: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
    }
}

extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByNilLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A number.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Null.
    public init(nilLiteral: ()) { self = .null }
    /// An array.
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    /// An object.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}
