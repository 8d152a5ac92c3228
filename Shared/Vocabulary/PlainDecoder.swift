import Foundation

/// Reads the bodies that most messages have: one JSON object of short texts, whole numbers, booleans and nulls, written as
/// ``MessageBody/encoded()`` writes it. That is several times faster than `JSONDecoder`, which reads anything.
///
/// What it isn't certain to read as `JSONDecoder` would, it leaves to `JSONDecoder`, and so everything that can't be read: the errors
/// are always the same ones.
struct PlainDecoder {
    private let object: PlainObject
    /// The member that is read; nil for the object.
    private let index: Int?

    /// - Returns: Nil if `JSONDecoder` has to look.
    static func decode<Value: Decodable>(_ type: Value.Type, from text: [UInt8]) -> Value? {
        guard let object = PlainObject(text), let value = try? Value(from: Self(object: object, index: nil)),
            !object.isExceeded
        else { return nil }
        return value
    }

    /// An error that nobody sees.
    private struct Mismatch: Error {}

    private var member: PlainObject.Value {
        get throws {
            guard let index else { throw object.exceeded() }
            return object.members[index].value
        }
    }

    fileprivate func text() throws -> String {
        guard case .text(let range) = try member else { throw Mismatch() }
        return object.string(range)
    }

    fileprivate func bool() throws -> Bool {
        guard case .bool(let value) = try member else { throw Mismatch() }
        return value
    }

    fileprivate func integer<Number: FixedWidthInteger>() throws -> Number {
        guard case .integer(let value) = try member, let number = Number(exactly: value) else { throw Mismatch() }
        return number
    }

    fileprivate func value<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // JSONDecoder treats these types in ways of its own.
        if type == Data.self || type == Date.self || type == URL.self || type == Decimal.self {
            throw object.exceeded()
        }
        return try Value(from: self)
    }

    fileprivate struct Members<Key: CodingKey> {
        let object: PlainObject

        func find(_ key: Key) throws -> PlainDecoder {
            guard let index = object.index(of: key.stringValue) else { throw Mismatch() }
            return PlainDecoder(object: object, index: index)
        }
    }
}

/// The object's text, and where its members are.
private final class PlainObject {
    enum Value {
        case null
        case bool(Bool)
        case integer(Int64)
        /// Between its quotes.
        case text(Range<Int>)
    }

    private let text: [UInt8]
    // Nothing that is called while one of these changes comes back here, so no access needs checking.
    @exclusivity(unchecked) private(set) var members: [(name: Range<Int>, value: Value)] = []
    /// Whether something was asked for that is `JSONDecoder`'s to answer. It stays so, even if the asker goes on without an answer.
    @exclusivity(unchecked) private(set) var isExceeded = false

    struct Exceeded: Error {}

    func exceeded() -> Exceeded {
        isExceeded = true
        return Exceeded()
    }

    /// An object with more members is left to `JSONDecoder`, which looks them up by their hashes.
    private static let limit = 32

    init?(_ text: [UInt8]) {
        self.text = text
        guard read() else { return nil }
    }

    func string(_ range: Range<Int>) -> String { String(decoding: text[range], as: UTF8.self) }

    func index(of name: String) -> Int? {
        var name = name
        return name.withUTF8 { name in
            members.firstIndex { $0.name.count == name.count && text[$0.name].elementsEqual(name) }
        }
    }

    func names<Key: CodingKey>(_: Key.Type) -> [Key] { members.compactMap { Key(stringValue: string($0.name)) } }

    // MARK: Reading

    private func read() -> Bool {
        var place = 0
        guard next("{", &place) else { return false }
        if next("}", &place) { return place == text.count }
        repeat {
            guard members.count < Self.limit, let name = string(&place), next(":", &place),
                let value = value(&place),
                !members.contains(where: { $0.name.count == name.count && text[$0.name].elementsEqual(text[name]) })
            else { return false }
            members.append((name, value))
        } while next(",", &place)
        return next("}", &place) && place == text.count
    }

    private func next(_ byte: Unicode.Scalar, _ place: inout Int) -> Bool {
        guard place < text.count, text[place] == UInt8(ascii: byte) else { return false }
        place += 1
        return true
    }

    /// A text of ASCII without escapes.
    private func string(_ place: inout Int) -> Range<Int>? {
        guard place < text.count, text[place] == UInt8(ascii: "\"") else { return nil }
        let start = place + 1
        var end = start
        while end < text.count, text[end] != UInt8(ascii: "\"") {
            guard (0x20..<0x7F).contains(text[end]), text[end] != UInt8(ascii: "\\") else { return nil }
            end += 1
        }
        guard end < text.count else { return nil }
        place = end + 1
        return start..<end
    }

    private func value(_ place: inout Int) -> Value? {
        guard place < text.count else { return nil }
        switch text[place] {
        case UInt8(ascii: "\""): return string(&place).map { .text($0) }
        case UInt8(ascii: "t"): return word("true", .bool(true), &place)
        case UInt8(ascii: "f"): return word("false", .bool(false), &place)
        case UInt8(ascii: "n"): return word("null", .null, &place)
        default: return integer(&place).map { .integer($0) }
        }
    }

    private func word(_ word: StaticString, _ value: Value, _ place: inout Int) -> Value? {
        let end = place + word.utf8CodeUnitCount
        guard end <= text.count,
            word.withUTF8Buffer({ word in text[place..<end].elementsEqual(word) })
        else { return nil }
        place = end
        return value
    }

    /// A whole number of at most eighteen digits.
    private func integer(_ place: inout Int) -> Int64? {
        let isNegative = text[place] == UInt8(ascii: "-")
        let start = isNegative ? place + 1 : place
        var (end, number) = (start, Int64(0))
        while end < text.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(text[end]) {
            guard end - start < 18 else { return nil }
            number = number * 10 + Int64(text[end] - UInt8(ascii: "0"))
            end += 1
        }
        // JSON has no zeros in front, and -0 is a number of another kind.
        guard end > start, end - start == 1 || text[start] != UInt8(ascii: "0"), !isNegative || number != 0 else {
            return nil
        }
        place = end
        return isNegative ? -number : number
    }
}

extension PlainDecoder: Decoder, SingleValueDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard index == nil else { throw Mismatch() }
        return KeyedDecodingContainer(Members<Key>(object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Mismatch() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool {
        guard let index else { return false }
        if case .null = object.members[index].value { return true }
        return false
    }

    func decode(_: Bool.Type) throws -> Bool { try bool() }
    func decode(_: String.Type) throws -> String { try text() }
    // A number with a point isn't read here at all, and one without might still be meant as one.
    func decode(_: Double.Type) throws -> Double { throw object.exceeded() }
    func decode(_: Float.Type) throws -> Float { throw object.exceeded() }
    func decode(_: Int.Type) throws -> Int { try integer() }
    func decode(_: Int8.Type) throws -> Int8 { try integer() }
    func decode(_: Int16.Type) throws -> Int16 { try integer() }
    func decode(_: Int32.Type) throws -> Int32 { try integer() }
    func decode(_: Int64.Type) throws -> Int64 { try integer() }
    func decode(_: UInt.Type) throws -> UInt { try integer() }
    func decode(_: UInt8.Type) throws -> UInt8 { try integer() }
    func decode(_: UInt16.Type) throws -> UInt16 { try integer() }
    func decode(_: UInt32.Type) throws -> UInt32 { try integer() }
    func decode(_: UInt64.Type) throws -> UInt64 { try integer() }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try value(type) }
}

extension PlainDecoder.Members: KeyedDecodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { object.names(Key.self) }

    func contains(_ key: Key) -> Bool { object.index(of: key.stringValue) != nil }
    func decodeNil(forKey key: Key) throws -> Bool { try find(key).decodeNil() }
    func decode(_: Bool.Type, forKey key: Key) throws -> Bool { try find(key).bool() }
    func decode(_: String.Type, forKey key: Key) throws -> String { try find(key).text() }
    func decode(_: Double.Type, forKey key: Key) throws -> Double { throw object.exceeded() }
    func decode(_: Float.Type, forKey key: Key) throws -> Float { throw object.exceeded() }
    func decode(_: Int.Type, forKey key: Key) throws -> Int { try find(key).integer() }
    func decode(_: Int8.Type, forKey key: Key) throws -> Int8 { try find(key).integer() }
    func decode(_: Int16.Type, forKey key: Key) throws -> Int16 { try find(key).integer() }
    func decode(_: Int32.Type, forKey key: Key) throws -> Int32 { try find(key).integer() }
    func decode(_: Int64.Type, forKey key: Key) throws -> Int64 { try find(key).integer() }
    func decode(_: UInt.Type, forKey key: Key) throws -> UInt { try find(key).integer() }
    func decode(_: UInt8.Type, forKey key: Key) throws -> UInt8 { try find(key).integer() }
    func decode(_: UInt16.Type, forKey key: Key) throws -> UInt16 { try find(key).integer() }
    func decode(_: UInt32.Type, forKey key: Key) throws -> UInt32 { try find(key).integer() }
    func decode(_: UInt64.Type, forKey key: Key) throws -> UInt64 { try find(key).integer() }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try find(key).value(type) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw object.exceeded()
    }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw object.exceeded() }
    func superDecoder() throws -> any Decoder { throw object.exceeded() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw object.exceeded() }
}
