import QuartetVocabulary

extension Schema {
    /// What a type decodes. It declares nothing for this: the fields that it asks a decoder for are the fields that it has.
    ///
    /// Fields that it reads by `decodeIfPresent` are optional. A field must not decide which others are read.
    /// - Throws: What the type throws for a value that fits what it asked for: make it ``SchemaDescribed``.
    package init(of type: (some Decodable).Type) throws {
        self = try SchemaDecoder.read(type).schema
    }
}

/// Answers whatever is asked for, and records it.
private final class SchemaDecoder: Decoder {
    fileprivate var schema: Schema = .any
    /// A type's members while it reads them.
    private var object: Schema.Object

    private init(name: String) {
        object = Schema.Object(name: name)
    }

    /// A type's schema, and a value of it.
    static func read<Value: Decodable>(_ type: Value.Type) throws -> (schema: Schema, value: Value) {
        if let described = type as? any SchemaDescribed.Type, let value = described.sample as? Value {
            return (described.schema, value)
        }
        if let words = type as? any CaseIterable.Type, let (schema, first) = read(words: words),
            let value = first as? Value
        {
            return (schema, value)
        }
        let decoder = SchemaDecoder(name: name(of: type))
        let value = try type.init(from: decoder)
        return (decoder.schema, value)
    }

    /// An enumeration of texts and its first case; nil for another.
    private static func read<Words: CaseIterable>(words: Words.Type) -> (Schema, Any)? {
        let texts = words.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        guard texts.count == words.allCases.count, let first = words.allCases.first else { return nil }
        return (.words(texts), first)
    }

    /// With the names of the types around it, but not of the module: `NotificationsPage`, `OperationReply.State`. Or as it
    /// says itself.
    private static func name(of type: Any.Type) -> String {
        if let named = type as? any SchemaNamed.Type { return named.schemaName }
        return String(reflecting: type).split(separator: ".").dropFirst().joined(separator: ".")
    }

    func add(_ property: Schema.Property) {
        object.add(property)
        schema = .object(object)
    }

    // MARK: Decoder

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        schema = .object(object)
        return KeyedDecodingContainer(Members(decoder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { Elements(decoder: self) }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { Single(decoder: self) }
}

/// What no type of ours asks a decoder for.
private struct Unsupported: Error {}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: SchemaDecoder

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let (schema, value) = try SchemaDecoder.read(type)
        decoder.add(Schema.Property(key.stringValue, schema))
        return value
    }

    private func optional<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        decoder.add(Schema.Property(key.stringValue, try SchemaDecoder.read(type).schema, isRequired: false))
        return nil
    }

    // The protocol's own ones would ask for these as if they were required.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optional(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optional(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optional(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optional(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optional(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optional(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optional(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optional(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optional(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optional(type, key) }
    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try optional(type, key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { throw Unsupported() }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw Unsupported() }
    func superDecoder() throws -> any Decoder { throw Unsupported() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Unsupported() }
}

/// One element, which says what all are.
private struct Elements: UnkeyedDecodingContainer {
    let decoder: SchemaDecoder

    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    private(set) var currentIndex = 0
    var isAtEnd: Bool { currentIndex > 0 }

    mutating func decodeNil() throws -> Bool { false }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, value) = try SchemaDecoder.read(type)
        decoder.schema = .array(of: schema)
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { throw Unsupported() }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unsupported() }
    mutating func superDecoder() throws -> any Decoder { throw Unsupported() }
}

private struct Single: SingleValueDecodingContainer {
    let decoder: SchemaDecoder

    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    private func found<Value>(_ schema: Schema, _ value: Value) -> Value {
        decoder.schema = schema
        return value
    }

    func decode(_ type: Bool.Type) throws -> Bool { found(.boolean, false) }
    func decode(_ type: String.Type) throws -> String { found(.string(), "") }
    func decode(_ type: Double.Type) throws -> Double { found(.number(), 0) }
    func decode(_ type: Float.Type) throws -> Float { found(.number(), 0) }
    func decode(_ type: Int.Type) throws -> Int { found(.integer(), 0) }
    func decode(_ type: Int8.Type) throws -> Int8 { found(.integer(), 0) }
    func decode(_ type: Int16.Type) throws -> Int16 { found(.integer(), 0) }
    func decode(_ type: Int32.Type) throws -> Int32 { found(.integer(), 0) }
    func decode(_ type: Int64.Type) throws -> Int64 { found(.integer(), 0) }
    func decode(_ type: UInt.Type) throws -> UInt { found(.integer(), 0) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { found(.integer(), 0) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { found(.integer(), 0) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { found(.integer(), 0) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { found(.integer(), 0) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, value) = try SchemaDecoder.read(type)
        return found(schema, value)
    }
}
