import Foundation

/// Writes the bodies that ``PlainDecoder`` reads, byte for byte as ``MessageBody/encoded()`` promises them. That is several times
/// faster than `JSONEncoder`, which writes anything.
///
/// What isn't an object of texts, whole numbers, booleans and nulls is left to `JSONEncoder`.
struct PlainEncoder {
    fileprivate let object: PlainObjectWriter

    /// - Returns: Nil if `JSONEncoder` has to write it.
    static func encode(_ value: some Encodable) -> [UInt8]? {
        let object = PlainObjectWriter()
        do { try value.encode(to: Self(object: object)) } catch { return nil }
        return object.finished()
    }

    fileprivate func write<Value: Encodable>(_ value: Value) throws {
        // JSONEncoder treats these types in ways of its own.
        if Value.self == Data.self || Value.self == Date.self || Value.self == URL.self || Value.self == Decimal.self {
            throw object.exceeded()
        }
        try value.encode(to: self)
    }

    fileprivate struct Members<Key: CodingKey> {
        let object: PlainObjectWriter
    }

    /// A list, which this encoder doesn't write.
    fileprivate struct Elements {
        let object: PlainObjectWriter
    }
}

/// The members of an object, in the order in which they were written.
private final class PlainObjectWriter {
    // No method calls anything that could come back here while it changes one of these, so no access needs checking.
    @exclusivity(unchecked) private var bytes: [UInt8] = []
    @exclusivity(unchecked) private var members: [(name: Range<Int>, end: Int)] = []
    /// Whether a member's value has yet to be written.
    @exclusivity(unchecked) private var isOpen = false
    @exclusivity(unchecked) private var isObject = false
    /// Whether something is `JSONEncoder`'s to write. It stays so, even if the value goes on without it.
    @exclusivity(unchecked) private var isExceeded = false

    init() {
        bytes.reserveCapacity(256)
        members.reserveCapacity(8)
    }

    struct Exceeded: Error {}

    @discardableResult
    func exceeded() -> Exceeded {
        isExceeded = true
        return Exceeded()
    }

    /// The object with its members in the order of their names; nil if `JSONEncoder` has to write it.
    func finished() -> [UInt8]? {
        guard !isExceeded, isObject, !isOpen else { return nil }
        members.sort { bytes[$0.name].lexicographicallyPrecedes(bytes[$1.name]) }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + members.count + 2)
        text.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            if index > 0 {
                // Of two members of one name, JSONEncoder keeps the later one.
                if bytes[members[index - 1].name].elementsEqual(bytes[member.name]) { return nil }
                text.append(UInt8(ascii: ","))
            }
            text.append(contentsOf: bytes[member.name.lowerBound - 1..<member.end])
        }
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// An object within the object isn't plain.
    func begin() {
        if isOpen { exceeded() }
        isObject = true
    }

    func begin(_ name: String) -> PlainEncoder {
        if isOpen { exceeded() }
        let start = bytes.count
        append(name)
        members.append((start + 1..<bytes.count - 1, bytes.count))
        bytes.append(UInt8(ascii: ":"))
        isOpen = true
        return PlainEncoder(object: self)
    }

    func write(_ value: some FixedWidthInteger) {
        if open() { bytes.append(contentsOf: String(value).utf8) }
        close()
    }

    func write(word value: StaticString) {
        if open() { value.withUTF8Buffer { bytes.append(contentsOf: $0) } }
        close()
    }

    func write(_ value: String) {
        if open() { append(value) }
        close()
    }

    /// Each member has one value, and nothing else has one.
    private func open() -> Bool {
        if !isOpen { exceeded() }
        return isOpen
    }

    private func close() {
        isOpen = false
        if !members.isEmpty { members[members.count - 1].end = bytes.count }
    }

    private func append(_ text: String) {
        var text = text
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { text in
            for byte in text where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                exceeded()
            }
            bytes.append(contentsOf: text)
        }
        bytes.append(UInt8(ascii: "\""))
    }
}

extension PlainEncoder: Encoder, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        object.begin()
        return KeyedEncodingContainer(Members<Key>(object: object))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        object.exceeded()
        return Elements(object: object)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws { object.write(word: "null") }
    func encode(_ value: Bool) throws { object.write(word: value ? "true" : "false") }
    func encode(_ value: String) throws { object.write(value) }
    func encode(_ value: Double) throws { throw object.exceeded() }
    func encode(_ value: Float) throws { throw object.exceeded() }
    func encode(_ value: Int) throws { object.write(value) }
    func encode(_ value: Int8) throws { object.write(value) }
    func encode(_ value: Int16) throws { object.write(value) }
    func encode(_ value: Int32) throws { object.write(value) }
    func encode(_ value: Int64) throws { object.write(value) }
    func encode(_ value: UInt) throws { object.write(value) }
    func encode(_ value: UInt8) throws { object.write(value) }
    func encode(_ value: UInt16) throws { object.write(value) }
    func encode(_ value: UInt32) throws { object.write(value) }
    func encode(_ value: UInt64) throws { object.write(value) }
    func encode<Value: Encodable>(_ value: Value) throws { try write(value) }
}

extension PlainEncoder.Members: KeyedEncodingContainerProtocol {
    var codingPath: [any CodingKey] { [] }

    private func begin(_ key: Key) -> PlainEncoder { object.begin(key.stringValue) }

    func encodeNil(forKey key: Key) throws { try begin(key).encodeNil() }
    func encode(_ value: Bool, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: String, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: Double, forKey key: Key) throws { throw object.exceeded() }
    func encode(_ value: Float, forKey key: Key) throws { throw object.exceeded() }
    func encode(_ value: Int, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: Int8, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: Int16, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: Int32, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: Int64, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: UInt, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: UInt8, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: UInt16, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: UInt32, forKey key: Key) throws { try begin(key).encode(value) }
    func encode(_ value: UInt64, forKey key: Key) throws { try begin(key).encode(value) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try begin(key).write(value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        object.exceeded()
        return KeyedEncodingContainer(PlainEncoder.Members<Nested>(object: object))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        object.exceeded()
        return PlainEncoder.Elements(object: object)
    }

    func superEncoder() -> any Encoder {
        object.exceeded()
        return PlainEncoder(object: object)
    }

    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

extension PlainEncoder.Elements: UnkeyedEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws { throw object.exceeded() }
    func encode<Value: Encodable>(_ value: Value) throws { throw object.exceeded() }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(PlainEncoder.Members<Nested>(object: object))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { PlainEncoder(object: object) }
}
