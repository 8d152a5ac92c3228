import Foundation
public import QuartetVocabulary

extension MessageBody {
    /// Decodes a body from outside. Unlike ``decoded(from:)``, rejects fields that the type doesn't have, at any depth,
    /// and lists those that it does have.
    ///
    /// Types needn't declare anything: the fields that they ask their decoder for are the fields that they have.
    /// - Throws: ``MessageError/malformed(type:reason:field:)``, which names the field by its path.
    public static func decodedStrictly(from body: [UInt8]) throws(MessageError) -> Self {
        do {
            return try JSONDecoder().decode(Strict<Self>.self, from: Data(body)).value
        } catch let error as DecodingError {
            throw .malformed(type: type, reason: error.reason, field: error.field)
        } catch {
            throw .malformed(type: type, reason: "\(error)", field: nil)
        }
    }
}

/// A value that used every field of its document.
private struct Strict<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        value = try WatchingDecoder.decode(Value.self, from: decoder)
    }
}

/// Forwards everything, and records which fields were asked for.
private final class WatchingDecoder: Decoder {
    let base: any Decoder
    /// The fields that were asked for. Nil for a value that isn't an object.
    private var asked: Set<String>? = []

    private init(_ base: any Decoder) {
        self.base = base
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from base: any Decoder) throws -> Value {
        let decoder = WatchingDecoder(base)
        let value = try type.init(from: decoder)
        try decoder.refuseUnknownFields()
        return value
    }

    func note(_ field: String) {
        asked?.insert(field)
    }

    private func refuseUnknownFields() throws {
        guard let asked else { return }
        let present = try base.container(keyedBy: AnyField.self).allKeys
        guard
            let unknown = present.filter({ !asked.contains($0.stringValue) }).min(by: {
                $0.stringValue < $1.stringValue
            })
        else { return }
        let known = asked.sorted().joined(separator: ", ")
        throw DecodingError.dataCorrupted(
            .init(
                codingPath: base.codingPath + [unknown],
                debugDescription: known.isEmpty
                    ? "there is no such field" : "there is no such field; the fields are \(known)"))
    }

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        return KeyedDecodingContainer(WatchingFields(base: try base.container(keyedBy: type), watcher: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        asked = nil
        return WatchingElements(base: try base.unkeyedContainer())
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        asked = nil
        return WatchingValue(base: try base.singleValueContainer(), decoder: base)
    }
}

/// Foundation's decoder reports a number that doesn't fit as invalid JSON, without saying where.
private func numberRule(_ type: any Any.Type) -> String { "it must be a number that fits \(type)" }

private struct AnyField: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init?(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}

private struct WatchingFields<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    let watcher: WatchingDecoder

    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }

    private func noted(_ key: Key) -> Key {
        watcher.note(key.stringValue)
        return key
    }

    private func number<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        do {
            return try base.decode(type, forKey: noted(key))
        } catch let error as DecodingError {
            throw error
        } catch {
            throw DecodingError.dataCorruptedError(forKey: key, in: base, debugDescription: numberRule(type))
        }
    }

    func contains(_ key: Key) -> Bool { base.contains(noted(key)) }
    func decodeNil(forKey key: Key) throws -> Bool { try base.decodeNil(forKey: noted(key)) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try base.decode(type, forKey: noted(key)) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try base.decode(type, forKey: noted(key)) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try number(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try number(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try number(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try number(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try number(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try number(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try number(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try number(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try number(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try number(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try number(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try number(type, key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        guard base.contains(noted(key)) else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: "it is missing"))
        }
        return try WatchingDecoder.decode(type, from: base.superDecoder(forKey: key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try base.nestedContainer(keyedBy: type, forKey: noted(key)) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try base.nestedUnkeyedContainer(forKey: noted(key))
    }

    func superDecoder() throws -> any Decoder { try base.superDecoder() }
    func superDecoder(forKey key: Key) throws -> any Decoder { try base.superDecoder(forKey: noted(key)) }
}

private struct WatchingElements: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try WatchingDecoder.decode(type, from: base.superDecoder())
    }
    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try base.nestedContainer(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try base.nestedUnkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try base.superDecoder() }
}

private struct WatchingValue: SingleValueDecodingContainer {
    let base: any SingleValueDecodingContainer
    let decoder: any Decoder

    var codingPath: [any CodingKey] { base.codingPath }

    private func number<Value: Decodable>(_ type: Value.Type) throws -> Value {
        do {
            return try base.decode(type)
        } catch let error as DecodingError {
            throw error
        } catch {
            throw DecodingError.dataCorruptedError(in: base, debugDescription: numberRule(type))
        }
    }

    func decodeNil() -> Bool { base.decodeNil() }
    func decode(_ type: Bool.Type) throws -> Bool { try base.decode(type) }
    func decode(_ type: String.Type) throws -> String { try base.decode(type) }
    func decode(_ type: Double.Type) throws -> Double { try number(type) }
    func decode(_ type: Float.Type) throws -> Float { try number(type) }
    func decode(_ type: Int.Type) throws -> Int { try number(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try number(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try number(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try number(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try number(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try number(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try number(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try number(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try number(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try number(type) }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try WatchingDecoder.decode(type, from: decoder)
    }
}
